"""Checks of differences between encoders."""

from __future__ import annotations

import math
from itertools import combinations

from sentprobe.core.formatting import POINTS
from sentprobe.report.check import MARGIN, Check, CheckFinding, ScoredCell, comparable
from sentprobe.report.types import CellSummary, Summary
from sentprobe.stats import detectable, wilson
from sentprobe.stats import level as levels


def many_families() -> int:
    """Families of tests from which on at least one false positive is more likely than none: 1 - 0.95^14 = 0.51."""
    return math.ceil(math.log(0.5) / math.log(1 - levels.ALPHA))


def few_rows(summary: Summary) -> CheckFinding | None:
    """Sets with too few rows to detect any of the differences shown."""
    groups = [(group, *difference) for group in comparable(summary) if (difference := _shown(group)) is not None]
    if not groups:
        return None
    small = [f for f in groups if f[1] > MARGIN and f[2] < f[1] and not _apart(f[0][0], f[0][-1])]
    if not small:
        text = (
            f"{len(groups)} of {len(groups)} sets: differences of 3 points would be detected with 80 % power, or the "
            "largest one shown is significant, or is large enough to be."
        )
        return CheckFinding("passed", "There are enough rows", text)
    least = sorted(rows for _, rows, _ in small)
    span = POINTS.number(least[0]) if len(least) == 1 else f"{POINTS.number(least[0])} to {POINTS.number(least[-1])}"
    text = (
        f"{len(small)} of {len(groups)} sets: the largest difference shown is not significant, and is smaller than "
        f"what this many rows detect with 80 % power, {span} points. More rows may tell the columns apart."
    )
    where = [
        f"{group[0].set_summary.label}: {group[0].cell.n:,} rows detect {POINTS.number(rows)} points; the largest "
        f"difference is {POINTS.number(difference)}"
        for group, rows, difference in small
    ]
    return CheckFinding("tip", "Too few rows for the differences shown", text, where)


def _shown(group: list[ScoredCell]) -> tuple[float, float] | None:
    """The difference that the rows of a set detect with 80 % power, and the one between best and worst.

    Errors of the two are assumed to be independent. Real encoders find the same rows hard and disagree less often, so
    somewhat smaller differences are detected as well.
    """
    best, worst = group[0].cell, group[-1].cell
    if len(group) < 2 or {best.interval, worst.interval} - {"wilson", "cluster"}:  # folds share their rows
        return None
    high, low = best.accuracy, worst.accuracy
    rows = best.n / max(1.0, (_inflation(best) + _inflation(worst)) / 2)
    return detectable(high * (1 - low) + low * (1 - high), max(1, round(rows))), high - low


def _apart(a: ScoredCell, b: ScoredCell) -> bool:
    """Whether two columns are significantly different."""
    first, second = a.cell.letters, b.cell.letters
    return first is not None and second is not None and set(first).isdisjoint(second)


def _inflation(cell: CellSummary) -> float:
    """How many rows are worth one independent one: by how much the interval is wider than if all were independent."""
    low, high = wilson(cell.accuracy * cell.n, cell.n)
    if cell.low is None or cell.high is None:
        return 1.0
    return float(((cell.high - cell.low) / (high - low)) ** 2)


def not_apart(summary: Summary) -> CheckFinding | None:
    """Sets without a clear winner."""
    groups = _lettered(summary)
    if not groups:
        return None
    tied = [(group, [n for n in group if not _apart(n, group[0])]) for group in groups]
    tied = [(group, best) for group, best in tied if len(best) > 1]
    if not tied:
        text = f"{len(groups)} of {len(groups)} sets: the best column is significantly different from all others."
        return CheckFinding("passed", "Every set has a clear winner", text)
    text = (
        f"{len(tied)} of {len(groups)} sets: the best column is not significantly different from another one. Do not "
        "rank them, nor conclude that they are equal."
    )
    where = [
        f"{group[0].set_summary.label}: " + ", ".join(f"{n.column.name} {POINTS.number(n.cell.accuracy)}" for n in best)
        for group, best in tied
    ]
    return CheckFinding("tip", "Some sets have no clear winner", text, where)


def _lettered(summary: Summary) -> list[list[ScoredCell]]:
    """Results that were compared with each other."""
    return [group for group in comparable(summary) if any(n.cell.letters for n in group)]


def many_comparisons(summary: Summary) -> CheckFinding | None:
    """Letters are adjusted within a set, but not across sets."""
    groups = _lettered(summary)
    if not groups:
        return None
    n = len(groups)
    differing = sum(any(_apart(a, b) for a, b in combinations(group, 2)) for group in groups)
    luck = round(100 * (1 - (1 - levels.ALPHA) ** n))
    text = (
        f"Columns are compared on {n} {'set' if n == 1 else 'sets'}, on each at {levels.alpha_text()}; "
        f"{differing} of {n} show a difference. If there were none at all, the probability that at least one set "
        f"shows one would be up to {luck} %."
    )
    if n < many_families():
        return CheckFinding("passed", "Few comparisons", text)
    return CheckFinding("tip", "Many comparisons", text)


checks = (
    Check(
        name="not-apart",
        order=100,
        find=not_apart,
        advice="Do not call one of them the best. `sentprobe compare` gives the difference with its interval.",
        doc="""
A tip where the best column of a set shares its letter with another one: the two are not significantly different by
McNemar's mid-p, or a permutation of the target forms or sentences that rows share, adjusted by Holm over pairs.
""",
    ),
    Check(
        name="few-rows",
        order=110,
        find=few_rows,
        advice="Use a larger test set. Half the difference takes four times the rows.",
        doc="""
A tip where a set's test rows detect only differences above 3 points (with 80 % power at 5 %), the largest difference
shown is smaller than what they detect, and the two columns are not significantly different. Errors are assumed to be
independent. Real pairs find the same rows hard: over four runs, pairs of encoders or of layers disagreed on 0.54 to
0.75 times as many rows (medians of the runs), so that differences from 0.7 times what the report says are detected as
well. Where rows share target forms, fewer count: as many as explain the width of the interval.
""",
    ),
    Check(
        name="many-comparisons",
        order=120,
        find=many_comparisons,
        advice="Trust a difference that many sets show; for a claim about one set, `sentprobe compare` adjusts two "
        "encoders over all sets.",
        doc="""
A tip where columns were compared on 14 sets or more. Letters are adjusted over the pairs of a set but not across sets,
so each set has a probability of up to 5 % of showing a difference that is not there; with 14, at least one such set is
more likely than none: 1 − 0.95¹⁴ = 0.51.
""",
    ),
)
