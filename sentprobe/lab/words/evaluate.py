"""The loop over systems, sets and ways to score neighbours; every result is saved when it is finished."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sentprobe import __version__
from sentprobe.core.arguments import Progress, check_options, did_you_mean
from sentprobe.core.hashing import digest
from sentprobe.data.dataset import Dataset
from sentprobe.encoders.recipes import matching_paths
from sentprobe.encoders.store import Store
from sentprobe.errors import SentProbeError, SentProbeWarning, UsageError
from sentprobe.lab.alignment.retrieval import SCORINGS, Scoring
from sentprobe.lab.words import WORD_EVALUATIONS
from sentprobe.lab.words.evaluation import EvaluationRequest, EvaluationScores, Queries, WordEvaluation, content_digest
from sentprobe.lab.words.languages import language_warning
from sentprobe.lab.words.sentence_encoders import EncoderPair, check_aliases, encoder_names
from sentprobe.lab.words.set_names import language_of, set_name
from sentprobe.lab.words.systems import PairSearch, SpaceCache, SpacePair, System, find_systems
from sentprobe.results.log import Log, open_log
from sentprobe.results.records import ALIASES, RECIPES, Recipe, recipe_entries
from sentprobe.results.result import Cell, Failure, Result
from sentprobe.results.run import Run
from sentprobe.run.info import alias_entries
from sentprobe.run.scoring import versions

COPY = "copy"
"""The baseline that leaves words as they are."""
DIGEST_SIZE = 16
"""Digits of the digest of a set, as of any set."""


@dataclass(frozen=True, eq=False)
class _WordSet:
    """What is evaluated on, read once."""

    request: EvaluationRequest
    evaluation: WordEvaluation
    content: Any


def evaluate_words(
    systems: Sequence[str],
    requests: Sequence[EvaluationRequest],
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
        Alignments, pairs of files or files, as ``sentprobe.lab.words.systems`` describes them; or sentence encoders, as
        ``sentprobe.lab.words.sentence_encoders`` does. A pattern, ``en-fr/seed-*``, is one system of several seeds.
    requests
        What to evaluate on.
    folder
        Where to write the run; created if it does not exist.
    scorings
        How neighbours are scored: nn, csls, isf.
    common
        Only query words that all systems know, so that all get the same queries.
    limit
        Only the most frequent words of each space.
    store
        Where vectors of sentence encoders are kept.
    progress
        Called with a stage, the number of steps done, and the number of steps.
    command
        The command line to record in run.json.

    Examples
    --------
    >>> from pathlib import Path
    >>> import numpy as np
    >>> from sentprobe.lab import EvaluationRequest, evaluate_words
    >>> vectors = np.random.default_rng(0).normal(size=(50, 8))
    >>> for language in ("en", "fr"):
    ...     lines = [f"{language}{i} " + " ".join(f"{x:.4f}" for x in row) for i, row in enumerate(vectors)]
    ...     written = Path(f"{language}.vec").write_text("\\n".join(["50 8", *lines]) + "\\n")
    >>> written = Path("pairs.en-fr.txt").write_text("".join(f"en{i} fr{i}\\n" for i in range(20)))
    >>> request = EvaluationRequest(evaluation="translation", files=("pairs.en-fr.txt",))
    >>> run = evaluate_words(["en.vec,fr.vec"], [request], "words", scorings=["nn"])
    >>> [result.score for result in run if result.cell.encoder != "copy"]
    [1.0]
    """
    check_options(2, limit=limit)
    chosen_scorings = _scorings(scorings)
    systems, recipes = _trainings(systems)
    check_aliases(systems, COPY)
    parsed_systems = find_systems(systems, SpaceCache(limit), store)
    if not parsed_systems or not requests:
        raise UsageError("Expected at least one system and something to evaluate it on.")
    # whatever is wrong with a file, nothing is computed before it is known
    word_sets = [
        _WordSet(request, evaluation := WORD_EVALUATIONS.get(request.evaluation), evaluation.read(request))
        for request in requests
    ]
    with open_log(folder) as log:
        # systems of encoders are known by their layers, once they are loaded
        words = [system.name for system in parsed_systems if encoder_names(system.name) is None]
        log.begin(words)
        log.describe(encoders=words, probes=list(chosen_scorings), seeds=[0], sentprobe=[__version__])
        if recipes:
            log.describe(**{RECIPES: recipe_entries(recipes)})
        if command is not None:
            log.describe(commands=[command.encode(errors="backslashreplace").decode()])
        shared = _shared_words(parsed_systems) if common else None
        known_words = "" if shared is None else content_digest(*map(sorted, shared))
        steps = len(parsed_systems) * len(word_sets)
        for i, system in enumerate(parsed_systems):
            cell = Cell(task="", version=0, dataset="", data="", encoder=system.name)
            with _recorded(log, cell):
                pair = system.load()
                if isinstance(pair, EncoderPair):
                    layers = list(pair.each_layer())
                    log.describe(encoders=[layer.name for layer in layers])
                    if aliases := {layer.name: layer.alias for layer in layers if layer.alias is not None}:
                        log.describe(**{ALIASES: alias_entries(aliases)})
                    searches: list[PairSearch | EncoderPair] = [*layers]
                else:
                    searches = [PairSearch(pair if shared is None else pair.restricted(*shared))]
                log.forget(cell.key)
                for j, word_set in enumerate(word_sets):
                    if progress:
                        progress("sets", i * len(word_sets) + j, steps)
                    for search in searches:
                        _evaluate(log, search, word_set, chosen_scorings, known_words)
        if progress:
            progress("sets", steps, steps)
        if not log.done and log.failed:
            raise UsageError(next(iter(log.failed.values())).error)
    return Run.load(folder)


def _trainings(systems: Sequence[str]) -> tuple[list[str], dict[str, Recipe]]:
    """Systems with folders in place of the patterns that they match, and the pattern of each such folder."""
    texts: list[str] = []
    recipes: dict[str, Recipe] = {}
    for text in systems:
        paths = matching_paths(text, text) if "*" in text and encoder_names(text) is None else {}
        recipes |= dict.fromkeys(paths.values(), Recipe(text.rstrip("/"), text))
        texts += paths.values() or [text]
    return texts, recipes


def _scorings(names: Sequence[str]) -> tuple[Scoring, ...]:
    for name in names:
        if name not in SCORINGS:
            hint = did_you_mean(name, SCORINGS)
            raise UsageError(f"There is no scoring {name!r}.{hint} Expected one of {', '.join(SCORINGS)}.")
    if not names:
        raise UsageError(f"Expected a scoring: {', '.join(SCORINGS)}.")
    return tuple(scoring for scoring in SCORINGS if scoring in names)


def _shared_words(systems: Sequence[System]) -> tuple[frozenset[str], frozenset[str]] | None:
    """The words that all systems have, on either side; None if no system has others."""
    source: frozenset[str] | None = None
    target: frozenset[str] | None = None
    sizes = set()
    for system in systems:
        pair = system.load()
        if isinstance(pair, EncoderPair):  # which knows all words
            continue
        source_words, target_words = frozenset(pair.source.space.words), frozenset(pair.target.space.words)
        source, target = (
            (source_words if source is None else source & source_words),
            (target_words if target is None else target & target_words),
        )
        sizes.add((len(source_words), len(target_words)))
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


def _evaluate(
    log: Log, search: PairSearch | EncoderPair, word_set: _WordSet, scorings: Sequence[Scoring], known_words: str
) -> None:
    """Save the results of one system on a set; ``known_words`` identifies the words that count, if not all do."""
    evaluation, request, name = word_set.evaluation, word_set.request, set_name(word_set.request)
    pair = search if isinstance(search, EncoderPair) else search.pair
    cell_of_set = Cell(
        task=evaluation.task,
        version=evaluation.version,
        dataset=name,
        data="",
        encoder=pair.name,
        identity=pair.identity,
        probe=scorings[0],
        sentprobe=__version__,
    )
    failed = replace(cell_of_set, data=_failure_digest(request))
    with _recorded(log, failed):
        queries = _find_queries(word_set, pair)
        if warning := language_warning(pair, request):
            warnings.warn(SentProbeWarning(warning), stacklevel=2)
        log.forget(failed.key)
        dataset = Dataset(name, evaluation.task, evaluation.version, language_of(request), (), {"te": queries.rows})
        data = digest(f"{dataset.digest} {queries.inputs_key} {known_words}".encode())[:DIGEST_SIZE]
        log.describe(datasets=[_about(dataset, data, word_set)])
        log.save_rows(dataset, data, None)
        _baseline(log, replace(cell_of_set, data=data, encoder=COPY, identity=COPY, probe=None), queries, word_set)
        for scoring in scorings if evaluation.retrieves else scorings[:1]:
            cell = replace(cell_of_set, data=data, probe=scoring if evaluation.retrieves else None)
            if cell.key in log.done and cell.identity is not None:
                continue
            with _recorded(log, replace(cell, probe=scoring)):
                started = time.perf_counter()
                scores = _score(word_set, queries, search, scoring)
                result = _result(cell, queries, scores, word_set)
                extra = {} if pair.criterion is None else {"criterion": pair.criterion}
                result = replace(
                    result,
                    scores={**result.scores, **extra},
                    dimension=pair.dimension,
                    seconds={"encode": 0.0, "fit": 0.0, "score": time.perf_counter() - started},
                )
                log.add(result, scores.arrays)
                if not evaluation.retrieves:
                    log.forget(replace(cell, probe=scoring).key)


def _failure_digest(request: EvaluationRequest) -> str:
    """What identifies a set that cannot be read as queries, in place of their digest."""
    # by this name of the class, so that a folder in which an earlier version recorded a failure can be resumed
    return digest(f"Request{repr(request).removeprefix(type(request).__name__)}".encode())[:DIGEST_SIZE]


def _find_queries(word_set: _WordSet, pair: SpacePair | EncoderPair) -> Queries:
    if not isinstance(pair, EncoderPair):
        return word_set.evaluation.find_queries(word_set.content, pair, word_set.request)
    if word_set.evaluation.encoders is None:
        raise UsageError(
            f"{pair.name} encodes sentences, and {word_set.evaluation.name} is an evaluation of words; expected an "
            "alignment or files of word vectors. Encoders are evaluated with --sentences."
        )
    return word_set.evaluation.encoders.find_queries(word_set.content, pair, word_set.request)


def _score(
    word_set: _WordSet, queries: Queries, search: PairSearch | EncoderPair, scoring: Scoring
) -> EvaluationScores:
    if not isinstance(search, EncoderPair):
        return word_set.evaluation.score(queries, search, scoring)
    assert word_set.evaluation.encoders is not None
    return word_set.evaluation.encoders.score(queries, search, scoring)


def _baseline(log: Log, cell: Cell, queries: Queries, word_set: _WordSet) -> None:
    if cell.key in log.done:
        return
    with _recorded(log, cell):
        scores = word_set.evaluation.score_copy(queries)
        if scores is not None:
            log.describe(encoders=[COPY])
            # facts may be of this system: which side lacks a word, say
            log.add(_result(cell, replace(queries, facts={}), scores, word_set), scores.arrays)


def _result(cell: Cell, queries: Queries, scores: EvaluationScores, word_set: _WordSet) -> Result:
    return Result(
        key=cell.key,
        cell=cell,
        language=language_of(word_set.request),
        labels=(),
        n={"tr": 0, "va": 0, "te": len(queries.rows)},
        trained_on="",
        chosen_on=None,
        metric=word_set.evaluation.metric,
        score=scores.score,
        scores={**scores.scores, **queries.facts},
        interval=scores.interval,
        interval_kind=scores.interval_kind,
        baselines=scores.baselines,
        versions=versions(),
    )


def _about(dataset: Dataset, data: str, word_set: _WordSet) -> Mapping[str, Any]:
    """What run.json records about a set."""
    return {
        "name": dataset.name,
        "task": dataset.task,
        "version": dataset.version,
        "language": dataset.language,
        "digest": data,
        "labels": [],
        "question": word_set.evaluation.question,
        "inputs": [],
        "corpus": None,
        "rows": {"te": len(dataset)},
        "source": {
            "kind": word_set.evaluation.name,
            "paths": [str(Path(file).absolute()) for file in word_set.request.files],
        },
        "audit": None,
    }
