"""Controls and measures as cells of the loop: which are requested, what they make of a set, how they are computed.

A control takes one thing away, and its score is compared with the plain one. A measure computes another quantity from
the same vectors. The name of either is the ``variant`` of its cells.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from sentprobe.core.arguments import StringsOrPaths, as_strings, did_you_mean
from sentprobe.core.hashing import hash_64
from sentprobe.data.folds import first_fold, with_folds
from sentprobe.data.splits import Split, Splits
from sentprobe.encoders import SCHEMES, encoder_info, load
from sentprobe.errors import DataError, EncoderError, SentProbeError, UsageError, describe_error
from sentprobe.probes import Fit
from sentprobe.probes.probe import AS_INPUT
from sentprobe.run.control import CONTROLS, Control, with_chosen_settings
from sentprobe.run.fit import Finished, Predictions, finish, folded_cells, probe_cells, probe_split
from sentprobe.run.folds import join_results
from sentprobe.run.job import FitJob, PlainCell, SharedCache, TextIndex, Vectors, features_of, shared
from sentprobe.run.measure import MEASURES, Measure
from sentprobe.run.measures import measure_of
from sentprobe.run.transfer import transfer_cells
from sentprobe.run.variant import ERASED, GIVEN
from sentprobe.stats.means import mean
from sentprobe.stats.paired import mcnemar

ALL = "all"
COMPARED_ROWS = 256
"""Vectors compared at a time."""
BYTES_PER_ROW = 150
"""Approximate size of a row of an index of texts."""


class Variants(NamedTuple):
    """The names of the requested controls and measures."""

    controls: tuple[str, ...]
    measures: tuple[str, ...]
    rows: int | None = None
    """Training rows that measures with ``max_rows`` use at most; None: their default."""


@dataclass(frozen=True)
class Variant:
    """A set as one control or measure needs it."""

    names: tuple[str, ...]
    """The variants of its cells."""
    splits: Splits | SentProbeError
    """The set to probe, or why there is none."""
    measures: bool = False
    """Whether it is a measure, and so uses the linear probe."""
    all_layers: bool = False
    """Whether it uses all layers of an encoder together."""
    erased_sets: tuple[Splits, ...] = ()
    """The sets whose property is erased."""
    given_encoders: tuple[str, ...] = ()
    """The encoders that it is conditional on."""
    given_identity: str = ""
    """The identities of these encoders."""
    rows: int | None = None
    """The training rows that it uses, if it has a maximum."""


# Which are requested


def select_variants(controls: StringsOrPaths, measures: StringsOrPaths, rows: int | None = None) -> Variants:
    """The requested names, with ``all`` expanded."""
    return Variants(_names(controls, CONTROLS, "control"), _names(measures, MEASURES, "measure"), rows)


def _names(requested: StringsOrPaths, available: Collection[str], kind: str) -> tuple[str, ...]:
    names: dict[str, None] = {}
    for name in (part for text in as_strings(requested, f"a {kind}") for part in text.split(",") if part):
        if name == ALL:
            names |= dict.fromkeys(available)
        elif name in available or (kind == "measure" and _takes_encoder(name)):
            names[name] = None
        else:
            hint = did_you_mean(name, available, n=1)
            parametric = f", {GIVEN}ENCODER" if kind == "measure" else ""
            raise UsageError(
                f"There is no {kind} {name!r}.{hint} Expected one of {', '.join(available)}{parametric}, {ALL}."
            )
    return tuple(names)


def _takes_encoder(name: str) -> bool:
    """Whether a measure is conditional on an encoder."""
    scheme, colon, _ = name.removeprefix(GIVEN).partition(":")
    return name.startswith(GIVEN) and bool(colon) and scheme in SCHEMES


# What they make of a set


def make_variants(
    splits: Splits, variants: Variants, all_sets: Sequence[Splits], seed: int, subsamples: Subsamples
) -> Iterator[Variant]:
    """The variants of a set: the requested controls and measures that apply to it."""
    for name in variants.controls:
        control = CONTROLS[name]
        if control.encoder is not None or not control.applies_to(splits):
            continue
        try:
            changed = _changed_splits(control, splits, seed)
        except KeyboardInterrupt:
            raise
        except BaseException as e:
            yield Variant((name,), e if isinstance(e, SentProbeError) else DataError(describe_error(e)))
            continue
        yield Variant((name,), replace(changed, variant=name))
    for name in variants.measures:
        if measure_of(name).applies_to(splits):
            yield _measure_variant(name, splits, variants.rows, all_sets, subsamples)


def _changed_splits(control: Control, splits: Splits, seed: int) -> Splits:
    """A set as a control changes it: each fold; only the first if the test rows are not those of the set."""
    if splits.folds and not control.same_test:
        splits = first_fold(splits)
    if control.splits is None:
        return splits
    if splits.folds:
        return with_folds(splits, [control.splits(fold, seed) for fold in splits.folds])
    return control.splits(splits, seed)


def _measure_variant(
    name: str, splits: Splits, rows: int | None, all_sets: Sequence[Splits], subsamples: Subsamples
) -> Variant:
    measure = measure_of(name)
    erased = tuple(probed_set for probed_set in all_sets if measure.applies_to(probed_set)) if measure.erases else ()
    names = (
        tuple(f"{ERASED}{probed_set.name}#{probed_set.digest}" for probed_set in erased) if measure.erases else (name,)
    )
    encoders = (measure.given,) if isinstance(measure.given, str) else measure.given or ()
    try:
        identity = " + ".join(map(_identity, encoders))
    except KeyboardInterrupt:
        raise
    except BaseException as e:  # whatever goes wrong in an encoder, the run continues without this measure
        reason = EncoderError(f"{' + '.join(encoders)}: {describe_error(e)}")
        return Variant(names, e if isinstance(e, SentProbeError) else reason)
    used_rows = None
    if splits.folds and measure.over_folds == "first":
        splits = first_fold(splits)
    if measure.max_rows is not None:
        max_rows = measure.max_rows if rows is None else rows
        splits = subsamples.of(splits, max_rows)
        erased = tuple(subsamples.of(probed_set, max_rows) for probed_set in erased)
        used_rows = splits.sizes["tr"]
    return Variant(
        names,
        replace(splits, variant=name),
        measures=True,
        all_layers=measure.all_layers,
        erased_sets=erased,
        given_encoders=encoders,
        given_identity=identity,
        rows=used_rows,
    )


def _identity(name: str) -> str:
    """The identity of an encoder, or else its name."""
    identity = encoder_info(load(name)).identity
    return str(identity) if identity is not None else name


class Subsamples:
    """Sets with fewer training rows, each made once, so that all cells share what is computed from them."""

    def __init__(self) -> None:
        self._splits: dict[tuple[str, str, tuple[int, int] | None, int], Splits] = {}

    def of(self, splits: Splits, rows: int) -> Splits:
        """The set with at most this many training rows."""
        if splits.folds:
            return replace(splits, folds=tuple(self.of(fold, rows) for fold in splits.folds))
        if len(splits.train) <= rows:
            return splits
        key = splits.name, splits.digest, splits.nth_fold, rows
        if key not in self._splits:
            self._splits[key] = replace(splits, train=subsample(splits.train, rows))
        return self._splits[key]


def subsample(split: Split, rows: int) -> Split:
    """At most this many rows, in their order, with the shares of the classes, and at least one row of each if possible.

    They are sampled by hash: which ones depends on the rows alone, not on their order or on any seed.
    """
    if len(split) <= rows:
        return split
    columns = (split.texts, *split.inputs.values())
    hashes = np.array([hash_64("\t".join(("measure", *row))) for row in zip(*columns, strict=True)], np.uint64)
    order = np.lexsort((hashes, split.labels))
    sizes = np.bincount(split.labels)
    rank = np.empty(len(split))
    rank[order] = np.arange(len(split)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return split.take(np.sort(np.lexsort((hashes, split.labels, rank / sizes[split.labels]))[:rows]))


# How they are computed


def compute_cells(job: FitJob) -> list[Any]:
    """The results of the cells of a job, each with its predictions and perhaps its probe."""
    variant = job.splits.variant
    if variant is None:
        return _plain_cells(job)
    if variant == "untrained":
        return _without_probes(_plain_cells(job))
    if variant in CONTROLS:
        return _control_cells(job)
    return _measure_cells(job, variant)


def _plain_cells(job: FitJob) -> list[Any]:
    return probe_cells(job) if job.splits.protocol == "split" else transfer_cells(job)


def _measure_cells(job: FitJob, name: str) -> list[Finished]:
    """The results of a measure, with the time they took unless it says that itself."""
    started = time.perf_counter()
    finished = _over_folds(job, measure_of(name)) if job.splits.folds else measure_of(name).compute(job)
    seconds = {"encode": 0.0, "fit": (time.perf_counter() - started) / max(1, len(finished))}
    return [
        (result if result.seconds else replace(result, seconds=seconds), arrays, probe)
        for result, arrays, probe in finished
    ]


def _over_folds(job: FitJob, measure: Measure) -> list[Finished]:
    """The results of a measure on a set in folds."""
    splits = job.splits
    if measure.over_folds == "pooled":
        pooled = measure.compute(replace(job, splits=replace(splits, folds=())))
        return [(replace(result, n=splits.sizes), arrays, probe) for result, arrays, probe in pooled]
    folds = [measure.compute(job.of_fold(number)) for number in range(len(splits.folds))]
    return [join_results(splits, of_cell, measure.over_folds) for of_cell in zip(*folds, strict=True)]


def _without_probes(finished: Sequence[Sequence[Any]]) -> list[Finished]:
    """Results with their predictions, without the probes."""
    return [(result, arrays, None) for result, arrays, *_ in finished]


def _control_cells(job: FitJob) -> list[Finished]:
    """Probe what the control makes of a set or of its vectors."""
    splits = job.splits
    if splits.folds:
        folds = [_control_predictions(_controlled(job.of_fold(number))) for number in range(len(splits.folds))]
        return _without_probes(folded_cells(job, folds))
    job = _controlled(job)
    if splits.same_rows is not None:
        return selectivity_cells(job, splits.same_rows)
    if splits.protocol != "split":
        return _without_probes(transfer_cells(job))
    return _without_probes(
        [finish(job, cell, of_cell) for cell, of_cell in zip(job.cells, _control_predictions(job), strict=True)]
    )


def _controlled(job: FitJob) -> FitJob:
    """The job with the vectors and the settings of the probe that the control says."""
    control, plain = CONTROLS[str(job.splits.variant)], job.plain
    if control.table is not None:
        if plain is not None and plain.result is not None:
            # a hidden layer as wide as the vectors keeps its width, even if the changed vectors are narrower
            input_width = plain.result.dimension or AS_INPUT
            hidden = tuple(input_width if width == AS_INPUT else width for width in job.probe.hidden)
            job = replace(job, probe=replace(job.probe, hidden=hidden))
        job = replace(job, vectors=_changed_vectors(job, control.table))
    if control.probe == "used" and plain is not None and plain.result is not None:
        job = replace(job, probe=with_chosen_settings(job.probe, plain.result))
    return job


def _control_predictions(job: FitJob) -> list[Predictions]:
    """The predictions of the probe of a control on the test rows; the plain one where it would be the same."""
    control, plain = CONTROLS[str(job.splits.variant)], job.plain
    same_texts = plain is not None and job.splits.train.texts is plain.splits.train.texts
    new_texts = control.probe == "tuned" and control.table is None and not same_texts
    if plain is not None and (control.probe == "trained" or (new_texts and _same_training(job, plain))):
        # if it was not saved, it is fitted again, identical to the last bit
        return probe_split(job, trained=_plain_fit(plain))
    return probe_split(job, statistics=same_texts and control.table is None)


def _same_training(job: FitJob, plain: PlainCell) -> bool:
    """Whether train and dev are the plain ones to the last bit: permuting words changes no vector of a bag of words."""
    for split, plain_split in ((job.splits.train, plain.splits.train), (job.splits.dev, plain.splits.dev)):
        if not np.array_equal(split.labels, plain_split.labels):
            return False
        chunks, plain_chunks = (features_of(job, rows).chunks(COMPARED_ROWS) for rows in (split, plain_split))
        if not all(np.array_equal(a, b) for (_, a), (_, b) in zip(chunks, plain_chunks, strict=True)):
            return False
    return True


def _plain_fit(plain: PlainCell) -> Fit | None:
    """The plain probe as it was trained, if it was saved."""
    model, result = plain.model(), plain.result
    if model is None or result is None:
        return None
    return Fit(model, result.cell.seed, result.chosen, result.dev_score or 0.0, result.tried)


def _changed_vectors(job: FitJob, change: Callable[..., Any]) -> Vectors:
    """The vectors of a set with those of its sentences changed; those of word inputs stay as they are."""
    vectors, splits = job.vectors, job.splits
    train_dev_test = (splits.train, splits.dev, splits.test)
    has_words = bool(splits.train.inputs) and splits.words

    def make() -> tuple[list[str], TextIndex]:
        sentences = dict.fromkeys(text for split in train_dev_test for text in split.texts)
        texts = list(sentences) if has_words else splits.texts()
        return texts, TextIndex(texts)

    texts, index = shared(job, "texts", BYTES_PER_ROW * sum(map(len, train_dev_test)), make)
    table = change(vectors.rows(texts), texts, job.cells[0].seed)
    return Vectors([(table, index)], (vectors.words or vectors.tables) if has_words else ())


# Selectivity


@dataclass(frozen=True, slots=True)
class Selectivity:
    """The accuracy on a task minus that on its control task, on the same rows (Hewitt and Liang 2019).

    The control re-splits the rows of a set, so that every test word is in train. The task is scored on that same split:
    the same vectors, the same train, dev and test rows, the same probe with the same settings; only the labels differ.
    Every test row is thus scored twice, and the difference is paired. Rows of one key have one control label and are
    not independent, so the interval is over keys, not rows.

    If only few rows differ, the interval could be too narrow. So it is never narrower than Newcombe's for paired
    proportions of independent rows. It covers other keys and control labels, but not other training sets.
    """

    value: float
    low: float
    high: float
    task: float
    """Accuracy with the labels of the task."""
    control: float
    """Accuracy with the labels of the control."""
    keys: int
    """Distinct keys of the test rows."""


def selectivity(task_right: npt.ArrayLike, control_right: npt.ArrayLike, keys: Sequence[str]) -> Selectivity:
    """Selectivity from the test rows (n) that are right on the task and on the control; ``keys`` (n) cluster them."""
    paired = mcnemar(task_right, control_right)
    if len(keys) != paired.n:
        raise DataError(f"Expected a key for each of {paired.n} rows, got {len(keys)}.")
    task, control, low, high = np.asarray(task_right), np.asarray(control_right), paired.low, paired.high
    if len(set(keys)) > 1:
        by_keys = mean(task.astype(np.float64) - control, keys).interval()
        low, high = max(-1.0, min(low, by_keys[0])), min(1.0, max(high, by_keys[1]))
    return Selectivity(paired.difference, low, high, float(task.mean()), float(control.mean()), len(set(keys)))


def seen_share(splits: Splits) -> float:
    """The share of a set's own test rows whose target form is also in train; 1 for sets without target forms.

    Where it is 0, memorising words cannot explain the score of the set, whatever its selectivity.
    """
    if splits.grouped or any(key is None for key in splits.test.keys):
        return 1.0
    train = set(splits.train.keys)
    return sum(key in train for key in splits.test.keys) / max(1, len(splits.test.keys))


def selectivity_cells(job: FitJob, same_rows: Splits) -> list[Finished]:
    """The results of a control, each with that of the task on the same rows.

    ``scores`` has task, control and selectivity with its interval, and ``seen_share`` as seen; the predictions on the
    task are ``task_predicted`` and ``task_truth``, indices into the labels of the set.
    """
    # both fits share a cache of their own, because their training rows are not those of the set
    plain = None if job.plain is None else replace(job.plain, shared=SharedCache())
    keys = [str(key) for key in job.splits.test.keys]
    finished: list[Finished] = []
    for cell in job.cells:
        cell_job = replace(job, plain=plain, cells=[cell])
        ((task, task_arrays, _),) = probe_cells(replace(cell_job, splits=same_rows), statistics=True)
        probe = with_chosen_settings(job.probe, task)
        ((result, arrays, _),) = probe_cells(replace(cell_job, probe=probe), statistics=True)
        measured = selectivity(
            task_arrays["predicted"] == task_arrays["truth"], arrays["predicted"] == arrays["truth"], keys
        )
        scores = {
            **result.scores,
            "task": measured.task,
            "control": measured.control,
            "selectivity": measured.value,
            "selectivity_low": measured.low,
            "selectivity_high": measured.high,
            "keys": measured.keys,
        }
        if plain is not None:
            scores["seen"] = seen_share(plain.splits)
        seconds = {**result.seconds, "fit": result.seconds["fit"] + task.seconds["fit"]}
        task_predictions = {
            "task_predicted": task_arrays["predicted"],
            "task_truth": task_arrays["truth"],
            "keys": np.array(keys, np.str_),
        }
        finished.append((replace(result, scores=scores, seconds=seconds), {**arrays, **task_predictions}, None))
    return finished
