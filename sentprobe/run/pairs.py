"""The loop over encoders, sets of pairs and similarities; every result is saved when it is finished."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from sentprobe import __version__
from sentprobe.core.arguments import Progress, StringsOrPaths, as_strings, did_you_mean
from sentprobe.core.third_party import third_party_code
from sentprobe.encoders import encoder_info, load
from sentprobe.encoders.diagnosis import check_encoders
from sentprobe.encoders.embed import Embeddings, embed
from sentprobe.encoders.schemes.family import Family
from sentprobe.encoders.store import Store
from sentprobe.errors import UsageError
from sentprobe.probes.baselines import PAIR_BASELINES
from sentprobe.probes.baselines.text_pairs import TextSimilarities
from sentprobe.results.log import Log, open_log, removed_if_refused
from sentprobe.results.records import ALIASES, RECIPES, recipe_entries
from sentprobe.results.result import CONSTANT_INTERVAL, Cell, Failure, Result
from sentprobe.results.run import Run
from sentprobe.run.cells import vectors_identity
from sentprobe.run.info import (
    LAYER,
    WORKING_FOLDERS_KEY,
    alias_entries,
    layer_system,
    working_folder_entry,
    write_diagnosis,
    write_languages,
    write_sent,
    write_training_score,
)
from sentprobe.run.inputs import Encoders, NamedEncoders, named_encoders
from sentprobe.run.pair_scores import SIMILARITIES, Floats, PairScores, score_pairs, similarities
from sentprobe.run.pair_sets import QUESTIONS, TRIPLETS, Pairs, PairSet, pair_sets, read_pairs
from sentprobe.run.scoring import versions

ROWS = 4096
"""Rows whose vectors are gathered at a time."""
Near = Callable[[str], tuple[tuple[Floats, ...], int]]
"""From the name of a similarity to how near texts are, and the dimension of their vectors."""


def evaluate_pairs(
    encoders: Encoders,
    pairs: Pairs | Sequence[Pairs],
    folder: Path | str,
    *,
    similarity: StringsOrPaths = ("cosine",),
    language: str | None = None,
    batch_size: int | None = None,
    half: bool = False,
    store: Store | None = None,
    progress: Progress | None = None,
    command: str | None = None,
) -> Run:
    """Evaluate how near encoders put sentences that mean the same, saving every result as soon as it is finished.

    Of triplets, the share of rows whose positive is nearer to the anchor than the contrast is; of pairs with scores,
    Spearman's correlation with the similarity; of pairs labelled 0 or 1, the area under the ROC curve. The same call
    resumes where it stopped. What fails is recorded in ``Run.failures``, and the rest continues.

    Parameters
    ----------
    encoders
        As for ``evaluate``: strings, functions from a list of texts to an array, or a mapping from names to these.
    pairs
        A ``ContrastSet`` or ``ScoredPairs``; the path of a table or of a folder of contrast sets; a frame or a list of
        rows; or a list of sets and paths.
    folder
        Where to write the run; created if it does not exist. It may be a run of ``evaluate``, and then has both.
    similarity
        How vectors are compared: cosine, dot, euclidean; each makes a column.
    language
        The language of tables, frames and lists.
    batch_size
        Texts per batch. Default: the encoder's own.
    half
        Round vectors to float16.
    store
        Where to keep vectors between runs; by default they are not kept.
    progress
        Called with a stage, the number of steps done, and the number of steps.
    command
        The command line to record in run.json.

    Returns
    -------
    Run
        The run, loaded from ``folder``.

    Examples
    --------
    >>> import tempfile
    >>> from sentprobe import evaluate_pairs
    >>> rows = [
    ...     ("Kim saw Lee .", "Lee was seen by Kim .", "Lee saw Kim .", "roles"),
    ...     ("Mia met Tom .", "Tom was met by Mia .", "Tom met Mia .", "roles"),
    ... ]
    >>> def first_letter(texts):
    ...     return [[ord(text[0]), 1] for text in texts]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     run = evaluate_pairs({"first": first_letter}, rows, folder)
    ...     [(result.cell.encoder, result.score, result.scores["ties"]) for result in run]
    [('first', 0.5, 2.0), ('chance', 0.5, 2.0), ('length', 0.0, 0.0), ('overlap', 0.0, 0.0), ('tf-idf', 0.0, 0.0)]
    """
    names = _similarity_names(similarity)
    requested = named_encoders(encoders)
    functions = requested.by_name
    if taken := [name for name in functions if name in PAIR_BASELINES]:
        raise UsageError(f"{taken[0]} is the name of a baseline; choose another one for the encoder.")
    # whatever is wrong with a file, nothing is computed before it is known
    sets = [pair_set for data, path in read_pairs(pairs, language) for pair_set in pair_sets(data, path)]
    _refuse_equal_names(sets)
    with removed_if_refused(Path(folder)), open_log(folder) as log:
        done = {result.cell.encoder.partition(LAYER)[0] for result in log.done.values()}
        check_encoders({name for name, function in functions.items() if function is None} - done)
        _begin(log, requested, command, names)
        for pair_set in sets:
            log.describe(datasets=[_set_entry(pair_set)])
            log.save_rows(pair_set.dataset, pair_set.data, None)
        options = _Options(names, batch_size, half, store, progress)
        for i, (name, function) in enumerate(functions.items()):
            if progress:
                progress("encoders", i, len(functions))
            _evaluate_encoder(log, name, function, sets, options, requested.aliases)
        _evaluate_baselines(log, sets)
        if progress:
            progress("encoders", len(functions), len(functions))
        if (
            functions
            and log.failed
            and not any(result.cell.encoder not in PAIR_BASELINES for result in log.done.values())
        ):
            raise UsageError(next(iter(log.failed.values())).error)
    return Run.load(folder)


@dataclass(frozen=True)
class _Options:
    similarities: Sequence[str]
    batch_size: int | None
    half: bool
    store: Store | None
    progress: Progress | None


def _similarity_names(similarity: StringsOrPaths) -> tuple[str, ...]:
    names = [name for text in as_strings(similarity, "a similarity") for name in text.split(",")]
    for name in names:
        if name not in SIMILARITIES:
            hint = did_you_mean(name, SIMILARITIES)
            raise UsageError(f"There is no similarity {name!r}.{hint} Expected one of {', '.join(SIMILARITIES)}.")
    if not names:
        raise UsageError(f"Expected a similarity: {', '.join(SIMILARITIES)}.")
    return tuple(name for name in SIMILARITIES if name in names)


def _refuse_equal_names(sets: Sequence[PairSet]) -> None:
    """UsageError if two sets have the same name and are not the same."""
    by_name: dict[str, PairSet] = {}
    for pair_set in sets:
        if by_name.setdefault(pair_set.dataset.name, pair_set).data != pair_set.data:
            raise UsageError(f"Two sets are called {pair_set.dataset.name}; rename one of the files.")


def _begin(log: Log, requested: NamedEncoders, command: str | None, names: Sequence[str]) -> None:
    encoders = [*requested.by_name, *PAIR_BASELINES]
    log.begin(encoders)
    log.describe(
        encoders=encoders,
        probes=list(names),
        seeds=[0],
        sentprobe=[__version__],
        **{WORKING_FOLDERS_KEY: [working_folder_entry(log.folder)]},
    )
    if requested.aliases:
        log.describe(**{ALIASES: alias_entries(requested.aliases)})
    if requested.recipes:
        log.describe(**{RECIPES: recipe_entries(requested.recipes)})
    if command is not None:
        log.describe(commands=[command.encode(errors="backslashreplace").decode()])


@contextmanager
def _recorded(log: Log, cell: Cell) -> Iterator[None]:
    """Record an error as the failure of a cell; the run continues."""
    try:
        yield
    except (Exception, SystemExit) as e:  # whatever goes wrong in one encoder, the others continue
        message = (str(e) or type(e).__name__).encode(errors="backslashreplace").decode()
        log.add(Failure(key=cell.key, cell=cell, error=message, kind=type(e).__name__))
    else:
        if cell.key in log.failed:
            log.forget(cell.key)


def _cell(pair_set: PairSet, encoder: str, identity: str | None, similarity: str | None) -> Cell:
    dataset = pair_set.dataset
    return Cell(
        task=dataset.task,
        version=dataset.version,
        dataset=dataset.name,
        data=pair_set.data,
        encoder=encoder,
        identity=identity,
        probe=similarity,
        sentprobe=__version__,
    )


# Encoders


def _evaluate_encoder(
    log: Log, name: str, function: Any, sets: Sequence[PairSet], options: _Options, aliases: Mapping[str, str]
) -> None:
    """Save the results of an encoder, of each of its layers, on all sets."""
    with _recorded(log, Cell(task="", version=0, dataset="", data="", encoder=name)):
        with third_party_code:
            encoder: Any = function if function is not None else load(name)
            texts = list(dict.fromkeys(text for pair_set in sets for column in pair_set.texts for text in column))
            if getattr(encoder, "needs_fit", False):
                encoder = encoder.fit(texts)
        info = encoder_info(encoder)
        identity = vectors_identity(info, options.half)
        _describe(log, name, identity, encoder, sets)
        layers: Sequence[str | None] = info.layers or (None,)
        _request_layers(log, name, identity, info.layers, aliases)
        if identity is not None and all(
            _cell(s, *_system(name, identity, layer), similarity).key in log.done
            for s in sets for layer in layers for similarity in options.similarities
        ):  # fmt: skip
            return
        started = time.perf_counter()
        try:
            vectors = _Vectors.of(encoder, sets, options, name if function is None else None)
            seconds = time.perf_counter() - started
            if not vectors.is_family:
                ((embeddings, _),) = vectors.by_language.values()
                write_diagnosis(log, options.store, name, identity, encoder, embeddings, texts, half=options.half)
        finally:
            write_sent(log, name, encoder)
        if vectors.layers and tuple(vectors.layers) != tuple(info.layers):
            layers = vectors.layers  # which were not known before
            _request_layers(log, name, identity, vectors.layers, aliases)
        for pair_set in sets:
            for layer in layers:
                for similarity in options.similarities:
                    cell = _cell(pair_set, *_system(name, identity, layer), similarity)
                    if identity is not None and cell.key in log.done:
                        continue
                    with _recorded(log, cell):
                        _add(log, pair_set, cell, partial(vectors.near, pair_set, layer), seconds / len(sets))


def _describe(log: Log, name: str, identity: str | None, encoder: Any, sets: Sequence[PairSet]) -> None:
    """Record what is known of a loaded encoder; whether it was made for the language of the sets is a warning."""
    if identity is None:
        _forget(log, name)
    write_training_score(log, name, identity, encoder_info(encoder).training_score)
    if not isinstance(encoder, Family):  # of which each member has a language of its own
        of_sets = [(s.dataset.language, [text for column in s.texts for text in column]) for s in sets]
        write_languages(log, name, identity, encoder, of_sets)


def _request_layers(
    log: Log, name: str, identity: str | None, layers: Sequence[str], aliases: Mapping[str, str]
) -> None:
    """Record that the layers of an encoder, if it has any, are what is compared, each as a system of its own."""
    if not layers:
        return
    systems = {layer: layer_system(name, identity, layer)[0] for layer in layers}
    log.request_instead(name, list(systems.values()))
    if name in aliases:
        named = {system: f"{aliases[name]}{LAYER}{layer}" for layer, system in systems.items()}
        log.describe(**{ALIASES: alias_entries(named)})


def _forget(log: Log, name: str) -> None:
    """Forget the results of an encoder without identity: it may have changed, and is not mixed with a new one."""
    for key, result in list(log.done.items()):
        cell = result.cell
        if (
            cell.identity is None
            and cell.probe in SIMILARITIES
            and name in (cell.encoder, cell.encoder.partition(LAYER)[0])
        ):
            log.forget(key)


def _system(name: str, identity: str | None, layer: str | None) -> tuple[str, str | None]:
    """The name and the identity of a layer, or of an encoder without layers."""
    return (name, identity) if layer is None else layer_system(name, identity, layer)


def _add(log: Log, pair_set: PairSet, cell: Cell, near: Near, encode_seconds: float) -> None:
    """Score a cell and save it; of triplets, what other similarities give is recorded beside it."""
    started = time.perf_counter()
    assert cell.probe is not None
    columns, dimension = near(cell.probe)
    scored = score_pairs(pair_set, columns)
    further = {
        name: score_pairs(pair_set, near(name)[0]).score
        for name in SIMILARITIES
        if pair_set.task == TRIPLETS and name != cell.probe
    }
    seconds = {"encode": encode_seconds, "fit": 0.0, "score": time.perf_counter() - started}
    result = _result(pair_set, cell, scored)
    scores = {**result.scores, **further}
    log.add(replace(result, scores=scores, dimension=dimension, seconds=seconds), scored.arrays)


def _result(pair_set: PairSet, cell: Cell, scored: PairScores) -> Result:
    return Result(
        key=cell.key,
        cell=cell,
        language=pair_set.dataset.language,
        labels=(),
        n={"tr": 0, "va": 0, "te": len(pair_set)},
        trained_on="",
        chosen_on=None,
        metric=pair_set.metric,
        score=scored.score,
        scores=scored.scores,
        interval=scored.interval,
        interval_kind=scored.interval_kind,
        cluster_interval=scored.cluster_interval,
        clusters=None if pair_set.clusters is None else len(set(pair_set.clusters)),
        versions=versions(),
    )


@dataclass(frozen=True, eq=False)
class _Vectors:
    """The vectors of all texts of all sets, by language for an encoder that has a member for each."""

    by_language: Mapping[str | None, tuple[Embeddings, Mapping[str, int]]]
    is_family: bool

    @classmethod
    def of(cls, encoder: Any, sets: Sequence[PairSet], options: _Options, name: str | None) -> _Vectors:
        """Encode the texts of sets, each once."""
        is_family = isinstance(encoder, Family)
        texts: dict[str | None, dict[str, None]] = {}
        for pair_set in sets:
            language = pair_set.dataset.language if is_family else None
            texts.setdefault(language, {}).update(dict.fromkeys(text for column in pair_set.texts for text in column))
        encoded = {}
        for language, of_language in texts.items():
            inputs = encoder.in_language(list(of_language), language) if is_family else list(of_language)
            embeddings = embed(
                encoder, inputs, store=options.store, batch_size=options.batch_size, half=options.half,
                progress=options.progress, name=name,
            )  # fmt: skip
            encoded[language] = embeddings, {text: i for i, text in enumerate(of_language)}
        return cls(encoded, is_family)

    @property
    def layers(self) -> Sequence[str]:
        """Names of layers; none if there is one only."""
        return next(iter(self.by_language.values()))[0].layers

    def near(self, pair_set: PairSet, layer: str | None, similarity: str) -> tuple[tuple[Floats, ...], int]:
        """How near the texts of a set are, (n,) each, as ``similarities`` gives them; and the dimension."""
        embeddings, number = self.by_language[pair_set.dataset.language if self.is_family else None]
        vectors = embeddings.vectors if layer is None else embeddings.layer(layer)
        chunks = [
            similarities(
                similarity,
                [
                    np.asarray(vectors[[number[text] for text in column[start : start + ROWS]]], np.float64)
                    for column in pair_set.texts
                ],
            )
            for start in range(0, len(pair_set), ROWS)
        ]
        return tuple(map(np.concatenate, zip(*chunks, strict=True))), int(vectors.shape[-1])


# Baselines


def _evaluate_baselines(log: Log, sets: Sequence[PairSet]) -> None:
    """Save what texts alone say, on all sets."""
    by_data: dict[str, TextSimilarities] = {}
    wholes = _wholes(sets)
    for pair_set in sets:
        for name in PAIR_BASELINES:
            cell = _cell(pair_set, name, name, None)
            if cell.key in log.done:
                continue
            whole = wholes[pair_set.dataset.name]
            if whole.data not in by_data:
                by_data = {whole.data: TextSimilarities([text for column in whole.texts for text in column])}
            texts = by_data[whole.data]
            anchor, *compared = pair_set.texts
            near = [texts.similar(name, anchor, column) for column in compared]
            if pair_set.metric == "spearman" and np.ptp(near[0]) == 0:
                continue  # such as chance: what is equally near everywhere has no rank correlation
            with _recorded(log, cell):
                scored = score_pairs(pair_set, near)
                result = _result(pair_set, cell, scored)
                if name == "chance":
                    result = replace(
                        result, interval=(scored.score,) * 2, cluster_interval=None, interval_kind=CONSTANT_INTERVAL
                    )
                log.add(result, scored.arrays)


def _wholes(sets: Sequence[PairSet]) -> dict[str, PairSet]:
    """By name, the set with all rows that a set is a part of, or the set itself."""
    names = {pair_set.dataset.name: pair_set for pair_set in sets}
    return {
        name: names.get(name.removesuffix(f"/{pair_set.kind}"), pair_set) if pair_set.kind else pair_set
        for name, pair_set in names.items()
    }


def _set_entry(pair_set: PairSet) -> Mapping[str, Any]:
    """What run.json records about a set."""
    dataset = pair_set.dataset
    return {
        "name": dataset.name,
        "task": dataset.task,
        "version": dataset.version,
        "language": dataset.language,
        "digest": pair_set.data,
        "labels": [],
        "question": QUESTIONS[dataset.task],
        "inputs": [],
        "corpus": None,
        "rows": {"te": len(pair_set)},
        "source": pair_set.source,
        "audit": None,
    }
