"""Labels that are correlated with the length of the sentence."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from sentprobe.audit.check import AuditCheck, Code, Finding
from sentprobe.data.expectations import Expectations
from sentprobe.data.splits import Split
from sentprobe.tasks import LENGTH_BINS

MAX_P_LENGTH = 1e-3
"""A finding needs a p-value below this."""
MIN_LENGTH_CORRELATION = 0.1
"""Correlation of label and length."""
MIN_BIN_ROWS = 100
"""Length bins with fewer rows are skipped."""

LENGTH_CORRELATION = Code(
    "length-correlation",
    "the label is correlated with sentence length",
    "The correlation ratio of token count on label (for two classes: |r|), corrected for the number of classes, is "
    "0.1 or more with p < 0.001 in an analysis of variance, and the task does not declare that it is about "
    "length. A warning: part of a score may be knowledge of lengths. shortcut-length says how large a part.",
    "Balance the classes within length bins.",
)
LENGTH_CORRELATION_IN_BINS = Code(
    "length-correlation-in-bins",
    "the label is correlated with length within a length bin",
    "The same within one of the bins 5-8, 9-12, 13-16, 17-20, 21-25 and 26-28 that has at least 100 rows (p "
    "below 0.001 divided by the number of bins), where label and length are not correlated overall. A warning: "
    "classes were balanced over bins that are too wide.",
    "Balance over narrower bins, or over every length.",
)


def find(rows: Split, expectations: Expectations) -> Iterator[Finding]:
    """Whether the label is correlated with length, overall or within bins."""
    if "length" in expectations.solved_by or len(rows.classes) < 2:
        return
    tokens = np.array(rows.lengths, float)
    label = rows.labels
    eta, p = correlation_ratio(label, tokens)
    if eta >= MIN_LENGTH_CORRELATION and p < MAX_P_LENGTH:
        message = f"label and length are correlated: correlation ratio {eta:.2f}"
        evidence: dict[str, float | int | str] = {"correlation ratio": round(eta, 4), "p": float(f"{p:.2g}")}
        yield LENGTH_CORRELATION.finding("warning", message, count=len(rows), evidence=evidence)
        return
    worst: tuple[float, str, int, float] | None = None
    for low, high in LENGTH_BINS:
        inside = (tokens >= low) & (tokens <= high)
        if inside.sum() >= MIN_BIN_ROWS:
            eta, p = correlation_ratio(label[inside], tokens[inside])
            significant = p < MAX_P_LENGTH / len(LENGTH_BINS)
            if eta >= MIN_LENGTH_CORRELATION and significant and (worst is None or eta > worst[0]):
                worst = (eta, f"{low}-{high}", int(inside.sum()), p)
    if worst:
        eta, name, n, p = worst
        message = f"label and length are correlated among sentences of {name} tokens: correlation ratio {eta:.2f}"
        evidence = {"correlation ratio": round(eta, 4), "bin": name, "p": float(f"{p:.2g}")}
        yield LENGTH_CORRELATION_IN_BINS.finding("warning", message, count=n, evidence=evidence)


def correlation_ratio(label: Sequence[int] | np.ndarray, value: np.ndarray) -> tuple[float, float]:
    """How far a class predicts a number: the root of epsilon squared, and the p-value of the analysis of variance."""
    from scipy.special import fdtrc

    size = np.bincount(label)
    sums = np.bincount(label, value)
    k, n = int((size > 0).sum()), len(value)
    total = float(((value - value.mean()) ** 2).sum())
    if k < 2 or n <= k or total == 0:
        return 0.0, 1.0
    within = total - float((sums[size > 0] ** 2 / size[size > 0]).sum() - sums.sum() ** 2 / n)
    within = max(within, 0.0)
    chance = (k - 1) * within / (n - k)
    if within == 0:
        return 1.0, 0.0
    f = ((total - within) / (k - 1)) / (within / (n - k))
    return math.sqrt(max(0.0, (total - within - chance) / total)), float(fdtrc(k - 1, n - k, f))


audit_check = AuditCheck(
    name="lengths",
    topic="length",
    codes=(LENGTH_CORRELATION, LENGTH_CORRELATION_IN_BINS),
    in_set=find,
    needs_classes=True,
    order=50,
)
