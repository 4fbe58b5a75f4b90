"""The statistics that findings are made of: differences, the best of several, orders, and correlations.

Each yields cells, one per test set and pair of encoders, with the probability of what was seen if the claim is false in
that cell (``p_for``), and if it is true (``p_against``). How cells make a verdict is in ``decide.py``.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import pairwise, permutations
from typing import Literal

import numpy as np

from sentprobe.errors import UsageError
from sentprobe.replicate.evidence import ClaimScore, Contrast, Evidence, Models, Scope
from sentprobe.stats import level as levels
from sentprobe.stats.correlation import CORRELATION_TIE, MAX_EXACT_N, ranks
from sentprobe.stats.resample import Floats

Expected = Literal["above", "below", "equal", "different"]
Cells = Literal["every", "most", "some", "mean"]
"""In how many cells a claim has to be true; or that the mean over cells is to be tested."""
Unit = Literal["points", "correlation", "number"]
DRAWS = 10_000
SAMPLES = 1_000
MIN_ENCODERS = 5
"""Encoders from which a correlation is tested: of four, no order is significant."""


@dataclass(frozen=True)
class CellTest:
    """One cell of a claim, and what it says; p-values are compared with the level as they are."""

    label: str
    test_set: str
    value: float | None
    p_for: float
    p_against: float
    error: float | None = None
    rounding: float = 0.0
    ends: tuple[float, float] | None = None
    tasks: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()

    @classmethod
    def of(cls, contrast: Contrast, expected: Expected, margin: float) -> CellTest:
        """A difference, of which something is expected."""
        above, below = contrast.p_above, contrast.p_below
        if expected == "above":
            p_for, p_against = 2 * above(margin), 2 * below(margin)
        elif expected == "below":
            p_for, p_against = 2 * below(-margin), 2 * above(-margin)
        elif expected == "equal":
            # two one-sided tests, each at the level; without a number, a significant difference is no equality
            p_for = max(above(-margin), below(margin))
            p_against = 2 * min(above(margin), below(-margin))
        else:
            p_for, p_against = contrast.p_different, 1.0
        return cls(
            contrast.label,
            contrast.test_set,
            contrast.value,
            min(1.0, p_for),
            min(1.0, p_against),
            contrast.error,
            contrast.rounding,
            contrast.interval,
            contrast.tasks,
            contrast.languages,
        )

    def agrees(self, expected: Expected, margin: float) -> bool | None:
        """Whether the number itself is as expected; None if there is none."""
        if self.value is None:
            return None
        sign = {"above": self.value > margin, "below": self.value < -margin, "equal": abs(self.value) <= margin}
        return sign.get(expected, self.value != 0)


@dataclass(frozen=True)
class Tested:
    """What a statistic came to."""

    cells: list[CellTest]
    missing: tuple[str, ...] = ()
    """What it needs and does not have; if there is anything, it was not computed."""
    joint: CellTest | None = None
    """A test of the mean over cells that knows how they depend on each other."""
    rule: str = ""
    """What single cells were tested by, unless it is what the evidence says."""


@dataclass(frozen=True)
class Statistic(ABC):
    """What a claim says about scores: which ones, and what is expected of them.

    Parameters
    ----------
    tasks, languages, table, metric
        Which scores it is of; all of the paper, or of the run, if not restricted.
    expect
        What the number is expected to be: above or below the margin, equal within it, or different from 0.
    margin
        In shares of one.
    cells
        How many of the cells are claimed: every one, most (more than half), some (at least one), or the mean.
    unit
        How the number is written: points of a score, a correlation, or a number as it is.
    """

    tasks: tuple[str, ...] = field(default=(), kw_only=True)
    languages: tuple[str, ...] = field(default=(), kw_only=True)
    table: str = field(default="", kw_only=True)
    metric: str = field(default="", kw_only=True)
    expect: Expected = field(default="above", kw_only=True)
    margin: float = field(default=0.0, kw_only=True)
    cells: Cells = field(default="every", kw_only=True)
    unit: Unit = field(default="points", kw_only=True)

    @property
    @abstractmethod
    def roles(self) -> tuple[Models, ...]:
        """The encoders that it is about."""

    @abstractmethod
    def test(self, evidence: Evidence) -> Tested:
        """The cells, tested."""

    @property
    def claimed_tasks(self) -> tuple[str, ...]:
        """All tasks that it is about."""
        return self.tasks

    @property
    def scope(self) -> Scope:
        """Which scores it is of."""
        return Scope(self.tasks, self.languages, self.table, self.metric)

    def _tested(self, contrasts: Sequence[Contrast], needs: Sequence[str]) -> Tested:
        if not contrasts:
            return Tested([], tuple(needs) or ("scores of both sides on the same sets",))
        return Tested([CellTest.of(contrast, self.expect, self.margin) for contrast in contrasts])


@dataclass(frozen=True)
class Difference(Statistic):
    """The scores of one role minus those of another, on the same test rows; or minus a number.

    Parameters
    ----------
    first, second
        The roles; the second may be a number, such as chance.
    across
        What differs between the two sides, if it is not the encoder: the language or the task of the set.
    """

    first: Models
    second: Models | float
    across: Literal["", "language", "task"] = field(default="", kw_only=True)

    @property
    def roles(self) -> tuple[Models, ...]:
        """Both, or one."""
        return (self.first, self.second) if isinstance(self.second, Models) else (self.first,)

    def test(self, evidence: Evidence) -> Tested:
        """One cell per pair of encoders and set."""
        first = evidence.scores(self.first, self.scope)
        if not isinstance(self.second, Models):
            needs = [] if first else [evidence.missing(self.first, self.scope)]
            return self._tested([evidence.above(score, self.second) for score in first], needs)
        second = evidence.scores(self.second, self.scope)
        contrasts = [evidence.contrast(a, b) for a in first for b in second if paired(a, b, self.across)]
        if self.across:  # cells that share a side depend on each other
            contrasts = [replace(c, test_set=c.test_set.split("/")[1]) for c in contrasts]
        contrasts = contrasts or list(evidence.tested_only(self.first, self.second, self.scope))
        sides = zip(self.roles, (first, second), strict=True)
        return self._tested(contrasts, [evidence.missing(role, self.scope) for role, scores in sides if not scores])


def paired(first: ClaimScore, second: ClaimScore, across: str = "") -> bool:
    """Whether two scores are two sides of one cell."""
    differs = any(second.varies.get(name, text) != text for name, text in first.varies.items())
    if differs or (not across and first.key == second.key):
        return False
    if across == "language":
        return first.task == second.task and first.language != second.language
    if across == "task":
        return first.language == second.language and first.task != second.task
    return first.test_set == second.test_set


@dataclass(frozen=True)
class BestOf(Statistic):
    """On each set, whether a role is above every one of its rivals; its value is the distance from the best of them."""

    first: Models
    rivals: Models

    @property
    def roles(self) -> tuple[Models, ...]:
        """Both."""
        return self.first, self.rivals

    def test(self, evidence: Evidence) -> Tested:
        """One cell per set: for the claim, all tests have to reject; against it, one, adjusted for their number."""
        first, second = evidence.scores(self.first, self.scope), evidence.scores(self.rivals, self.scope)
        cells = []
        for score in first:
            rivals = [b for b in second if paired(score, b)]
            tests = [CellTest.of(evidence.contrast(score, b), self.expect, self.margin) for b in rivals]
            if tests:
                sign = -1 if self.expect == "below" else 1
                nearest = min(tests, key=lambda test: sign * (test.value or 0.0))
                against = min(1.0, len(tests) * min(test.p_against for test in tests))
                cells.append(replace(nearest, p_for=max(test.p_for for test in tests), p_against=against))
        sides = zip(self.roles, (first, second), strict=True)
        missing = [evidence.missing(role, self.scope) for role, scores in sides if not scores]
        return Tested(cells, () if cells else tuple(missing) or ("scores of both sides on the same sets",))


@dataclass(frozen=True)
class Ordered(Statistic):
    """Encoders in an order, by size, layer or length: each one against the next, the later minus the earlier.

    In papers the order is that of the numbers that ``{…}`` matches; in a run, that in which ``--as`` names them.
    """

    sizes: Models

    @property
    def roles(self) -> tuple[Models, ...]:
        """One."""
        return (self.sizes,)

    def test(self, evidence: Evidence) -> Tested:
        """One cell per set and pair of neighbours."""
        by_set: dict[str, list[ClaimScore]] = defaultdict(list)
        for score in evidence.scores(self.sizes, self.scope):
            by_set[score.test_set].append(score)
        series = [sorted(scores, key=_size) for scores in by_set.values()]
        contrasts = [evidence.contrast(after, before) for scores in series for before, after in pairwise(scores)]
        contrasts = contrasts or list(evidence.tested_only(self.sizes, self.sizes, self.scope))
        return self._tested(contrasts, [evidence.missing(self.sizes, self.scope)])


def _size(score: ClaimScore) -> float:
    """The first number in what varies."""
    return float(next(iter(score.varies.values()), "0"))


@dataclass(frozen=True)
class Correlated(Statistic):
    """The rank correlation, over encoders, of the scores on one task with those on others, or in other languages.

    ``expect`` is about its sign. Encoders are the sample: they are permuted, in all cells at once, so that the test of
    the mean knows that cells have the same encoders.

    Parameters
    ----------
    encoders
        Whose scores are correlated.
    first, second
        The scope of each side. Without tasks, a task is correlated with itself, in the languages of the two sides.
    over
        Whether the pairs are encoders, or the tasks of each encoder.
    """

    encoders: Models
    first: Scope
    second: Scope
    over: Literal["encoders", "tasks"] = field(default="encoders", kw_only=True)
    unit: Unit = field(default="correlation", kw_only=True)

    def __post_init__(self) -> None:
        if self.expect not in ("above", "below") or self.margin:
            raise UsageError("A correlation is expected to be above or below 0, without a margin.")

    @property
    def roles(self) -> tuple[Models, ...]:
        """One."""
        return (self.encoders,)

    def test(self, evidence: Evidence) -> Tested:
        """One cell per pair of sets, and the mean."""
        sides = [evidence.scores(self.encoders, self._side(scope)) for scope in (self.first, self.second)]
        series = list(self._series(*sides))
        if not series:
            encoders = set.intersection(*({score.encoder for score in scores} for scores in sides))
            reason = (
                f"{self.encoders.name}: {MIN_ENCODERS} or more {self.over} with scores on both sides that vary; there "
                f"are {len(encoders)} encoders"
            )
            return Tested([], (reason,))
        expect = -1.0 if self.expect == "below" else 1.0
        cells, joint = _permuted(series, expect)
        return Tested(cells, joint=joint, rule=f"rank correlations over {len(series[0].pairs)} {self.over}, permuted")

    @property
    def claimed_tasks(self) -> tuple[str, ...]:
        """Of both sides."""
        return tuple(dict.fromkeys((*self.tasks, *self.first.tasks, *self.second.tasks)))

    def _side(self, scope: Scope) -> Scope:
        return Scope(
            scope.tasks or self.tasks,
            scope.languages or self.languages,
            scope.table or self.table,
            scope.metric or self.metric,
        )

    def _series(self, first: list[ClaimScore], second: list[ClaimScore]) -> Iterator[_Series]:
        """The two rows of scores of each cell."""
        columns: list[dict[tuple[str, str, str], dict[str, float]]] = []
        for scores in (first, second):
            by_set: dict[tuple[str, str, str], dict[str, float]] = defaultdict(dict)
            for score in scores:
                encoder = score.varies.get("encoder", score.encoder)
                setting = ", ".join(text for name, text in score.varies.items() if name != "encoder")
                key, pair = (score.task, score.language, setting), encoder
                if self.over == "tasks":
                    key, pair = (encoder, score.language, setting), score.task
                by_set[key][pair] = score.value
            columns.append(by_set)
        same_task = not self.second.tasks
        for (task, language, setting), x in columns[0].items():
            for (other_task, other_language, other_setting), y in columns[1].items():
                across = task == other_task and language != other_language
                if setting != other_setting or not (across if same_task else language == other_language):
                    continue
                pairs = tuple(sorted(pair for pair in x if pair in y))
                table = np.array([[x[pair] for pair in pairs], [y[pair] for pair in pairs]])
                if len(pairs) >= MIN_ENCODERS and np.ptp(table, axis=1).all():
                    label = f"{task}/{language} – {other_task}/{other_language}"
                    yield _Series(label, pairs, table, (task, other_task), (language, other_language))


@dataclass(frozen=True)
class _Series:
    """Two rows of scores, and what each column is of."""

    label: str
    pairs: tuple[str, ...]
    table: Floats
    tasks: tuple[str, ...]
    languages: tuple[str, ...]


def _permuted(series: Sequence[_Series], sign: float) -> tuple[list[CellTest], CellTest | None]:
    """Each correlation, and, if all are of the same pairs, their mean: the second rows are then permuted alike."""
    joint = len({scores.pairs for scores in series}) == 1
    cells, sums = [], np.zeros(0)
    for scores in series:
        x, y = (_standard(row) for row in scores.table)
        orders = _orders(len(x))
        permuted = sign * (y[orders] @ x)
        exact = len(x) <= MAX_EXACT_N
        cell = _correlation_cell(scores.label, sign * float(x @ y), permuted, sign, exact)
        cells.append(replace(cell, tasks=scores.tasks, languages=scores.languages))
        if joint:
            sums = permuted + (sums if len(sums) else 0.0)
    if not joint:
        return cells, None
    value = sign * math.fsum(cell.value or 0.0 for cell in cells) / len(cells)
    mean = _correlation_cell("mean", value, sums / len(cells), sign, len(series[0].pairs) <= MAX_EXACT_N)
    return cells, replace(mean, ends=_bootstrapped(series))


def _correlation_cell(label: str, value: float, permuted: Floats, sign: float, exact: bool) -> CellTest:
    extra = 0 if exact else 1  # what was seen is one of all permutations, and not of a sample of them
    above, below = (
        (int((sense * permuted >= sense * value - CORRELATION_TIE).sum()) + extra) / (len(permuted) + extra)
        for sense in (1, -1)
    )
    return CellTest(label, label, sign * value, min(1.0, 2 * above), min(1.0, 2 * below))


def _standard(row: Floats) -> Floats:
    """Ranks as a unit vector, so that products are rank correlations."""
    centred = ranks(row[None, :])[0]
    centred = centred - centred.mean()
    return np.asarray(centred / np.linalg.norm(centred))


@cache
def _orders(n: int) -> Floats:
    """All permutations of a few, or a sample of those of many, always the same."""
    if n <= MAX_EXACT_N:
        return np.array(list(permutations(range(n))))
    return np.random.default_rng(0).permuted(np.tile(np.arange(n), (DRAWS, 1)), axis=1)


def _bootstrapped(series: Sequence[_Series]) -> tuple[float, float] | None:
    """The percentile interval of the mean correlation on other samples of the same encoders."""
    n = len(series[0].pairs)
    samples = np.random.default_rng(1).integers(n, size=(SAMPLES, n))
    coefficients = [rank_correlations(*(row[samples] for row in scores.table)) for scores in series]
    means = np.nanmean(np.array(coefficients)[:, ~np.isnan(coefficients).all(axis=0)], axis=0)
    if not len(means):
        return None
    low, high = np.quantile(means, [(1 - levels.LEVEL) / 2, (1 + levels.LEVEL) / 2])
    return float(low), float(high)


def rank_correlations(x: Floats, y: Floats) -> Floats:
    """Of each row of x (m, n) with that of y; NaN where one is constant."""
    first, second = (ranks(rows) - (rows.shape[1] + 1) / 2 for rows in (x, y))
    scale = np.sqrt((first**2).sum(axis=1) * (second**2).sum(axis=1))
    coefficients = np.full(len(x), np.nan)
    np.divide((first * second).sum(axis=1), scale, out=coefficients, where=scale > 0)
    return coefficients
