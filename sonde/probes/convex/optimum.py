"""Logistic regression brought to its optimum, for every L2 penalty of a grid.

    mean cross-entropy + l2 / 2 * |W|²

The biases are not penalised, and two classes are one logit, that is one row of W: the optimum is that of scikit-learn's
``LogisticRegression(C=1 / (n * l2))`` on the same vectors. It does not depend on a seed.

With ``standardise`` the weights that are penalised are those of dimensions brought to mean 0 and deviation 1 on the
training rows; a constant dimension keeps its scale. The rows themselves do not change: means and deviations go into the
weights.

The search is L-BFGS, preconditioned by the correlations of the dimensions on a sample of rows. It reads float32 rows
block by block and accumulates in float64. The penalties share each read of the rows if they make few columns; otherwise
each starts from the optimum of the next stronger one. A search has converged when its model of the objective predicts a
gain of less than ``TOLERANCE`` times the entropy of the classes, and gives up after ``probe.passes`` reads;
``Fit.tried`` says which. Dev chooses the highest accuracy, or with ``watch="loss"`` the lowest loss; ties in accuracy
go to the lowest loss, then to the strongest penalty.

A class without training rows would have an unbounded bias. It gets no weights, and a bias with which all such classes
together are as probable as half a training row, where the other logits are at their biases.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from sonde.core.threads import single_threaded
from sonde.errors import ShapeError
from sonde.probes.convex.data import MAX_FACTORED_DIMENSIONS, Data, Ints, TrainingStatistics, curvature_of, engine_of
from sonde.probes.convex.engine import Doubles
from sonde.probes.convex.linear import Linear, log_probabilities
from sonde.probes.convex.search import End, Search, Value, descend, in_line, run, solver
from sonde.probes.features import Features
from sonde.probes.model import Fit
from sonde.probes.probe import Probe

TOLERANCE = 3e-8
"""With it, probabilities differ by at most about 1e-3 from those at an optimum found with far more effort."""
MAX_COLUMNS = 64
"""Columns, penalties times outputs, up to which they share a read; with more, products are no faster per column."""


def fit(
    probe: Probe,
    train: Features,
    labels: Ints,
    dev: Features,
    dev_labels: Ints,
    classes: int,
    *,
    seeds: Sequence[int],
    device: str | None = None,
    statistics: TrainingStatistics | None = None,
) -> list[Fit]:
    """Find the optimum for every L2 of the probe; each seed gets the one that dev chooses.

    ``statistics`` are those of the training rows, if they are known.
    """
    for name, rows, given in (("training", train, labels), ("dev", dev, dev_labels)):
        if len(rows) != len(given) or not len(rows):
            raise ShapeError(
                f"There are {len(rows)} {name} rows and {len(given)} labels; expected one label per row, and at least "
                "one row."
            )
    counts = np.bincount(labels, minlength=classes)
    with single_threaded():  # with more, sums depend on how many
        data = Data.of(train, labels, counts, engine_of(device), statistics)
        ends = _search(data, probe.l2, standardise=probe.standardise, limit=probe.passes, statistics=statistics)
        models = [data.model_at(end.point, counts) for end in ends]
        judged = [_judge(model, dev, dev_labels) for model in models]
    tried = [
        {"l2": l2, "accuracy": accuracy, "loss": loss, "passes": end.passes, "converged": end.converged}
        for l2, (accuracy, loss), end in zip(probe.l2, judged, ends, strict=True)
    ]
    best = select_best(probe, *zip(*judged, strict=True))
    return [Fit(models[best], seed, {"l2": probe.l2[best]}, judged[best][0], tried, models) for seed in seeds]


def select_best(probe: Probe, accuracies: Sequence[float], losses: Sequence[float]) -> int:
    """The index of the best penalty on dev; ties go to the lowest loss, then to the strongest penalty."""
    strong_first = sorted(range(len(accuracies)), key=lambda i: -probe.l2[i])
    return max(strong_first, key=lambda i: (accuracies[i] if probe.watch == "accuracy" else 0.0, -losses[i]))


def optima(
    statistics: TrainingStatistics,
    train: Features,
    labels: Ints,
    classes: int,
    l2: Sequence[float | Doubles],
    *,
    start: Linear | None = None,
    tolerance: float = TOLERANCE,
    limit: int = 200,
    device: str | None = None,
) -> list[Linear]:
    """The optimum for each penalty, on rows standardised by ``statistics``; ``start`` is a model near it.

    A penalty is a number, or one per dimension (d,).
    """
    if train.shape != (len(labels), len(statistics.mean)):
        raise ShapeError(
            f"The rows are {train.shape}; expected ({len(labels)}, {len(statistics.mean)}), by the labels and the "
            "statistics."
        )
    counts = np.bincount(labels, minlength=classes)
    data = Data.of(train, labels, counts, engine_of(device), statistics)
    point = None if start is None else data.point_of(start, counts)
    ends = _search(data, l2, statistics=statistics, start=point, tolerance=tolerance, limit=limit)
    return [data.model_at(end.point, counts) for end in ends]


def _judge(model: Linear, dev: Features, labels: Ints) -> tuple[float, float]:
    """Accuracy, and mean loss over the rows whose label is known."""
    logs, known = log_probabilities(model, dev), np.flatnonzero(labels >= 0)
    loss = -logs[known, labels[known]].mean(dtype=np.float64) if len(known) else np.nan
    return float((logs.argmax(axis=1) == labels).mean()), float(loss)


def _search(
    data: Data,
    penalties: Sequence[float | Doubles],
    *,
    standardise: bool = True,
    limit: int,
    statistics: TrainingStatistics | None = None,
    start: Doubles | None = None,
    tolerance: float = TOLERANCE,
) -> list[End]:
    """The end of the search for each penalty."""
    d, curvature = data.features.shape[1], curvature_of(data.shares)
    outputs = len(curvature)
    point = np.zeros((outputs, d + 1))
    if len(data.shares) == 1:
        return [End(point, (0.0, point), 0, True)] * len(penalties)
    point[:, -1] = np.log(data.shares[1] / data.shares[0]) if outputs == 1 else np.log(data.shares)
    point = point if start is None else start
    value = data.values([point])[0]
    gain = -tolerance * float(data.shares @ np.log(data.shares))
    correlations = data.correlations() if statistics is None else statistics.correlations
    typical = [float(np.median(l2)) for l2 in penalties]
    strong_first = sorted(range(len(penalties)), key=lambda i: -typical[i])

    def begin(i: int, point: Doubles, value: Value, first: Doubles | None = None) -> Search:
        l2 = penalties[i]
        penalty = np.full(d, l2) if standardise else l2 / data.scale**2
        known = statistics.inverse(l2) if statistics is not None and standardise and isinstance(l2, float) else None
        solve = solver(correlations, curvature, penalty, known)
        return descend(point, value, np.append(penalty, 0.0), solve, tolerance=gain, limit=limit, first=first)

    if correlations is not None and d <= MAX_FACTORED_DIMENSIONS and len(strong_first) * outputs <= MAX_COLUMNS:
        found = run({i: begin(i, point, value) for i in strong_first}, in_line(data.values))
        return [found[i] for i in range(len(penalties))]
    ends: dict[int, End] = {}
    for place, i in enumerate(strong_first):
        first = None
        if place > 1 and typical[i] > 0:  # the optimum moves about evenly in the logarithm of the penalty
            older, old = strong_first[place - 2 : place]
            if typical[older] > typical[old]:
                step = np.log(typical[old] / typical[i]) / np.log(typical[older] / typical[old])
                first = (point - ends[older].point) * step
        end = run({i: begin(i, point, value, first)}, in_line(data.values))[i]
        point, value = end.point, end.value
        ends[i] = replace(end, value=(value[0], np.empty(0)))  # a gradient is as large as a model
    return [ends[i] for i in range(len(penalties))]
