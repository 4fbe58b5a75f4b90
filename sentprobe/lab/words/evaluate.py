"""The loop over systems, sets and ways to score neighbours; every result is saved when it is finished."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sentprobe import __version__
from sentprobe.core.arguments import Progress, check_options, did_you_mean
from sentprobe.core.hashing import digest
from sentprobe.data.dataset import Dataset
from sentprobe.encoders.store import Store
from sentprobe.errors import SentProbeError, UsageError
from sentprobe.lab.alignment.retrieval import SCORINGS, Scoring
from sentprobe.lab.words import WORD_EVALUATIONS
from sentprobe.lab.words.evaluation import Answers, Questions, Request, WordEvaluation, content_digest
from sentprobe.lab.words.names import language_of, set_name
from sentprobe.lab.words.neighbours import Neighbourhood
from sentprobe.lab.words.pair import Pair, Spaces, System, find_systems
from sentprobe.lab.words.sentence_encoders import EncoderPair, check_aliases, encoder_names
from sentprobe.results.log import Log, open_log
from sentprobe.results.records import ALIASES
from sentprobe.results.result import Cell, Failure, Result
from sentprobe.results.run import Run
from sentprobe.run.info import alias_entries
from sentprobe.run.scoring import versions

COPY = "copy"
"""The baseline that leaves words as they are."""
DIGEST_SIZE = 16
"""Digits of the digest of a set, as of any set."""


@dataclass(frozen=True, eq=False)
class _Set:
    """What is evaluated on, read once."""

    request: Request
    evaluation: WordEvaluation
    content: Any


def evaluate_words(
    systems: Sequence[str],
    requests: Sequence[Request],
    folder: Path | str,
    *,
    scorings: Sequence[str] = ("nn", "csls"),
    common: bool = False,
    limit: int | None = None,
    store: Store | None = None,
    progress: Progress | None = None,
    command: str | None = None,
) -> Run:
    """Evaluate systems on sets, saving every result to ``folder`` as soon as it is finished.

    The same call resumes where it stopped. What fails is recorded in ``Run.failures``, and the rest continues.

    Parameters
    ----------
    systems
        Alignments, pairs of files or files, as ``sentprobe.lab.words.pair`` describes them; or sentence encoders, as
        ``sentprobe.lab.words.sentence_encoders`` does.
    requests
        What to evaluate on.
    folder
        Where to write the run; created if it does not exist.
    scorings
        How neighbours are scored: nn, csls, isf.
    common
        Only ask for words that all systems know, so that all are asked the same.
    limit
        Only the most frequent words of each space.
    store
        Where vectors of sentence encoders are kept.
    progress
        Called with a stage, the number of steps done, and the number of steps.
    command
        The command line to record in run.json.
    """
    check_options(2, limit=limit)
    ways = _scorings(scorings)
    check_aliases(systems, COPY)
    found = find_systems(systems, Spaces(limit), store)
    if not found or not requests:
        raise UsageError("Expected at least one system and something to evaluate it on.")
    # whatever is wrong with a file, nothing is computed before it is known
    sets = [
        _Set(request, evaluation := WORD_EVALUATIONS.get(request.evaluation), evaluation.read(request))
        for request in requests
    ]
    with open_log(folder) as log:
        # systems of encoders are known by their layers, once they are loaded
        words = [system.name for system in found if encoder_names(system.name) is None]
        log.begin(words)
        log.describe(encoders=words, probes=list(ways), seeds=[0], sentprobe=[__version__])
        if command is not None:
            log.describe(commands=[command.encode(errors="backslashreplace").decode()])
        shared = _shared_words(found) if common else None
        known = "" if shared is None else content_digest(*map(sorted, shared))
        steps = len(found) * len(sets)
        for i, system in enumerate(found):
            cell = Cell(task="", version=0, dataset="", data="", encoder=system.name)
            with _recorded(log, cell):
                pair = system.load()
                if isinstance(pair, EncoderPair):
                    layers = list(pair.each_layer())
                    log.describe(encoders=[each.name for each in layers])
                    if aliases := {each.name: each.alias for each in layers if each.alias is not None}:
                        log.describe(**{ALIASES: alias_entries(aliases)})
                    spaces: list[Neighbourhood | EncoderPair] = [*layers]
                else:
                    spaces = [Neighbourhood(pair if shared is None else pair.restricted(*shared))]
                log.forget(cell.key)
                for j, own in enumerate(sets):
                    if progress:
                        progress("sets", i * len(sets) + j, steps)
                    for space in spaces:
                        _evaluate(log, space, own, ways, known)
        if progress:
            progress("sets", steps, steps)
        if not log.done and log.failed:
            raise UsageError(next(iter(log.failed.values())).error)
    return Run.load(folder)


def _scorings(names: Sequence[str]) -> tuple[Scoring, ...]:
    for name in names:
        if name not in SCORINGS:
            hint = did_you_mean(name, SCORINGS)
            raise UsageError(f"There is no scoring {name!r}.{hint} Expected one of {', '.join(SCORINGS)}.")
    if not names:
        raise UsageError(f"Expected a scoring: {', '.join(SCORINGS)}.")
    return tuple(way for way in SCORINGS if way in names)


def _shared_words(systems: Sequence[System]) -> tuple[frozenset[str], frozenset[str]] | None:
    """The words that all systems have, on either side; None if no system has others."""
    source: frozenset[str] | None = None
    target: frozenset[str] | None = None
    sizes = set()
    for system in systems:
        pair = system.load()
        if isinstance(pair, EncoderPair):  # which knows all words
            continue
        one, two = frozenset(pair.source.space.words), frozenset(pair.target.space.words)
        source, target = (one if source is None else source & one), (two if target is None else target & two)
        sizes.add((len(one), len(two)))
    if source is None or target is None:
        return None
    return None if sizes == {(len(source), len(target))} else (source, target)


@contextmanager
def _recorded(log: Log, cell: Cell) -> Iterator[None]:
    """Record an error as the failure of a cell; the run continues."""
    try:
        yield
    except (SentProbeError, MemoryError) as e:
        log.add(Failure(key=cell.key, cell=cell, error=str(e) or type(e).__name__, kind=type(e).__name__))


# One system on one set


def _evaluate(log: Log, space: Neighbourhood | EncoderPair, own: _Set, ways: Sequence[Scoring], known: str) -> None:
    """Save what one system gets on a set; ``known`` identifies the words that count as known, if these are not all."""
    evaluation, request, name = own.evaluation, own.request, set_name(own.request)
    pair = space if isinstance(space, EncoderPair) else space.pair
    blank = Cell(
        task=evaluation.task,
        version=evaluation.version,
        dataset=name,
        data="",
        encoder=pair.name,
        identity=pair.identity,
        probe=ways[0],
        sentprobe=__version__,
    )
    failed = replace(blank, data=digest(repr(request).encode())[:DIGEST_SIZE])
    with _recorded(log, failed):
        questions = _ask(own, pair)
        log.forget(failed.key)
        dataset = Dataset(name, evaluation.task, evaluation.version, language_of(request), (), {"te": questions.rows})
        data = digest(f"{dataset.digest} {questions.more} {known}".encode())[:DIGEST_SIZE]
        log.describe(datasets=[_about(dataset, data, own)])
        log.save_rows(dataset, data, None)
        _baseline(log, replace(blank, data=data, encoder=COPY, identity=COPY, probe=None), questions, own)
        for way in ways if evaluation.retrieves else ways[:1]:
            cell = replace(blank, data=data, probe=way if evaluation.retrieves else None)
            if cell.key in log.done and cell.identity is not None:
                continue
            with _recorded(log, replace(cell, probe=way)):
                started = time.perf_counter()
                answers = _answer(own, questions, space, way)
                result = _result(cell, questions, answers, own)
                extra = {} if pair.criterion is None else {"criterion": pair.criterion}
                result = replace(
                    result,
                    scores={**result.scores, **extra},
                    dimension=pair.dimension,
                    seconds={"encode": 0.0, "fit": 0.0, "score": time.perf_counter() - started},
                )
                log.add(result, answers.arrays)
                if not evaluation.retrieves:
                    log.forget(replace(cell, probe=way).key)


def _ask(own: _Set, pair: Pair | EncoderPair) -> Questions:
    if not isinstance(pair, EncoderPair):
        return own.evaluation.ask(own.content, pair, own.request)
    if own.evaluation.encoders is None:
        raise UsageError(
            f"{pair.name} encodes sentences, and {own.evaluation.name} asks for words; expected an alignment or files "
            "of word vectors. Encoders are evaluated with --sentences."
        )
    return own.evaluation.encoders.ask(own.content, pair, own.request)


def _answer(own: _Set, questions: Questions, space: Neighbourhood | EncoderPair, way: Scoring) -> Answers:
    if not isinstance(space, EncoderPair):
        return own.evaluation.answer(questions, space, way)
    assert own.evaluation.encoders is not None
    return own.evaluation.encoders.answer(questions, space, way)


def _baseline(log: Log, cell: Cell, questions: Questions, own: _Set) -> None:
    if cell.key in log.done:
        return
    with _recorded(log, cell):
        answers = own.evaluation.copy(questions)
        if answers is not None:
            log.describe(encoders=[COPY])
            # facts may be of this system: which side lacks a word, say
            log.add(_result(cell, replace(questions, facts={}), answers, own), answers.arrays)


def _result(cell: Cell, questions: Questions, answers: Answers, own: _Set) -> Result:
    return Result(
        key=cell.key,
        cell=cell,
        language=language_of(own.request),
        labels=(),
        n={"tr": 0, "va": 0, "te": len(questions.rows)},
        trained_on="",
        chosen_on=None,
        metric=own.evaluation.metric,
        score=answers.score,
        scores={**answers.scores, **questions.facts},
        interval=answers.interval,
        interval_kind=answers.interval_kind,
        baselines=answers.baselines,
        versions=versions(),
    )


def _about(dataset: Dataset, data: str, own: _Set) -> Mapping[str, Any]:
    """What run.json records about a set."""
    return {
        "name": dataset.name,
        "task": dataset.task,
        "version": dataset.version,
        "language": dataset.language,
        "digest": data,
        "labels": [],
        "question": own.evaluation.question,
        "inputs": [],
        "corpus": None,
        "rows": {"te": len(dataset)},
        "source": {"kind": own.evaluation.name, "paths": [str(Path(file).absolute()) for file in own.request.files]},
        "audit": None,
    }
