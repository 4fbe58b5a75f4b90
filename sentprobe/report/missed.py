"""What a run cannot tell: which differences comparisons on few test rows would have missed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import median

from sentprobe.report.types import Cell, Summary
from sentprobe.stats import level as levels

SMALL = 400
"""With fewer test rows, differences of several points are rarely significant."""


def missed_differences(summary: Summary, tested: Sequence[int]) -> list[str]:
    """A sentence, if most comparisons with baselines that are not significant are on few test rows."""
    undecided = list(_undecided(summary, tested))
    small = [(cell.n, size) for cell, size in undecided if cell.n < SMALL]
    if 2 * len(small) <= len(undecided):
        return []
    about = f"below about {max(1, round(100 * median(size for _, size in small)))} points"
    if len(undecided) == 1:
        return [f"With {small[0][0]} test rows, a difference {about} would often have been missed."]
    which = "The" if len(small) == len(undecided) else "Most"
    return [
        f"{which} comparisons that are not significant are on fewer than {SMALL} test rows: differences {about} would "
        "often have been missed."
    ]


def _undecided(summary: Summary, tested: Sequence[int]) -> Iterator[tuple[Cell, float]]:
    """Cells that do not differ significantly from the best baseline, and the difference that would be detected."""
    for i in tested:
        for cell in summary.sets[i].cells:
            against = None if cell is None else cell.against
            if cell is None or against is None or against.p is None or against.p <= levels.ALPHA:
                continue
            if against.detectable is not None:
                yield cell, against.detectable
