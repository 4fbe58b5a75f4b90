"""What an encoder knows beyond another one: conditional information (Hewitt et al. 2021).

One probe reads the other's vectors, the second both, on the same rows. Penalties are chosen on dev by the loss, as bits
are asked for, and probabilities are calibrated there. In the second probe the other's vectors keep their
penalty, and the encoder's own have one of their own, up to so strong that they are as good as ignored: with one penalty
for both, vectors that tell nothing would cost bits. ``given:`` may be followed by any encoder. ``length`` and ``words``
are baselines: the number of tokens, and words by their hash.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sonde.probes import Features
from sonde.probes.calibrate import fit_temperature, scaled
from sonde.probes.convex import MAX_CACHED_BYTES, Linear, TrainingStatistics, optima
from sonde.run.measure import GIVEN, Finished, Measure
from sonde.run.parts import Part, has_train_test_split
from sonde.run.scoring import LogProbs, classification_result, log2_of_true, saved_predictions
from sonde.run.unit import Unit, clusters_of, features_of
from sonde.run.variant import VariantColumn, bits
from sonde.stats.classification import log2_loss
from sonde.stats.information import conditional

CONDITIONAL_PENALTIES = (1e-3, 1e-2, 1e-1, 1.0)
"""Penalties. Weaker ones cost most of the time, and are hardly ever best by loss."""
FACTORS = (0.1, 1.0, 10.0, 100.0)
"""Of the penalty, for the encoder's own vectors."""
CONDITIONAL_ROWS_PER_DIMENSION = 8
"""Rows per dimension from which correlations of both are taken: with twice as many, searches are no shorter."""
CONDITIONAL_TOLERANCE, CONDITIONAL_MAX_PASSES = 1e-6, 100
"""How near to an optimum is near enough, as in ``convex``, and readings after which a search ends anyway: a length that
tells the label is learned better and better without end."""


class _Probe(NamedTuple):
    """A probe that dev chose."""

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
    one, logs_one = _told(alone, test[0], parts.test.labels)
    two, logs_two = _told(both, test[1], parts.test.labels)
    said = conditional(two, one, parts.test.labels, clusters=clusters_of(parts.test))
    arrays = saved_predictions(logs_two, parts.test.labels)
    result = classification_result(cell, parts, arrays["predicted"], parts.test.labels, {})
    without = float((logs_one.argmax(axis=1) == parts.test.labels).mean())
    result = replace(
        result, dimension=train[1].shape[1], metric="bits", score=said.bits, interval=(said.low, said.high),
        interval_kind="bootstrap",
        scores={"accuracy": result.score, "accuracy_without": without, "entropy": said.entropy},
        cluster_interval=None, chosen={"l2": alone.l2},
        seconds={"encode": 0.0, "fit": time.perf_counter() - started},
    )  # fmt: skip
    return [(result, {"pointwise": said.pointwise.astype(np.float32)}, None)]


def _given(unit: Unit, part: Part) -> Features:
    """The vectors of the other encoder."""
    assert unit.plain is not None
    assert unit.plain.given is not None
    return features_of(replace(unit, vectors=unit.plain.given), part)


def _both(unit: Unit, part: Part) -> Features:
    """The vectors of the other encoder, and beside them the encoder's own; put together once, if there is room."""
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
        statistics, train, parts.train.labels, len(parts.labels), l2, start=start, tolerance=CONDITIONAL_TOLERANCE,
        limit=CONDITIONAL_MAX_PASSES,
        device=device,
    )  # fmt: skip


def _best(unit: Unit, dev: Features, l2s: Sequence[float], models: Sequence[Linear]) -> _Probe:
    """The probe with the lowest loss on dev, after calibration."""
    labels, found = unit.parts.dev.labels, list[_Probe]()
    for l2, model in zip(l2s, models, strict=True):
        logs = model.scores(dev)
        temperature = fit_temperature(logs, labels)
        found.append(_Probe(log2_loss(scaled(logs, temperature), labels), temperature, l2, model))
    return min(found, key=lambda probe: probe.loss)


def _told(probe: _Probe, test: Features, labels: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.float64], LogProbs]:
    """The logarithms of the probabilities of the true labels (n,), after calibration; and of all classes."""
    logs = probe.model.scores(test)
    return log2_of_true(scaled(logs, probe.temperature), labels), logs


def conditional_on(encoder: str) -> Measure:
    """What is known beyond any encoder."""
    return _measure(encoder, encoder, f"those of {encoder}")


def _measure(name: str, encoder: str, what: str, order: int = 1000) -> Measure:
    return Measure(
        name=f"{GIVEN}{name}",
        order=order,
        interpretation=f"Bits about the label that the vectors add to {what}; if not above 0, they tell nothing more.",
        columns=(VariantColumn(("adds to", name, "bits"), bits),),
        applies_to=lambda parts: has_train_test_split(parts) and not parts.train.inputs,
        compute=compute,
        given=encoder,
    )


measures = (
    _measure("length", "baseline:length", "the number of tokens", 30),
    _measure("words", "baseline:hash?dim=256", "a bag of words, hashed to 256 dimensions", 40),
)
