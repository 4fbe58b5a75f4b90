"""From raw text to a corpus, chunk by chunk: read, annotate in child processes, which may crash, and write in order."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple, TypeVar

from sentprobe.annotate.annotator import Model
from sentprobe.annotate.output import CorpusState, Journal, add_counts
from sentprobe.annotate.request import AnnotationRequest, SeenKeys, read_pieces
from sentprobe.annotate.source import Piece
from sentprobe.annotate.work import (
    SENTENCE_REASONS,
    Outcome,
    Work,
    annotate_harmless,
    annotate_pieces,
    duplicate_key,
    parse_pieces,
)
from sentprobe.core.arguments import Progress
from sentprobe.core.processes import Child, ChildDied, Children
from sentprobe.core.workers import map_in_workers
from sentprobe.errors import AnnotatorError, CorpusError, RunError
from sentprobe.sentence import shorten

R = TypeVar("R")
SourcedPiece = tuple[str, Piece]
"""The name of a source, and a piece of a text in it."""

CHUNK_CHARACTERS = 50_000
"""Characters of raw text that a worker gets at once: some hundred sentences, a second or two of a small parser."""
CHUNK_PIECES = 256
MAX_LISTED_ERRORS = 100
DUPLICATE = "duplicate"
PARSER_CRASHED, ANNOTATOR_CRASHED = "the parser of the markup crashed", "the annotator crashed"
WORKER_KILLED = "the worker was killed"
TEXT_COMMENT = "# text = "
TREES = ".trees"
"""The suffix of the file with constituency trees."""


class Chunk(NamedTuple):
    """Pieces that are annotated together; which ones, depends on the texts alone."""

    pieces: tuple[SourcedPiece, ...]
    bad: tuple[str, ...] = ()
    """What could not be read and was skipped, before the end of the last piece."""
    crashes: tuple[str, ...] = ()
    """What crashed where, once it is annotated."""


class _Chunks:
    """The chunks of the texts, from a number of pieces on; an error of reading ends them and is recorded.

    They are read in a thread of joblib's, where an error would be lost.
    """

    def __init__(self, request: AnnotationRequest, skip: int, skip_bad: int) -> None:
        self.error: Exception | None = None
        self._request, self._skip, self._skip_bad = request, skip, skip_bad
        self._bad: list[str] = []

    def __iter__(self) -> Iterator[Chunk]:
        bad_count = 0

        def on_bad(error: CorpusError) -> None:
            nonlocal bad_count
            bad_count += 1
            if bad_count > self._skip_bad:  # others were counted before
                self._bad.append(str(error))

        request = self._request
        pieces = read_pieces(request.inputs, request.readings, on_bad if request.skip_bad else None)
        try:
            for _ in islice(pieces, self._skip):
                pass
            yield from self._grouped(pieces)
        except Exception as e:
            self.error = e

    def _grouped(self, pieces: Iterator[SourcedPiece]) -> Iterator[Chunk]:
        group: list[SourcedPiece] = []
        size = 0
        for source, piece in pieces:
            group.append((source, piece))
            size += len(piece.text)
            if size >= CHUNK_CHARACTERS or len(group) == CHUNK_PIECES:
                yield self._chunk(group)
                group, size = [], 0
        if group or self._bad:
            yield self._chunk(group)

    def _chunk(self, group: list[SourcedPiece]) -> Chunk:
        bad = tuple(self._bad)
        self._bad.clear()
        return Chunk(tuple(group), bad)


def output_files(out: Path, model: Model) -> dict[str, Path]:
    """The files that are written, by the suffix of their unfinished form: ``out``, and one with trees."""
    return {"": out, TREES: trees_file(out)} if "tree" in model.columns else {"": out}


def trees_file(out: Path) -> Path:
    """The file with the trees of a corpus, in brackets."""
    name = out.name.removesuffix(".gz").removesuffix(".conllu")
    return out.with_name(f"{name}{TREES}{'.gz' * (out.suffix == '.gz')}")


def annotate_texts(
    request: AnnotationRequest, work: Work, journal: Journal, header: str, children: Children | int, progress: Progress
) -> None:
    """Annotate what is requested, or what remains of it; the journal has the results.

    ``header`` is written above the first sentence; ``children`` annotate, or that many workers of a cluster.
    """
    state = journal.state
    seen = _keys_of_written(journal, work) if work.dedupe else None
    chunks = _Chunks(request, skip=state.pieces, skip_bad=state.bad)
    for chunk, outcomes in _annotated(work, chunks, children):
        texts = _compose(state, chunk, outcomes, seen, request.limit, header)
        if state.dropped.get(ANNOTATOR_CRASHED, 0) > 1:  # a single crash may be due to its text
            _check_not_always_crashing(state, work)
        journal.commit(texts)
        progress(f"annotate: {state.doc or ''}", state.counts.get("sentences", 0), request.limit or None)
        if request.limit and state.counts.get("sentences", 0) >= request.limit:
            return
    _check_not_always_crashing(state, work)
    if chunks.error is not None:
        raise chunks.error


def _check_not_always_crashing(state: CorpusState, work: Work) -> None:
    """Raise AnnotatorError if the annotator crashed whenever it was called."""
    survived = state.counts.get("sentences") or any(reason in state.dropped for reason in SENTENCE_REASONS)
    if ANNOTATOR_CRASHED in state.dropped and not survived:
        raise _crashes_always(work.annotator, f"the first: {state.crashes[0]}")


def _annotated(work: Work, chunks: _Chunks, children: Children | int) -> Iterator[tuple[Chunk, list[list[Outcome]]]]:
    """Each chunk, without its texts, and its outcomes, in order."""
    if isinstance(children, int):
        yield from map_in_workers(_annotate_on_cluster, ((work, chunk) for chunk in chunks), children)
    else:
        yield from children.map(lambda child, chunk: _annotate_chunk(child, work, chunk), chunks)


def _annotate_chunk(child: Child, work: Work, chunk: Chunk) -> tuple[Chunk, list[list[Outcome]]]:
    outcomes, crashes = annotate_in_child(child, work, chunk.pieces)
    without_texts = tuple((source, piece._replace(text="", facts=())) for source, piece in chunk.pieces)
    return Chunk(without_texts, chunk.bad, crashes), outcomes


def _annotate_on_cluster(work: Work, chunk: Chunk) -> tuple[Chunk, list[list[Outcome]]]:
    """Annotate a chunk in a child of a worker of a cluster, which lives on."""
    return _annotate_chunk(_child_of_worker(os.getcwd(), work.annotator, work.model), work, chunk)  # noqa: PTH109


_worker_child: tuple[tuple[object, ...], Child] | None = None


def _child_of_worker(*request: object) -> Child:
    """The child that annotates for a command; one that did so for another is ended, since files may have changed."""
    global _worker_child
    if _worker_child is None or _worker_child[0] != request:
        if _worker_child is not None:
            _worker_child[1].close()
        _worker_child = request, Child()
    return _worker_child[1]


def _compose(
    state: CorpusState,
    chunk: Chunk,
    outcomes: list[list[Outcome]],
    seen: SeenKeys | None,
    limit: int,
    header: str,
) -> dict[str, str]:
    """What is appended to each file for a chunk; the state is brought up to date."""
    lines: list[str] = []
    trees: list[str] = []
    counts, dropped, repaired = Counter[str](), Counter[str](), Counter[str]()
    sentences = state.counts.get("sentences", 0)
    for (_, piece), piece_outcomes in zip(chunk.pieces, outcomes, strict=True):
        if piece.first:
            state.doc, state.sentence_number, state.is_headed = " ".join(piece.doc.split()), 0, False
            counts["documents"] += 1
        for outcome in piece_outcomes:
            if isinstance(outcome, str):
                dropped[outcome] += 1
                continue
            state.sentence_number += 1
            if seen is not None and not seen.add(outcome.key):
                dropped[DUPLICATE] += 1
                continue
            if not state.is_headed:
                lines.append(f"# newdoc id = {state.doc}\n")
                state.is_headed = True
            if not sentences:
                lines.append(header)
            lines.append(
                f"# sent_id = {state.doc}-{state.sentence_number}\n{TEXT_COMMENT}{outcome.text}\n{outcome.rows}"
            )
            if outcome.tree:
                trees.append(f"{state.doc}\t{outcome.tree}\n")
            sentences += 1
            counts.update(sentences=1, words=outcome.words, repaired=bool(outcome.faults))
            repaired.update(outcome.faults)
            if sentences == limit:
                break
        if limit and sentences == limit:
            break
    state.pieces += len(chunk.pieces)
    for totals, additions in ((state.counts, counts), (state.dropped, dropped), (state.repaired, repaired)):
        add_counts(totals, additions)
    state.bad += len(chunk.bad)
    state.messages += chunk.bad[: MAX_LISTED_ERRORS - len(state.messages)]
    state.crashes += chunk.crashes[: MAX_LISTED_ERRORS - len(state.crashes)]
    return {"": "".join(lines), TREES: "".join(trees)} if trees else {"": "".join(lines)}


def _keys_of_written(journal: Journal, work: Work) -> SeenKeys:
    """The keys of the sentences that have been written."""
    seen = SeenKeys()
    key = duplicate_key(work.dedupe)
    for line in journal.written():
        if line.startswith(TEXT_COMMENT):
            seen.add(key(line[len(TEXT_COMMENT) : -1]))
    return seen


# Pieces that end the process in which they are annotated
#
# Parsers of markup and annotators are native code in large part, and what they read is anybody's: a page can be written
# that no parser survives. So pieces are annotated in a child process. If it dies, the pieces that it had are halved
# until those that kill it are single. Parsing is tried apart, before, since a process that only parses loads no model.


class AnnotatedPieces(NamedTuple):
    """The outcomes of pieces that were annotated in a child."""

    outcomes: list[list[Outcome]]
    """Of each piece; a crash is an outcome."""
    crashes: tuple[str, ...] = ()
    """What crashed where, a line each."""


def annotate_in_child(child: Child, work: Work, pieces: Sequence[SourcedPiece]) -> AnnotatedPieces:
    """Annotate pieces in a child, without those that it dies of."""
    try:
        return AnnotatedPieces(child.call(annotate_pieces, work, pieces))
    except ChildDied:
        pass
    lines: list[str] = []
    parser_deaths = _bisect_deaths(lambda subset: child.call(parse_pieces, work, subset), pieces)
    parsable = [piece for piece, died in zip(pieces, parser_deaths, strict=True) if died is None]
    on_death = _harmless_check(child, work)
    annotated = iter(_bisect_deaths(lambda subset: [*child.call(annotate_pieces, work, subset)], parsable, on_death))
    outcomes: list[list[Outcome]] = []
    for (_, piece), parser_death in zip(pieces, parser_deaths, strict=True):
        result = parser_death if parser_death is not None else next(annotated)
        if isinstance(result, ChildDied):
            crash = PARSER_CRASHED if parser_death is not None else ANNOTATOR_CRASHED
            outcome, line = _crash_outcome(work, piece, result, crash)
            lines.append(line)
            result = [outcome]
        outcomes.append(result)
    return AnnotatedPieces(outcomes, tuple(lines))


def _bisect_deaths(
    call: Callable[[Sequence[SourcedPiece]], list[R]],
    pieces: Sequence[SourcedPiece],
    on_death: Callable[[ChildDied], None] = lambda died: None,
) -> list[R | ChildDied]:
    """The result for each piece, or how the child died of it; ``on_death`` is called after the first such death."""
    if not pieces:
        return []
    try:
        return [*call(pieces)]
    except ChildDied as died:
        if len(pieces) == 1:
            on_death(died)
            return [died]
    half = len(pieces) // 2
    return [*_bisect_deaths(call, pieces[:half], on_death), *_bisect_deaths(call, pieces[half:], on_death)]


def _harmless_check(child: Child, work: Work) -> Callable[[ChildDied], None]:
    """A function that raises AnnotatorError if the child dies of any text, not only of some; it tries so once."""
    is_checked = False

    def check(died: ChildDied) -> None:
        nonlocal is_checked
        if is_checked or died.was_killed:
            return
        is_checked = True
        try:
            child.call(annotate_harmless, work)
        except ChildDied as harmless_death:
            raise _crashes_always(work.annotator, str(harmless_death)) from None

    return check


def _crashes_always(annotator: str, how: str) -> AnnotatorError:
    """The error for an annotator that crashes on every text."""
    return AnnotatorError(
        f"The annotator {annotator} crashes on every text ({how}): its native code is broken, or does not fit this "
        "machine or the other packages. Install it again, or use another one."
    )


def _crash_outcome(work: Work, piece: Piece, died: ChildDied, crash: str) -> tuple[str, str]:
    """The outcome of a piece that a child died of, and a line that says where it is."""
    location = f"{' '.join(piece.doc.split())!r}, at {shorten(' '.join(piece.text[:200].split()))!r}"
    if not died.was_killed:
        return crash, f"{location}: {crash} ({died})"
    if not work.skip_bad:
        raise RunError(
            f"The worker process that annotated the document {location} was killed ({died}), also with this text "
            "alone: it ran out of memory, or somebody ended it. What was written is kept: try again with fewer --jobs; "
            "--skip-bad leaves such texts out."
        )
    return WORKER_KILLED, f"{location}: {WORKER_KILLED} ({died})"
