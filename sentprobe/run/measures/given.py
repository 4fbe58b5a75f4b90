"""What an encoder knows beyond another one: conditional usable information (Hewitt et al. 2021).

One probe reads the other encoder's vectors, the second one both, on the same rows. Penalties are chosen on dev by the
loss, since the result is in bits, and probabilities are calibrated there. In the second probe the other encoder's
vectors keep their penalty, and the encoder's own have a separate one, up to a value that practically ignores them: with
one penalty for both, uninformative vectors would cost bits. ``given:`` may be followed by any encoder. ``length`` and
``words`` are baselines: the number of tokens, and hashed words.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sentprobe.probes import Features
from sentprobe.probes.calibrate import fit_temperature, scaled
from sentprobe.probes.convex import MAX_CACHED_BYTES, Linear, TrainingStatistics, optima
from sentprobe.run.measure import GIVEN, Finished, Measure
from sentprobe.run.parts import Part, has_train_test_split
from sentprobe.run.scoring import LogProbs, classification_result, log2_of_true, saved_predictions
from sentprobe.run.unit import Unit, clusters_of, features_of
from sentprobe.run.variant import Explanation, VariantColumn, adds_nothing, bits
from sentprobe.stats.classification import log2_loss
from sentprobe.stats.information import conditional

CONDITIONAL_PENALTIES = (1e-3, 1e-2, 1e-1, 1.0)
"""L2 penalties. Weaker ones take most of the time, and hardly ever have the lowest loss."""
FACTORS = (0.1, 1.0, 10.0, 100.0)
"""Factors of the penalty for the encoder's own vectors."""
CONDITIONAL_ROWS_PER_DIMENSION = 8
"""Rows per dimension for estimating correlations of both: twice as many do not speed up convergence."""
CONDITIONAL_TOLERANCE, CONDITIONAL_MAX_PASSES = 1e-6, 100
"""Convergence tolerance, as in ``convex``, and the maximum number of passes: if length determines the label, the loss
falls without end."""


class _Probe(NamedTuple):
    """The probe chosen on dev."""

    loss: float
    """On dev, in bits."""
    temperature: float
    l2: float
    model: Linear


def compute(unit: Unit) -> list[Finished]:
    """The bits per test row that the encoder adds."""
    parts, (cell,) = unit.parts, unit.cells
    started = time.perf_counter()
    train, dev, test = ((_given(unit, part), _both(unit, part)) for part in (parts.train, parts.dev, parts.test))
    labels, classes = parts.train.labels, len(parts.labels)
    statistics = TrainingStatistics.of(train[0], labels, classes, cell.device)
    alone = _best(unit, dev[0], CONDITIONAL_PENALTIES, _fits(unit, train[0], statistics, CONDITIONAL_PENALTIES))
    own, width = train[1].shape[1] - train[0].shape[1], train[0].shape[1]
    penalties = [np.repeat([alone.l2, factor * alone.l2], [width, own]) for factor in FACTORS]
    whole = TrainingStatistics.of(train[1], labels, classes, cell.device, CONDITIONAL_ROWS_PER_DIMENSION)
    start = Linear(np.pad(alone.model.weights, ((0, 0), (0, own))), alone.model.bias)
    both = _best(unit, dev[1], [alone.l2] * len(FACTORS), _fits(unit, train[1], whole, penalties, start))
    one, logs_one = _log2_and_logs(alone, test[0], parts.test.labels)
    two, logs_two = _log2_and_logs(both, test[1], parts.test.labels)
    added = conditional(two, one, parts.test.labels, clusters=clusters_of(parts.test))
    arrays = saved_predictions(logs_two, parts.test.labels)
    result = classification_result(cell, parts, arrays["predicted"], parts.test.labels, {})
    without = float((logs_one.argmax(axis=1) == parts.test.labels).mean())
    result = replace(
        result, dimension=train[1].shape[1], metric="bits", score=added.bits, interval=(added.low, added.high),
        interval_kind="bootstrap",
        scores={"accuracy": result.score, "accuracy_without": without, "entropy": added.entropy},
        cluster_interval=None, chosen={"l2": alone.l2},
        seconds={"encode": 0.0, "fit": time.perf_counter() - started},
    )  # fmt: skip
    return [(result, {"pointwise": added.pointwise.astype(np.float32)}, None)]


def _given(unit: Unit, part: Part) -> Features:
    """The vectors of the other encoder."""
    assert unit.plain is not None
    assert unit.plain.given is not None
    return features_of(replace(unit, vectors=unit.plain.given), part)


def _both(unit: Unit, part: Part) -> Features:
    """The vectors of the other encoder and the encoder's own, concatenated; copied once if they fit into memory."""
    other, own = _given(unit, part), features_of(unit, part)
    both = Features((*other.tables, *own.tables), (*other.places, *own.places))
    return Features.of(both.take(slice(None))) if 4 * math.prod(both.shape) <= MAX_CACHED_BYTES else both


def _fits(
    unit: Unit,
    train: Features,
    statistics: TrainingStatistics,
    l2: Sequence[float | npt.NDArray[np.float64]],
    start: Linear | None = None,
) -> list[Linear]:
    parts, device = unit.parts, unit.cells[0].device
    return optima(
        statistics, train, parts.train.labels, len(parts.labels), l2, start=start,
        tolerance=CONDITIONAL_TOLERANCE, limit=CONDITIONAL_MAX_PASSES, device=device,
    )  # fmt: skip


def _best(unit: Unit, dev: Features, l2s: Sequence[float], models: Sequence[Linear]) -> _Probe:
    """The probe with the lowest loss on dev, after calibration."""
    labels, found = unit.parts.dev.labels, list[_Probe]()
    for l2, model in zip(l2s, models, strict=True):
        logs = model.scores(dev)
        temperature = fit_temperature(logs, labels)
        found.append(_Probe(log2_loss(scaled(logs, temperature), labels), temperature, l2, model))
    return min(found, key=lambda probe: probe.loss)


def _log2_and_logs(
    probe: _Probe, test: Features, labels: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.float64], LogProbs]:
    """Calibrated log2 probabilities of the true labels (n,), and log-probabilities of all classes."""
    logs = probe.model.scores(test)
    return log2_of_true(scaled(logs, probe.temperature), labels), logs


def conditional_on(encoder: str) -> Measure:
    """The measure of what an encoder adds to another one, given by name."""
    return _measure(encoder, encoder, f"those of {encoder}")


def _measure(name: str, encoder: str, what: str, order: int = 1000, explanation: Explanation | None = None) -> Measure:
    return Measure(
        name=f"{GIVEN}{name}",
        order=order,
        interpretation=f"Bits about the label that the vectors add to {what}; if not above 0, they add nothing.",
        columns=(VariantColumn(("adds to", name, "bits"), bits),),
        applies_to=lambda parts: has_train_test_split(parts) and not parts.train.inputs,
        compute=compute,
        given=encoder,
        objection=adds_nothing(explanation, what) if explanation else None,
    )


measures = (
    _measure("length", "baseline:length", "the number of tokens", 30, "length"),
    _measure("words", "baseline:hash?dim=256", "a bag of words, hashed to 256 dimensions", 40, "words"),
)
