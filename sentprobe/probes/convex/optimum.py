"""Logistic regression brought to its optimum, with the L2 penalty of a grid that dev chooses.

    mean cross-entropy + l2 / 2 * |W|²

The biases are not penalised, and two classes are one logit, that is one row of W: the optimum is that of scikit-learn's
``LogisticRegression(C=1 / (n * l2))`` on the same vectors. It does not depend on a seed.

With ``standardise`` the weights that are penalised are those of dimensions brought to mean 0 and deviation 1 on the
training rows; a constant dimension keeps its scale. The rows themselves do not change: means and deviations go into the
weights.

The search is L-BFGS, preconditioned by the correlations of the dimensions in a sample of rows. It reads float32 rows
block by block and accumulates in float64 (sparse rows: in float32). Dev chooses the highest accuracy, or with
``watch="loss"`` the lowest loss; ties in accuracy go to the lowest loss, then to the strongest penalty. The chosen
penalty is brought to its optimum, where the search's model of the objective predicts a gain of less than
``tolerance_for`` times the entropy of the classes, or as far as ``probe.passes`` reads of the rows allow; others only
so far that dev can tell (``convex.path``). ``Fit.tried`` has those that were tried, the strongest first, and says which
have converged.

A class without training rows would have an unbounded bias. It gets no weights, and a bias with which all such classes
together are as probable as half a training row, where the other logits are at their biases.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from sentprobe.core.resources import single_threaded
from sentprobe.errors import ShapeError
from sentprobe.probes.convex.data import MAX_FACTORED_DIMENSIONS, TrainingData, TrainingStatistics, curvature_of
from sentprobe.probes.convex.engine import balanced, engine_of
from sentprobe.probes.convex.linear import Linear
from sentprobe.probes.convex.path import MAX_COLUMNS, FewRows, PenalisedLoss, dev_scorer, follow
from sentprobe.probes.convex.preconditioner import Preconditioner
from sentprobe.probes.convex.rows import sort_rows
from sentprobe.probes.convex.search import End, by_search, run_searches
from sentprobe.probes.features import Doubles, Features, Ints
from sentprobe.probes.kind import Fit
from sentprobe.probes.probe import Probe

TOLERANCE = 1e-8
"""With it, probabilities of the training rows differ by at most about 1e-3 from those at an optimum found with far more
effort."""
MANY_TOLERANCE, MANY_PENALTY = 2e-7, 1e-3
"""For more outputs than share a read: the first is enough for penalties from the second on. The objective is flatter
with a weaker one, and its tolerance smaller in proportion, down to ``TOLERANCE``: a thousand classes with 10 to 100
rows each are then within 0.1 points of dev accuracy at the optimum, and 0.002 of its loss."""


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
    """Follow the regularisation path of the probe; each seed gets the optimum that dev chooses.

    ``statistics`` are those of the training rows, if they are known.
    """
    for name, features, targets in (("training", train, labels), ("dev", dev, dev_labels)):
        if len(features) != len(targets) or not len(features):
            raise ShapeError(
                f"There are {len(features)} {name} rows and {len(targets)} labels; expected one label per row, and at "
                "least one row."
            )
    train, order = sort_rows(train, labels)
    labels, counts = labels[order], np.bincount(labels, minlength=classes)
    with single_threaded():  # with more, sums depend on how many
        weighted = probe.weights == "balanced"
        engine = balanced(engine_of(device), counts) if weighted else engine_of(device)
        data = TrainingData.of(train, labels, counts, engine, statistics)
        outputs = len(curvature_of(data.shares))
        preconditioner: Preconditioner = (
            data.preconditioner(outputs, len(probe.l2))
            if statistics is None or not statistics.preconditions
            else statistics
        )
        tried, best = follow(
            PenalisedLoss(
                data,
                preconditioner,
                probe.standardise,
                FewRows.of(train, labels, counts, engine, data, standardise=probe.standardise),
            ),
            probe.l2,
            dev_scorer(dev, dev_labels, exact=data.far, by_class=weighted),
            lambda scores: select_best(probe, [dev.accuracy for dev in scores], [dev.loss for dev in scores]),
            counts,
            tolerance=partial(tolerance_for, outputs),
            limit=probe.passes,
            by_accuracy=probe.watch == "accuracy",
        )
    points = [
        {
            "l2": point.l2,
            "accuracy": point.dev.accuracy,
            "loss": point.dev.loss,
            "passes": point.end.passes,
            "converged": point.refined and point.end.converged,
        }
        for point in tried
    ]
    chosen = tried[best]
    candidates = [point.model for point in tried]
    return [Fit(chosen.model, seed, {"l2": chosen.l2}, chosen.dev.accuracy, points, candidates) for seed in seeds]


def tolerance_for(outputs: int, l2: float) -> float:
    """How near to its optimum a penalty is brought."""
    if outputs <= MAX_COLUMNS:
        return TOLERANCE
    return max(TOLERANCE, MANY_TOLERANCE * min(1.0, l2 / MANY_PENALTY))


def select_best(probe: Probe, accuracies: Sequence[float], losses: Sequence[float]) -> int:
    """The index of the best penalty on dev, of those tried, the strongest first; ties go to the lowest loss."""
    by_accuracy = probe.watch == "accuracy"
    return max(range(len(accuracies)), key=lambda i: (accuracies[i] if by_accuracy else 0.0, -losses[i], -i))


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
    engine = engine_of(device)
    data = TrainingData.of(train, labels, counts, engine, statistics)
    point = None if start is None else data.point_of(start, counts)
    objective = PenalisedLoss(data, statistics, few=FewRows.of(train, labels, counts, engine, data, standardise=True))
    return [data.model_at(end.point, counts) for end in _search(objective, l2, point, tolerance, limit)]


def _search(
    objective: PenalisedLoss, penalties: Sequence[float | Doubles], start: Doubles | None, tolerance: float, limit: int
) -> list[End]:
    """The end of the search for each penalty."""
    data = objective.data
    point = objective.start() if start is None else start
    outputs, d = len(point), data.features.shape[1]
    if len(data.shares) == 1:
        return [End(point, (0.0, point), 0, True)] * len(penalties)
    value = data.values([point])[0]
    strong_first = sorted(range(len(penalties)), key=lambda i: -float(np.median(penalties[i])))
    together = d <= MAX_FACTORED_DIMENSIONS and len(strong_first) * outputs <= MAX_COLUMNS
    ends: dict[int, End] = {}
    for group in [strong_first] if together else [[i] for i in strong_first]:
        searches = {i: objective.search(penalties[i], point, value, tolerance=tolerance, limit=limit) for i in group}
        ends |= run_searches(searches, by_search(data.values))
        if not together:
            point, value = ends[group[0]].point, ends[group[0]].value
    return [ends[i] for i in range(len(penalties))]
