"""From raw text to a corpus: read, annotate in worker processes, write."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from sentprobe.annotate.annotator import Model
from sentprobe.annotate.crashes import ANNOTATOR, annotate_in_child, crashes_always
from sentprobe.annotate.dedupe import SeenKeys
from sentprobe.annotate.inputs import read_pieces
from sentprobe.annotate.journal import Journal, State, add_counts
from sentprobe.annotate.request import Request
from sentprobe.annotate.source import Piece
from sentprobe.annotate.work import OF_SENTENCES, Outcome, Work, duplicate_key
from sentprobe.core.arguments import Progress
from sentprobe.core.processes import Child, Children
from sentprobe.core.workers import map_in_workers
from sentprobe.errors import CorpusError

CHUNK_CHARACTERS = 50_000
"""Characters of raw text that a worker gets at once: some hundred sentences, a second or two of a small parser."""
CHUNK_PIECES = 256
MAX_LISTED_ERRORS = 100
DUPLICATE = "duplicate"
TEXT_COMMENT = "# text = "
TREES = ".trees"
"""The suffix of the file with constituency trees."""


class Chunk(NamedTuple):
    """Pieces that are annotated together; which ones, depends on the texts alone."""

    pieces: tuple[tuple[str, Piece], ...]
    bad: tuple[str, ...] = ()
    """What could not be read and was skipped, before the end of the last piece."""
    crashes: tuple[str, ...] = ()
    """What crashed where, once it is annotated."""


class _Chunks:
    """The chunks of the texts, from a number of pieces on; an error of reading ends them and is kept.

    They are read in a thread of joblib's, where an error would be lost.
    """

    def __init__(self, request: Request, skip: int, skip_bad: int) -> None:
        self.error: Exception | None = None
        self._request, self._skip, self._skip_bad = request, skip, skip_bad
        self._bad: list[str] = []

    def __iter__(self) -> Iterator[Chunk]:
        met = 0

        def on_bad(error: CorpusError) -> None:
            nonlocal met
            met += 1
            if met > self._skip_bad:  # others were counted before
                self._bad.append(str(error))

        request = self._request
        pieces = read_pieces(request.inputs, request.readings, on_bad if request.skip_bad else None)
        try:
            for _ in islice(pieces, self._skip):
                pass
            yield from self._grouped(pieces)
        except Exception as e:
            self.error = e

    def _grouped(self, pieces: Iterator[tuple[str, Piece]]) -> Iterator[Chunk]:
        held: list[tuple[str, Piece]] = []
        size = 0
        for source, piece in pieces:
            held.append((source, piece))
            size += len(piece.text)
            if size >= CHUNK_CHARACTERS or len(held) == CHUNK_PIECES:
                yield self._chunk(held)
                held, size = [], 0
        if held or self._bad:
            yield self._chunk(held)

    def _chunk(self, held: list[tuple[str, Piece]]) -> Chunk:
        bad = tuple(self._bad)
        self._bad.clear()
        return Chunk(tuple(held), bad)


def output_files(out: Path, model: Model) -> dict[str, Path]:
    """The files that are written, by the suffix of their unfinished form: ``out``, and one with trees."""
    return {"": out, TREES: trees_file(out)} if "tree" in model.columns else {"": out}


def trees_file(out: Path) -> Path:
    """The file with the trees of a corpus, in brackets."""
    name = out.name.removesuffix(".gz").removesuffix(".conllu")
    return out.with_name(f"{name}{TREES}{'.gz' * (out.suffix == '.gz')}")


def annotate_texts(
    request: Request, work: Work, journal: Journal, header: str, children: Children | int, progress: Progress
) -> None:  # fmt: skip
    """Annotate what is requested, or what is left of it; the journal has what came of it.

    ``header`` is written above the first sentence; ``children`` annotate, or that many workers of a cluster.
    """
    state = journal.state
    seen = _seen(journal, work) if work.dedupe else None
    chunks = _Chunks(request, skip=state.pieces, skip_bad=state.bad)
    for done in _annotated(work, chunks, children):
        written = _compose(state, done, seen, request.limit, header)
        if state.dropped.get(ANNOTATOR, 0) > 1:  # of a single one nothing is known yet
            _check_that_some_survive(state, work)
        journal.commit(written)
        progress(f"annotate: {state.doc or ''}", state.counts.get("sentences", 0), request.limit or None)
        if request.limit and state.counts.get("sentences", 0) >= request.limit:
            return
    _check_that_some_survive(state, work)
    if chunks.error is not None:
        raise chunks.error


def _check_that_some_survive(state: State, work: Work) -> None:
    """Raise AnnotatorError if the annotator crashed whenever it was called."""
    survived = state.counts.get("sentences") or any(reason in state.dropped for reason in OF_SENTENCES)
    if ANNOTATOR in state.dropped and not survived:
        raise crashes_always(work.annotator, f"the first: {state.crashes[0]}")


def _annotated(
    work: Work, chunks: _Chunks, children: Children | int
) -> Iterator[tuple[Chunk, list[list[Outcome]]]]:  # fmt: skip
    """Each chunk, without its texts, and what came of it, in order."""
    if isinstance(children, int):
        yield from map_in_workers(_annotate_on_cluster, ((work, chunk) for chunk in chunks), children)
    else:
        yield from children.map(lambda child, chunk: _annotate_chunk(child, work, chunk), chunks)


def _annotate_chunk(child: Child, work: Work, chunk: Chunk) -> tuple[Chunk, list[list[Outcome]]]:
    bare = tuple((source, piece._replace(text="", facts=())) for source, piece in chunk.pieces)
    outcomes, crashes = annotate_in_child(child, work, chunk.pieces)
    return Chunk(bare, chunk.bad, crashes), outcomes


def _annotate_on_cluster(work: Work, chunk: Chunk) -> tuple[Chunk, list[list[Outcome]]]:
    """Annotate a chunk in a child of a worker of a cluster, which lives on."""
    return _annotate_chunk(_child_of_worker(os.getcwd(), work.annotator, work.model), work, chunk)  # noqa: PTH109


_of_worker: tuple[tuple[object, ...], Child] | None = None


def _child_of_worker(*request: object) -> Child:
    """The child that annotates for a command; one that did so for another is ended, since files may have changed."""
    global _of_worker
    if _of_worker is None or _of_worker[0] != request:
        if _of_worker is not None:
            _of_worker[1].close()
        _of_worker = request, Child()
    return _of_worker[1]


def _compose(
    state: State, done: tuple[Chunk, list[list[Outcome]]], seen: SeenKeys | None, limit: int, header: str
) -> dict[str, str]:
    """What is appended to each file for a chunk; the state is brought up to date."""
    chunk, outcomes = done
    lines: list[str] = []
    trees: list[str] = []
    counts, dropped, repaired = Counter[str](), Counter[str](), Counter[str]()
    sentences = state.counts.get("sentences", 0)
    for (_, piece), some in zip(chunk.pieces, outcomes, strict=True):
        if piece.first:
            state.doc, state.place, state.is_headed = " ".join(piece.doc.split()), 0, False
            counts["documents"] += 1
        for outcome in some:
            if isinstance(outcome, str):
                dropped[outcome] += 1
                continue
            state.place += 1
            if seen is not None and not seen.add(outcome.key):
                dropped[DUPLICATE] += 1
                continue
            if not state.is_headed:
                lines.append(f"# newdoc id = {state.doc}\n")
                state.is_headed = True
            if not sentences:
                lines.append(header)
            lines.append(f"# sent_id = {state.doc}-{state.place}\n{TEXT_COMMENT}{outcome.text}\n{outcome.rows}")
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
    for total, more in ((state.counts, counts), (state.dropped, dropped), (state.repaired, repaired)):
        add_counts(total, more)
    state.bad += len(chunk.bad)
    state.messages += chunk.bad[: MAX_LISTED_ERRORS - len(state.messages)]
    state.crashes += chunk.crashes[: MAX_LISTED_ERRORS - len(state.crashes)]
    return {"": "".join(lines), TREES: "".join(trees)} if trees else {"": "".join(lines)}


def _seen(journal: Journal, work: Work) -> SeenKeys:
    """The keys of the sentences that have been written."""
    seen = SeenKeys()
    key = duplicate_key(work.dedupe)
    for line in journal.written():
        if line.startswith(TEXT_COMMENT):
            seen.add(key(line[len(TEXT_COMMENT) : -1]))
    return seen
