"""Checks of what is said about differences between encoders."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import Any

from sonde.report.checks.check_result import (
    ALPHA,
    MARGIN,
    CheckResult,
    ScoredCell,
    Summary,
    check_result,
    groups,
    points,
)
from sonde.stats import detectable, wilson

MANY_FAMILIES = 14
"""Families of tests from which on one false finding or more is likelier than none: 1 - 0.95^14 = 0.51."""


def few_rows(summary: Summary) -> CheckResult | None:
    """Sets whose rows cannot be relied on to show any of the differences that are shown."""
    found = [(group, *met) for group in groups(summary) if (met := _shown(group)) is not None]
    if not found:
        return None
    small = [f for f in found if f[1] > MARGIN and f[2] < f[1] and not _apart(f[0][0], f[0][-1])]
    if not small:
        text = (
            f"{len(found)} of {len(found)} sets: differences of 3 points would be found four times out of five, or the "
            "largest that is shown is significant, or is large enough to be."
        )
        return check_result("few-rows", "passed", "There are rows enough", text)
    least = sorted(rows for _, rows, _ in small)
    span = points(least[0]) if len(least) == 1 else f"{points(least[0])} to {points(least[-1])}"
    text = (
        f"{len(small)} of {len(found)} sets: the largest difference shown is not significant, and is smaller than "
        f"what so many rows show four times out of five, which is {span} points. More rows may tell columns apart."
    )
    where = [
        f"{group[0].set_summary['label']}: {group[0].cell['n']:,} rows show {points(rows)} points; shown are "
        f"{points(shown)}"
        for group, rows, shown in small
    ]
    return check_result("few-rows", "tip", "Too few rows for the differences shown", text, where)


def _shown(group: list[ScoredCell]) -> tuple[float, float] | None:
    """The difference that the rows of a set show four times out of five, and the one between best and worst.

    The two are taken to be wrong independently of each other. Real encoders find the same rows hard and disagree less
    often, so that somewhat smaller differences are found as well.
    """
    best, worst = group[0].cell, group[-1].cell
    if len(group) < 2 or {best["interval"], worst["interval"]} - {"wilson", "cluster"}:  # folds share their rows
        return None
    one, two = best["accuracy"], worst["accuracy"]
    rows = best["n"] / max(1.0, (_inflation(best) + _inflation(worst)) / 2)
    return detectable(one * (1 - two) + two * (1 - one), max(1, round(rows))), one - two


def _apart(one: ScoredCell, two: ScoredCell) -> bool:
    """Whether two columns are significantly different."""
    letters = one.cell["letters"], two.cell["letters"]
    return None not in letters and set(letters[0]).isdisjoint(letters[1])


def _inflation(cell: Mapping[str, Any]) -> float:
    """How many rows are worth one independent one: by how much the interval is wider than if all were."""
    low, high = wilson(cell["accuracy"] * cell["n"], cell["n"])
    return float(((cell["high"] - cell["low"]) / (high - low)) ** 2)


def not_apart(summary: Summary) -> CheckResult | None:
    """Sets without a winner."""
    found = _lettered(summary)
    if not found:
        return None
    tied = [(group, [n for n in group if not _apart(n, group[0])]) for group in found]
    tied = [(group, best) for group, best in tied if len(best) > 1]
    if not tied:
        text = f"{len(found)} of {len(found)} sets: the best column is significantly different from all others."
        return check_result("not-apart", "passed", "Every set has a best", text)
    text = (
        f"{len(tied)} of {len(found)} sets: the best column is not significantly different from another. Do not "
        "read an order into them, nor that they are equal."
    )
    where = [
        f"{group[0].set_summary['label']}: "
        + ", ".join(f"{', '.join(n.column['label'])} {points(n.cell['accuracy'])}" for n in best)
        for group, best in tied
    ]
    return check_result("not-apart", "tip", "Some sets have no single best", text, where)


def _lettered(summary: Summary) -> list[list[ScoredCell]]:
    """Numbers that were compared with each other."""
    return [group for group in groups(summary) if any(n.cell["letters"] for n in group)]


def many_comparisons(summary: Summary) -> CheckResult | None:
    """Letters are adjusted within a set, and not over sets."""
    found = _lettered(summary)
    if not found:
        return None
    many = len(found)
    differing = sum(any(_apart(one, two) for one, two in combinations(group, 2)) for group in found)
    luck = round(100 * (1 - (1 - ALPHA) ** many))
    text = (
        f"Columns are compared on {many} {'set' if many == 1 else 'sets'}, on each at 5 %; {differing} of {many} show "
        f"a difference. If there were none at all, one set or more would show one with a chance of up to {luck} %."
    )
    if many < MANY_FAMILIES:
        return check_result("many-comparisons", "passed", "Few comparisons", text)
    return check_result("many-comparisons", "tip", "Many comparisons", text)
