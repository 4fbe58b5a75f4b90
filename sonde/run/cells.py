"""One cell: vectors of a set's texts → features → a fitted probe → a Result with its predictions."""

from __future__ import annotations

import platform
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from sonde import __version__
from sonde.baselines import CONSTANT_BASELINES, baseline
from sonde.data.dataset import Dataset
from sonde.probes import Features, Fit, Model, Probe, fit
from sonde.probes.calibrate import fit_temperature, scaled
from sonde.probes.convex import TrainingStatistics
from sonde.probes.kind import kind_of
from sonde.probes.saved import MAX_SAVED_BYTES, from_arrays, to_arrays
from sonde.result import CONSTANT_INTERVAL, Cell, Result
from sonde.run.folder import MAX_SAVED_CLASSES, Arrays
from sonde.run.parts import Part, Parts, cluster_ids, sampled
from sonde.run.resample import about_encoder, pack_resamples, resample_count, retrain
from sonde.run.shared import SharedCache, TextIndex
from sonde.stats.classification import accuracy, log2_loss, macro_f1
from sonde.stats.information import Information, information, prior
from sonde.stats.intervals import proportion_interval, wilson
from sonde.stats.means import Rows
from sonde.stats.training import Retrained
from sonde.transfer.pairs import compare, juxtapose

T = TypeVar("T")
LogProbs = npt.NDArray[np.float32]
"""Log-probabilities, (n, classes)."""
Bools = npt.NDArray[np.bool_]

PAIRS = {
    **dict.fromkeys(("MRPC", "SICKEntailment", "SICKRelatedness", "STSBenchmark", "STSBenchmark-fix"), compare),
    **dict.fromkeys(("SNLI", "XNLI", "CDSEntailment"), juxtapose),
    "CDSRelatedness": compare,
}
"""What the probe reads of two sentences, by task."""
CENTRE_ROWS = 512
"""Rows whose mean is near enough to the centre of all."""


Table = tuple[npt.NDArray[Any], TextIndex]
"""Vectors (texts, d), and where each text's are."""


@dataclass(frozen=True)
class Vectors:
    """The vectors of one layer."""

    tables: Sequence[Table]
    words: Sequence[Table] = ()
    """Vectors of words as the encoder has them itself, if it does."""

    def features(self, part: Part) -> Features:
        """What a probe reads: the sentence's vector and those of further inputs, side by side."""
        found = [_column(self.tables, part.texts)]
        found += [_column(self.words or self.tables, values) for values in part.inputs.values()]
        tables, places = zip(*found, strict=True)
        return Features(tables, places)

    def rows(self, texts: Sequence[str]) -> npt.NDArray[Any]:
        """The vectors (n, d) of texts, as a copy."""
        for table, place in self.tables:
            if all(map(place.__contains__, texts)):
                copied: npt.NDArray[Any] = table[np.fromiter(map(place.__getitem__, texts), np.int64, len(texts))]
                return copied
        first = self.tables[0][0]
        found = np.empty((len(texts), first.shape[1]), first.dtype)
        missing = np.ones(len(texts), bool)
        for table, place in self.tables:
            here = np.array([place.get(text, -1) for text in texts], np.int64)
            new = missing & (here >= 0)
            found[new] = table[here[new]]
            missing &= ~new
        return found


def _column(tables: Sequence[Table], column: Sequence[str]) -> tuple[npt.NDArray[Any], npt.NDArray[np.int64]]:
    """A table that has all texts of a column, and their places in it; where none has all, a copy of their vectors."""
    for table, place in tables:
        if place.has(column):
            return table, place.of(column)
    return Vectors(tables).rows(column), np.arange(len(column))


@dataclass(frozen=True)
class Unit:
    """Cells that are fitted together: they differ in their seed only."""

    parts: Parts
    cells: Sequence[Cell]
    probe: Probe
    """As used for the task."""
    vectors: Vectors
    baselines: Mapping[str, float]
    encode_seconds: float
    """The set's share of the time the encoder took."""
    resample: int | None = 0
    """Probes to train again without parts of the training rows; None: as many as is usual."""
    plain: Plain | None = None
    """Of controls and measures, what they are to be read beside."""


@dataclass(frozen=True)
class Plain:
    """What a control or a measure is about."""

    parts: Parts
    result: Result | None
    """The plain result, if it is there."""
    others: Sequence[Parts] = ()
    """All sets that the encoder is probed on, this one included."""
    layers: Mapping[str, Vectors] = field(default_factory=dict)
    """The vectors of all layers, of a measure across layers."""
    given: Vectors | None = None
    """The vectors of another encoder, of a measure of what this one adds to it."""
    model: Callable[[], Model | None] = lambda: None
    """The plain probe, if it is done and was kept."""
    shared: SharedCache = field(default_factory=SharedCache)
    """What cells of the encoder have in common."""
    layer: str | None = None

    @property
    def l2(self) -> float | None:
        """The penalty that was chosen for the plain probe, if it is one with penalties."""
        return None if self.result is None else self.result.chosen.get("l2")


def features_of(unit: Unit, part: Part) -> Features:
    """What the probe reads of a part: pairs of sentences as SentEval puts them together, all else side by side."""
    combine = PAIRS.get(unit.parts.task)
    if combine is None or not part.inputs:
        return unit.vectors.features(part)
    one, two = (unit.vectors.features(replace(part, texts=t, inputs={})) for t in (part.texts, *part.inputs.values()))
    return combine(one, two)


def shared(unit: Unit, what: str, size: int, make: Callable[[], T]) -> T:
    """Something that follows from the vectors of a set, made once for all cells; about so many bytes."""
    plain, parts = unit.plain, unit.parts
    return make() if plain is None else plain.shared.get((what, plain.layer, parts.name, parts.digest), size, make)


def statistics_of(unit: Unit, train: Features) -> TrainingStatistics:
    """What fits on the training rows of a set share, whatever their labels."""
    parts, d = unit.parts, train.shape[1]
    make = partial(TrainingStatistics.of, train, parts.train.labels, len(parts.labels), unit.cells[0].device)
    return shared(unit, "ground", 80 * d * d, make)  # with the inverses of some twenty penalties, which it keeps


def probe_unit(
    unit: Unit, *, trained: Fit | None = None, statistics: bool = False
) -> list[tuple[Result, Arrays, Arrays | None]]:
    """Fit and score the cells of a unit, in order: each with its predictions and, if it is small enough, its probe.

    With ``trained`` nothing is fitted, and that probe is scored. ``ground`` says that the training rows are the plain
    ones, so that the linear probe can be fitted on what is known of them.
    """
    parts, classes = unit.parts, len(unit.parts.labels)
    train, dev, test = (features_of(unit, part) for part in (parts.train, parts.dev, parts.test))
    started = time.perf_counter()
    fits = [trained] * len(unit.cells) if trained is not None else fit(
        unit.probe, train, parts.train.labels, dev, parts.dev.labels, classes,
        seeds=[cell.seed for cell in unit.cells], device=unit.cells[0].device,
        statistics=statistics_of(unit, train) if statistics and kind_of(unit.probe).uses_statistics else None,
    )  # fmt: skip
    fitted = (time.perf_counter() - started) / len(fits)
    retrained: Retrained | str | None = None
    found: list[tuple[Result, Arrays, Arrays | None]] = []
    for cell, one in zip(unit.cells, fits, strict=True):
        if trained is None and (retrained is None or kind_of(unit.probe).seeded):
            retrained = _retrain(unit, one, (train, dev, test))
        started = time.perf_counter()
        saved = _saved(one.model, train)
        model = one.model if saved is None else from_arrays(saved)  # what is scored is what is kept
        logs = model.scores(test)
        arrays = saved_predictions(logs, parts.test.labels)
        result = classification_result(cell, parts, arrays["predicted"], parts.test.labels, unit.baselines)
        if retrained is not None:
            result = _about_encoder(result, arrays["predicted"] == arrays["truth"], retrained, parts)
            arrays |= pack_resamples(retrained) if isinstance(retrained, Retrained) else {}
        known = {}
        # of rows that were learned from, labels are known by heart
        if (parts.test.labels >= 0).any() and parts.test is not parts.train:
            calibrated, t = calibrate(logs, model.scores(dev), parts.dev.labels)
            known = {"log2_loss_calibrated": log2_loss(calibrated, parts.test.labels), "temperature": t}
            arrays["log2_calibrated"] = log2_of_true(calibrated, parts.test.labels).astype(np.float32)
            shared = clusters_of(parts.test) or range(len(parts.test))
            if len({shared[i] for i in np.flatnonzero(parts.test.labels >= 0)}) > 1:
                said = information_of(calibrated, parts)
                arrays["pointwise"] = said.pointwise.astype(np.float32)
                known |= {
                    "information": said.bits, "information_low": said.low, "information_high": said.high,
                    "entropy": said.entropy,
                }  # fmt: skip
        found.append(
            (
                replace(
                    result,
                    dimension=train.shape[1],
                    scores={**result.scores, "log2_loss": log2_loss(logs, parts.test.labels), **known},
                    dev_score=one.dev,
                    chosen=one.chosen,
                    tried=tuple(one.tried),
                    seconds={
                        "encode": unit.encode_seconds, "fit": fitted, "score": time.perf_counter() - started
                    },
                ),
                arrays,
                saved,
            )
        )  # fmt: skip
    return found


def _retrain(unit: Unit, one: Fit, features: Sequence[Features]) -> Retrained | str | None:
    """The test rows that other probes have right; or why there are none, if there were to be any."""
    parts = unit.parts
    many = resample_count(unit.resample, unit.probe, *features[0].shape, len(parts.labels))
    if not many or parts.test is parts.train:
        return None
    return retrain(unit.probe, one, many, parts, features, unit.cells[0].device)


def _about_encoder(result: Result, correct: Bools, retrained: Retrained | str, parts: Parts) -> Result:
    if isinstance(retrained, str):
        return replace(result, not_resampled=retrained)
    interval, deviation = about_encoder(correct, retrained, clusters_of(parts.test))
    return replace(result, encoder_interval=interval, training_sd=deviation, resamples=len(retrained.trained))


def calibrate(logs: LogProbs, dev_logs: LogProbs, dev_labels: npt.NDArray[np.int64]) -> tuple[LogProbs, float]:
    """Log-probabilities of test rows (n, classes) at the temperature that is best on dev, and that temperature.

    Test labels have no part in it. Where dev has no label that train has, the temperature is 1.
    """
    t = fit_temperature(dev_logs, dev_labels) if (dev_labels >= 0).any() else 1.0
    return scaled(logs, t), t


def information_of(logs: LogProbs, parts: Parts) -> Information:
    """What calibrated log-probabilities of the test rows (n, classes) tell about their labels."""
    labels = parts.test.labels
    return information(
        log2_of_true(logs, labels), labels, prior(parts.train.labels, len(parts.labels)),
        clusters=clusters_of(parts.test),
    )  # fmt: skip


def log2_of_true(logs: LogProbs, labels: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    """The logarithms, to the base of 2, of the probabilities of the true labels (n,); minus infinity for one unmet."""
    found: npt.NDArray[np.float64] = np.where(labels >= 0, logs[np.arange(len(logs)), labels] / np.log(2), -np.inf)
    return found


def clusters_of(part: Part) -> list[str] | None:
    """What rows of a part share, by which they stand and fall together."""
    return cluster_ids(part.keys, part.texts)


def saved_arrays(model: Model, train: Features) -> Arrays:
    """The probe as a run keeps it, whose weights are rounded."""
    return to_arrays(model, train.take(slice(0, CENTRE_ROWS)).mean(axis=0, dtype=np.float64))


def _saved(model: Model, train: Features) -> Arrays | None:
    """The probe to keep, if it is small enough."""
    found = saved_arrays(model, train)
    return found if sum(array.nbytes for array in found.values()) <= MAX_SAVED_BYTES else None


def baseline_result(cell: Cell, dataset: Dataset, parts: Parts) -> tuple[Result, Arrays]:
    """What a baseline that learns from words reaches, as a result like any other."""
    started = time.perf_counter()
    used = sampled(dataset, parts.limit)
    said = baseline(cell.encoder, used)
    # where rows are held out to choose on, a baseline still learns from all, and may know more labels
    labels = tuple(sorted({*parts.labels, *said.labels}))
    number = {label: i for i, label in enumerate(labels)}
    predicted = np.array([number[label] for label in said.labels], np.int32)
    truth = np.array([number.get(row.label, -1) for row in used.rows["te"]], np.int32)
    arrays = {"predicted": predicted, "truth": truth}
    result = without_interval(replace(classification_result(cell, parts, predicted, truth, {}), labels=labels))
    trained_on, chosen_on = said.settings["trained_on"], said.settings.get("chosen_on")
    whole = len(parts.train) + (len(parts.dev) if parts.chosen_on != "va" else 0)
    n = {**result.n, "tr": whole, "va": len(parts.dev) if chosen_on else 0}
    return (
        replace(
            result,
            n=n,
            trained_on=str(trained_on),
            chosen_on=None if chosen_on is None else str(chosen_on),
            chosen=dict(said.settings),
            seconds={"fit": time.perf_counter() - started},
        ),
        arrays,
    )


def without_interval(result: Result) -> Result:
    """The same where a baseline looks at no row: its score is a fact of the set, and not an estimate of anything.

    Another sample of a natural distribution would have other shares of labels; what that does to a difference from the
    baseline is in the paired test, which draws both on the same rows.
    """
    if result.cell.encoder not in CONSTANT_BASELINES:
        return result
    return replace(result, interval=(result.score,) * 2, cluster_interval=None, interval_kind=CONSTANT_INTERVAL)


def saved_predictions(logs: npt.NDArray[np.float32], truth: npt.NDArray[np.int64]) -> dict[str, npt.NDArray[Any]]:
    """What is kept of the log-probabilities (n, classes)."""
    predicted = logs.argmax(axis=1)
    rows = np.arange(len(logs))
    found = {
        "predicted": predicted.astype(np.int32),
        "truth": truth.astype(np.int32),
        "log2": log2_of_true(logs, truth).astype(np.float32),
        "confidence": np.exp(logs[rows, predicted]).astype(np.float16),
    }
    return {**found, "probabilities": np.exp(logs).astype(np.float16)} if logs.shape[1] <= MAX_SAVED_CLASSES else found


def classification_result(
    cell: Cell, parts: Parts, predicted: npt.NDArray[Any], truth: npt.NDArray[Any], baselines: Mapping[str, float]
) -> Result:
    """The result of a classifier that gave the test rows (n) these labels."""
    n = len(truth)
    correct = predicted == truth
    low, high = wilson(float(correct.sum()), n)
    clusters = clusters_of(parts.test) or []
    several = len(set(clusters))
    return Result(
        key=cell.key,
        cell=cell,
        language=parts.language,
        labels=parts.labels,
        n={"tr": len(parts.train), "va": len(parts.dev), "te": n},
        trained_on=parts.trained_on,
        chosen_on=parts.chosen_on,
        score=accuracy(predicted, truth),
        scores={"macro_f1": macro_f1(predicted, truth)},
        interval=(low, high),
        cluster_interval=_of_clusters(correct, clusters) if several > 1 else None,
        clusters=several or None,
        baselines=baselines,
        versions=versions(),
        synthetic=parts.synthetic,
    )


def _of_clusters(correct: Bools, clusters: Sequence[str]) -> tuple[float, float]:
    rows = Rows.of(len(correct), clusters)
    return proportion_interval(rows.mean(correct), rows)


def versions() -> dict[str, str]:
    """The versions of what a number may depend on, of modules that are loaded."""
    found = {"sonde": __version__, "python": platform.python_version()}
    for name in ("numpy", "scipy", "numba", "torch", "transformers", "sentence_transformers"):
        module = sys.modules.get(name)
        if module is not None and isinstance(getattr(module, "__version__", None), str):
            found[name] = str(module.__version__)  # torch's is a kind of string of its own
    return found
