"""Correlations of probing sets with transfer sets, over the encoders of a run."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import count
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from sentprobe.errors import DataError, UsageError
from sentprobe.published import TRANSFER
from sentprobe.report.cells import value_of
from sentprobe.report.types import Column, CorrelationCell, CorrelationMatrix, SetRef, SetSummary, Summary
from sentprobe.stats import Correlation, benjamini_hochberg, correlate, holm
from sentprobe.stats import level as levels
from sentprobe.stats.correlation import MeanCorrelation, mean_correlation
from sentprobe.stats.multiple import bonferroni

MIN_ENCODERS = 3
"""Fewer encoders give no correlation; ``correlate`` needs as many."""
MIN_ENCODERS_SIGNIFICANT = 10
"""With fewer encoders no cell is called significant; ``required_encoders`` derives it."""
CORRELATION_DRAWS = 2000
"""Resamples per cell: as many as the intervals of a result have. A large matrix needs more, see ``correlations``."""
REFINEMENT_FACTOR = 10
"""A p-value based on at most this many draws is recomputed from this many times as many: values near the smallest
possible one decide what is significant in a large matrix."""
Adjustment = Literal["holm", "bonferroni", "bh", "none"]
"""How p-values of a matrix are adjusted for their number; Holm unless another is named."""
ADJUSTMENTS: tuple[str, ...] = get_args(Adjustment)


def correlations(summary: Summary, adjust: Adjustment = "holm") -> CorrelationMatrix | None:
    """Spearman's rho of every probing set with every transfer set; None without either, or with under three encoders.

    Only columns of one probe and one sample of rows are used, the largest group there is. Sets known to be in different
    languages are not correlated. A p-value from n draws is at least 1 / (n + 1), so there are enough draws for a single
    cell to be significant in the full matrix.
    """
    adjusting, named = _adjusting(adjust)
    chosen = comparable_columns(summary.columns)
    rows = _set_indices(summary.sets, transfer=False)
    columns = _set_indices(summary.sets, transfer=True)
    if not rows or not columns or len(chosen) < MIN_ENCODERS:
        return None
    draws = max(CORRELATION_DRAWS, math.ceil(len(rows) * len(columns) / levels.ALPHA))
    matrix = [[_correlate(summary.sets, chosen, row, column, draws) for column in columns] for row in rows]
    every = [cell for line in matrix for cell in line if cell is not None]
    if not every:
        return None
    required = required_encoders(1 if adjust == "none" else len(every))
    adjusted = iter(adjusting([cell.p for cell in every]).tolist())
    n = max(cell.n for cell in every)  # cells with a missing score are over fewer encoders, which each of them states
    method = named.format(len(every))
    overall = _overall(summary.sets, chosen, rows, columns, complete=all(cell is not None for cell in _flat(matrix)))
    return CorrelationMatrix(
        mean=None if overall is None else overall.value,
        mean_low=None if overall is None else overall.low,
        mean_high=None if overall is None else overall.high,
        kind="spearman",
        adjust=adjust,
        n=n,
        required=required,
        rows=tuple(SetRef(set=i, label=summary.sets[i].label) for i in rows),
        columns=tuple(SetRef(set=i, label=summary.sets[i].label) for i in columns),
        cells=tuple(
            tuple(None if cell is None else _cell(cell, next(adjusted), required) for cell in line) for line in matrix
        ),
        description=_description(n, method, required, summary.columns[chosen[0]].probe) + _overall_text(overall),
        caption=f"{method}, significant up to {levels.alpha_text()}",
    )


def _flat(matrix: Sequence[Sequence[Correlation | None]]) -> list[Correlation | None]:
    return [cell for line in matrix for cell in line]


def _overall(
    sets: Sequence[SetSummary], chosen: Sequence[int], rows: Sequence[int], columns: Sequence[int], *, complete: bool
) -> MeanCorrelation | None:
    """The mean over all pairs of sets, over the encoders that have all scores; None if a pair has no correlation."""
    if not complete or len(rows) * len(columns) < 2:
        return None
    scores = [[value_of(sets[i].cells[j]) for j in chosen] for i in (*rows, *columns)]
    whole = [j for j in range(len(chosen)) if all(line[j] is not None for line in scores)]
    if len(whole) < MIN_ENCODERS:
        return None
    table = np.array([[line[j] for j in whole] for line in scores], np.float64)
    try:
        return mean_correlation(table[: len(rows)], table[len(rows) :], seed=0)
    except DataError:  # all encoders have the same score
        return None


def _overall_text(overall: MeanCorrelation | None) -> str:
    if overall is None:
        return ""
    return (
        f" The mean of all pairs of sets is {overall.value:.2f} [{overall.low:.2f}, {overall.high:.2f}], over "
        f"{overall.encoders} encoders: a bootstrap over encoders and sets, since others would give another mean."
    )


def required_encoders(tests: int) -> int:
    """How many encoders it takes before any of this many correlations may be called significant.

    Two bounds; the greater one counts.

    By what can be found at all: of the n! orders of n encoders, two are as strong as a perfect correlation, one in each
    direction. A p-value is therefore at least 2 / n!, and if only one cell of a matrix of m is correlated, every
    adjustment multiplies it by m. So n! must reach 2 m / alpha: at 5 %, n = 5 for one cell, 7 for the 110
    of Conneau et al. (2018), 8 for up to a thousand.

    By what is likely to be found: atanh(rho) has a variance of about 1.06 / (n - 3) (Fieller, Hartley and Pearson 1957,
    Biometrika 44:470). A correlation as strong as 0.8 is found four times out of five, at 5 % in a single two-sided
    test, from n = 3 + 1.06 ((1.96 + 0.84) / atanh(0.8))² = 9.9 on, so MIN_ENCODERS_SIGNIFICANT is 10. With fewer,
    what comes out as significant is mostly due to the choice of encoders, and too large.
    """
    possible = next(n for n in count(MIN_ENCODERS) if math.factorial(n) * levels.ALPHA >= 2 * tests)
    return max(MIN_ENCODERS_SIGNIFICANT, possible)


def comparable_columns(columns: Sequence[Column]) -> list[int]:
    """The largest group of columns that differ only in their encoder, one per encoder, without baseline encoders."""
    groups: dict[tuple[str | None, int | None, str], dict[str, int]] = {}
    # baselines of words or noise would stretch both axes, and correlate whatever the encoders do
    for i, column in enumerate(columns):
        if not column.encoder.startswith("baseline:"):
            group = groups.setdefault((column.probe, column.limit, column.sentprobe), {})
            group.setdefault(column.encoder, i)
    return list(max(groups.values(), key=len, default={}).values())


def _set_indices(sets: Sequence[SetSummary], *, transfer: bool) -> list[int]:
    return [i for i, s in enumerate(sets) if (s.task in TRANSFER) is transfer]


def _correlate(
    sets: Sequence[SetSummary], chosen: Sequence[int], row: int, column: int, draws: int
) -> Correlation | None:
    probing, transfer = sets[row], sets[column]
    if None not in (probing.language, transfer.language) and probing.language != transfer.language:
        return None
    pairs = [(value_of(probing.cells[i]), value_of(transfer.cells[i])) for i in chosen]
    both = [(x, y) for x, y in pairs if x is not None and y is not None]
    if len(both) < MIN_ENCODERS:
        return None
    xs, ys = [x for x, _ in both], [y for _, y in both]
    try:
        # always the same seed: the page of a run is the same each time it is written
        correlation = correlate(xs, ys, seed=0, draws=draws)
    except DataError:  # all encoders have the same score
        return None
    if correlation.exact or correlation.p > REFINEMENT_FACTOR / draws:
        return correlation
    return correlate(xs, ys, seed=0, draws=REFINEMENT_FACTOR * draws)


def _cell(correlation: Correlation, adjusted: float, required: int) -> CorrelationCell:
    return CorrelationCell(
        value=correlation.value,
        low=correlation.low,
        high=correlation.high,
        p=correlation.p,
        adjusted=adjusted,
        n=correlation.n,
        significant=adjusted <= levels.ALPHA and correlation.n >= required,
    )


def _adjusting(name: Adjustment) -> tuple[Callable[[list[float]], npt.NDArray[np.float64]], str]:
    """An adjustment, and what it is called; {} is how many tests there are."""
    match name:
        case "holm":
            return holm, "adjusted by Holm over {} pairs of sets"
        case "bonferroni":
            return bonferroni, "adjusted by Bonferroni over {} pairs of sets"
        case "bh":
            return benjamini_hochberg, "false discovery rate by Benjamini and Hochberg over {} pairs of sets"
        case "none":
            return np.asarray, "not adjusted for the number of pairs of sets, {}"
    raise UsageError(f"There is no adjustment {name!r}; expected {', '.join(ADJUSTMENTS)}.")


def _description(n: int, method: str, required: int, probe: str | None) -> str:
    over = f"Spearman's rho over {n} encoders" + (f" with the probe {probe}" if probe else "")
    few = f"; with fewer than {required} encoders none is called significant" if n < required else ""
    level, alpha = levels.level_text(), levels.alpha_text()
    return f"{over}, with a {level} bootstrap interval; p from permutations, {method}, significant up to {alpha}{few}."
