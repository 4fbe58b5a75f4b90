"""How small a difference a test set can show."""

from __future__ import annotations

import math
from collections.abc import Iterator

from sentprobe.audit.check import AuditCheck, Code, Finding, Severity, pick_examples
from sentprobe.core.formatting import POINTS
from sentprobe.data.expectations import Expectations
from sentprobe.data.splits import Split
from sentprobe.stats import level as levels
from sentprobe.stats.level import normal_quantile

POWER = 0.8
DISAGREE = 0.2
"""Share of rows on which one encoder is right and the other wrong: typical of neighbours in a table."""
SMALL_TEST_ROWS, TINY = 400, 100
MIN_TEST_ROWS_PER_CLASS = 20

SMALL_TEST = Code(
    "small-test",
    "the test set is small",
    "The test set has fewer than 400 rows (a note) or fewer than 100 (a warning). The message gives "
    "two standard errors of an accuracy of one half, and the smallest difference between two encoders that "
    "McNemar's test would find (5 %, two-sided, with a power of 80 %) if the two disagree on a fifth of the rows.",
    "Use a larger corpus or a larger share of it for testing, or do not rank encoders by this set alone.",
)
FEW_PER_CLASS = Code(
    "few-per-class",
    "classes with few test rows",
    "Classes with fewer than 20 test rows; the count is the number of classes. A note: the score of one such class "
    "says little, though the score over all classes may say something.",
    "Do not read the scores of single classes.",
)


def resolution(n: int, disagree: float = DISAGREE) -> float:
    """The smallest difference in accuracy that McNemar's test finds among n rows with a power of 80 %.

    Connor (1987): n = (z sqrt(d) + w sqrt(d - δ²))² / δ², solved for δ by bisection.
    """
    confidence, power = round(normal_quantile(1 - levels.ALPHA), 6), round(normal_quantile(2 * POWER - 1), 6)
    low, high = 0.0, disagree
    for _ in range(60):
        middle = (low + high) / 2
        needed = confidence * math.sqrt(disagree) + power * math.sqrt(disagree - middle**2)
        low, high = (middle, high) if needed > middle * math.sqrt(n) else (low, middle)
    return high


def find(rows: Split, expectations: Expectations) -> Iterator[Finding]:
    """Test rows in all, and per class."""
    counts = rows.label_counts("te")
    n = counts.total()
    if not n:
        return
    if n < SMALL_TEST_ROWS:
        width, least = 1 / math.sqrt(n), resolution(n)
        power = f"differences of {POINTS.number(least)} points or more" if least < DISAGREE else "hardly any difference"
        message = (
            f"test has {n} rows: accuracies are known to about ±{POINTS.number(width)} points; it can show {power}"
        )
        severity: Severity = "warning" if n < TINY else "note"
        evidence = {"rows": n, "two standard errors": round(width, 4), "smallest difference": round(least, 4)}
        yield SMALL_TEST.finding(severity, message, "te", n, evidence=evidence)
    few = [label for label, k in counts.items() if k < MIN_TEST_ROWS_PER_CLASS]
    if few:
        message = f"{len(few)} of {len(counts)} classes have fewer than {MIN_TEST_ROWS_PER_CLASS} test rows"
        evidence = {"fewest": min(counts.values()), "classes": len(counts)}
        yield FEW_PER_CLASS.finding("note", message, "te", len(few), pick_examples(few), evidence)


audit_check = AuditCheck(
    name="size", topic="size", codes=(SMALL_TEST, FEW_PER_CLASS), in_set=find, needs_classes=True, quick=True, order=70
)
