"""The regularisation path: from the strongest penalty of a grid to the weakest, each as far as dev needs it.

A penalty, or several that share the reads of the rows, start near the optimum of a stronger one and are first brought
roughly to their own. Where a weaker penalty is significantly worse on dev than a stronger one, because the probe has
begun to fit noise, still weaker ones are not tried. Then the one that dev chooses is brought to its optimum, and so on
until the one that it chooses is there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial

import numpy as np

from sentprobe.probes.convex import few_rows
from sentprobe.probes.convex.data import TrainingData, curvature_of
from sentprobe.probes.convex.engine import LogisticEngine
from sentprobe.probes.convex.linear import Linear, logits
from sentprobe.probes.convex.preconditioner import Preconditioner
from sentprobe.probes.convex.search import End, Search, Solve, StepPair, Value, by_search, descend, run_searches
from sentprobe.probes.features import Doubles, Features, Ints

ROUGH = 1e-5
"""The tolerance of the first search: dev accuracies are then within about 0.1 points of those at the optimum, and
losses within about 0.001. With a thousand classes and ten rows of each, it is 0.6 points and 0.03 for the weakest
penalties, which are further apart than that."""
ROUGH_FEW = 1e-6
"""The same for few rows, where another step gains more and costs less."""
WAVE, MAX_COLUMNS, WAVE_ROWS = 3, 64, 16
"""Penalties that share each read of the rows, if they make at most so many columns, penalties times outputs: with more,
products are no faster per column. With fewer rows per dimension than the third, a weak penalty takes far more passes
than a strong one, which is better done first."""
SIGNIFICANT, MIN_DEV_ROWS = 3.0, 50
"""Standard errors of a difference on dev beyond which it is significant, and the rows it takes to tell."""


@dataclass(frozen=True, eq=False)
class DevScores:
    """How a classifier does on the dev rows."""

    correct: Doubles
    """(n,): 1 or 0; times the weight of its class, where classes count the same."""
    losses: Doubles
    """Of the rows whose label is known."""

    @property
    def accuracy(self) -> float:
        """The share of the rows that are right."""
        return float(self.correct.mean())

    @property
    def loss(self) -> float:
        """The mean over the rows whose label is known."""
        return float(self.losses.mean()) if len(self.losses) else float("nan")


@dataclass(frozen=True, eq=False)
class PathPoint:
    """A penalty that was tried."""

    l2: float
    end: End
    model: Linear
    dev: DevScores
    refined: bool = False
    """Whether it was brought to its optimum, as far as the limit of passes allows."""

    def without_arrays(self) -> PathPoint:
        """The same with a model in float32, and no other large array."""
        return replace(self, model=Linear(**self.model.to_arrays()), end=self.end.without_arrays())


@dataclass(frozen=True, eq=False)
class FewRows:
    """Few training rows, whose coordinates are computed once they are needed."""

    make: Callable[[], tuple[few_rows.RowSpace, TrainingData]]

    @classmethod
    def of(
        cls,
        train: Features,
        labels: Ints,
        counts: Ints,
        engine: LogisticEngine,
        data: TrainingData,
        *,
        standardise: bool,
    ) -> FewRows | None:
        """Those of the training rows that ``data`` are; None if there are more."""
        if not few_rows.suits(train):
            return None

        def make() -> tuple[few_rows.RowSpace, TrainingData]:
            space = few_rows.RowSpace.of(train, data.mean, data.scale, standardise=standardise)
            return space, TrainingData.few(space, labels, counts, engine)

        return cls(cache(make))

    def search(self, point: Doubles, l2: float, *, tolerance: float, limit: int, entropy: float, confirm: bool) -> End:
        """The end of the search for one penalty from a point (outputs, d + 1)."""
        space, data = self.make()
        inner = space.to_coordinates(point)
        search = few_rows.search(
            data.features.take(slice(None)),
            inner,
            data.values([inner])[0],
            np.append(np.full(inner.shape[1] - 1, l2), 0.0),
            tolerance=min(tolerance, ROUGH_FEW),
            entropy=entropy,
            limit=limit,
            confirm=confirm,
        )
        end = run_searches({0: search}, by_search(data.values))[0]
        return replace(end, point=space.from_coordinates(end.point))


@dataclass(frozen=True, eq=False)
class PenalisedLoss:
    """Mean cross-entropy + penalty on the training rows; and the searches for its optimum."""

    data: TrainingData
    preconditioner: Preconditioner
    standardise: bool = True
    few: FewRows | None = None
    """If there are no more rows than dimensions."""
    solves: dict[float, Solve] = field(default_factory=dict)

    @property
    def entropy(self) -> float:
        """That of the classes, which tolerances are relative to."""
        return -float(self.data.shares @ np.log(self.data.shares))

    def start(self) -> Doubles:
        """The point (outputs, d + 1) without weights, whose biases are the classes' shares."""
        shares, d = self.data.shares, self.data.features.shape[1]
        point = np.zeros((len(curvature_of(shares)), d + 1), self.data.precision)
        if len(shares) > 1:
            point[:, -1] = np.log(shares[1] / shares[0]) if len(shares) == 2 else np.log(shares)
        return point

    def search(
        self,
        l2: float | Doubles,
        point: Doubles,
        value: Value,
        *,
        tolerance: float,
        limit: int,
        first: Doubles | None = None,
        memory: Sequence[StepPair] = (),
        scale: float = 1.0,
    ) -> Search:
        """The search for one penalty, a number or one per dimension (d,)."""
        d = self.data.features.shape[1]
        penalty = np.full(d, l2) if self.standardise else l2 / self.data.scale**2
        search = partial(
            descend,
            point,
            value,
            np.append(penalty, 0.0),
            tolerance=tolerance * self.entropy,
            limit=limit,
            first=first,
            memory=memory,
            scale=scale,
        )
        if self.few is None or not isinstance(l2, float):
            return search(self._solver(l2, penalty))  # nothing else may hold on to the arrays
        plain = None if self.is_separated(value) else search(self._solver(l2, penalty))
        return self._in_few_rows(plain, self.few, l2, point, tolerance=tolerance, limit=limit)

    def _in_few_rows(
        self, plain: Search | None, few: FewRows, l2: float, point: Doubles, *, tolerance: float, limit: int
    ) -> Search:
        """The plain search if its end is not separated; or else one in the coordinates of few rows."""
        passes = 0
        if plain is not None:
            end = yield from plain
            if end.converged and not self.is_separated(end.value):
                return end
            passes = end.passes
        # from where it began: at the end of the plain search, hardly a row has any curvature
        inner = few.search(point, l2, tolerance=tolerance, limit=limit, entropy=self.entropy, confirm=tolerance < ROUGH)
        value = yield inner.point
        return End(inner.point, value, passes + inner.passes, inner.converged)

    def is_separated(self, value: Value) -> bool:
        """Whether the classes are nearly separated at a point with this value."""
        return value[0] < few_rows.SEPARATED * self.entropy

    def _solver(self, l2: float | Doubles, penalty: Doubles) -> Solve:
        solve = self.solves.get(l2) if isinstance(l2, float) else None
        if solve is None:
            solve = self.preconditioner.solver(curvature_of(self.data.shares), penalty)
            if isinstance(l2, float):
                self.solves[l2] = solve
        return solve


def follow(
    objective: PenalisedLoss,
    penalties: Sequence[float],
    score: Callable[[Sequence[Linear]], list[DevScores]],
    select: Callable[[Sequence[DevScores]], int],
    counts: Ints,
    *,
    tolerance: Callable[[float], float],
    limit: int,
    by_accuracy: bool,
) -> tuple[list[PathPoint], int]:
    """The penalties that were tried, the strongest first, and the index of the chosen one, which is refined.

    ``counts`` are the training rows of each class, ``select`` is the rule by which dev chooses, and ``tolerance`` has
    that of a penalty.
    """
    data, outputs = objective.data, len(curvature_of(objective.data.shares))
    point = objective.start()
    if len(data.shares) == 1:
        end = End(point, (0.0, point), 0, True)
        model = data.model_at(point, counts)
        return [PathPoint(max(penalties), end, model, score([model])[0], True)], 0
    strong_first, (n, d) = sorted(penalties, reverse=True), data.features.shape
    together = WAVE if WAVE * outputs <= MAX_COLUMNS and n >= WAVE_ROWS * d else 1
    tried: list[PathPoint] = []

    # no array is kept longer than it is needed: with many outputs, each is as large as many vectors
    def start_wave(wave: Sequence[float]) -> list[Search]:
        last = tried[-1].end if tried else End(point, data.values([point])[0], 0, False)
        return [
            objective.search(
                l2,
                last.point,
                last.value,
                tolerance=ROUGH,
                limit=limit,
                first=_extrapolated_step(data, tried, l2, counts),
                scale=last.scale,
            )
            for l2 in wave
        ]

    def finish_wave(wave: Sequence[float], searches: Sequence[Search]) -> list[PathPoint]:
        ends_by_index = run_searches(dict(enumerate(searches)), by_search(data.values))
        ends = [ends_by_index[i] for i in range(len(wave))]
        models = [data.model_at(end.point, counts) for end in ends]
        return list(map(PathPoint, wave, ends, models, score(models)))

    for i in range(0, len(strong_first), together):
        wave = strong_first[i : i + together]
        searches = start_wave(wave)
        if outputs > MAX_COLUMNS and tried:
            tried[-1] = tried[-1].without_arrays()
        tried += finish_wave(wave, searches)
        if _overfits(tried[-1].dev, [point.dev for point in tried[:-1]], by_accuracy):
            break
    while not tried[best := select([point.dev for point in tried])].refined:
        if outputs > MAX_COLUMNS and best < len(tried) - 1:
            tried[-1] = tried[-1].without_arrays()
        search = _resume(objective, tried[best], counts, tolerance=tolerance(tried[best].l2), limit=limit)
        tried[best] = tried[best].without_arrays()
        tried[best] = _refined(tried[best], *finish_wave([tried[best].l2], [search]))
    return tried, best


def _resume(objective: PenalisedLoss, rough: PathPoint, counts: Ints, *, tolerance: float, limit: int) -> Search:
    """The search that goes on where a penalty is."""
    data, end = objective.data, rough.end
    point = _point(data, rough, counts)
    value = end.value if end.value[1].size else data.values([point])[0]
    return objective.search(
        rough.l2, point, value, tolerance=tolerance, limit=limit - end.passes, memory=end.memory, scale=end.scale
    )


def _refined(rough: PathPoint, refined: PathPoint) -> PathPoint:
    """A penalty at its optimum, with the passes that were made before; only its model is needed any more."""
    end = replace(refined.end.without_arrays(), passes=rough.end.passes + refined.end.passes)
    return replace(refined, end=end, refined=True)


def dev_scorer(
    dev: Features, labels: Ints, *, exact: bool, by_class: bool = False
) -> Callable[[Sequence[Linear]], list[DevScores]]:
    """The function that scores classifiers on these rows; a label of -1 is unknown, ``exact`` is as in ``logits``.

    With ``by_class`` every class counts the same: the accuracy is the balanced one.
    """
    _, numbers, sizes = np.unique(labels, return_inverse=True, return_counts=True)
    weights = len(labels) / (len(sizes) * sizes[numbers]) if by_class else np.ones(1)
    is_known, at = labels >= 0, np.arange(len(labels))

    def score(models: Sequence[Linear]) -> list[DevScores]:
        correct, losses = np.empty((2, len(models), len(labels)))
        for part, block_logits in logits(models, dev, exact=exact):
            correct[:, part] = block_logits.argmax(axis=1) == labels[part]
            block_logits -= block_logits.max(axis=1, keepdims=True)
            right = block_logits[:, np.maximum(labels[part], 0), at[: block_logits.shape[2]]]
            losses[:, part] = np.log(np.exp(block_logits).sum(axis=1)) - right
        correct *= weights
        losses *= weights
        return [DevScores(*scores) for scores in zip(correct, losses[:, is_known], strict=True)]

    return score


def _point(data: TrainingData, tried: PathPoint, counts: Ints) -> Doubles:
    """Where a penalty is, or nearly so if only its model was kept."""
    point = tried.end.point
    return point if point.size else data.point_of(tried.model, counts)


def _extrapolated_step(data: TrainingData, tried: Sequence[PathPoint], l2: float, counts: Ints) -> Doubles | None:
    """A first step (outputs, d + 1): the optimum moves about evenly in the logarithm of the penalty."""
    if len(tried) < 2 or l2 <= 0:
        return None
    older, old = tried[-2:]
    if older.l2 <= old.l2:
        return None
    moved: Doubles = _point(data, old, counts) - _point(data, older, counts)
    return moved * float(np.log(old.l2 / l2) / np.log(older.l2 / old.l2))


def _overfits(point: DevScores, stronger: Sequence[DevScores], by_accuracy: bool) -> bool:
    """Whether a penalty has begun to fit noise: its loss is significantly higher than that of the best stronger one.

    Where dev chooses by accuracy, that must be lower as well.
    """
    if not stronger:
        return False
    best = max(stronger, key=lambda candidate: candidate.accuracy if by_accuracy else -candidate.loss)
    return _significantly_above_zero(point.losses - best.losses) and (not by_accuracy or point.accuracy < best.accuracy)


def _significantly_above_zero(differences: Doubles) -> bool:
    """Whether the mean of the differences (n,) is."""
    n = len(differences)
    return n >= MIN_DEV_ROWS and float(differences.mean()) > SIGNIFICANT * float(differences.std(ddof=1)) / n**0.5
