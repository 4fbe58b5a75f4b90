"""Classes of unequal size, splits of unequal make-up, and labels that go with length."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np
from scipy.special import chdtrc, fdtrc

from sonde.audit.finding import Code, Finding, Severity
from sonde.audit.labels import unusual
from sonde.audit.rows import Rows
from sonde.data.expected import Expectations
from sonde.task import LENGTH_BINS

MAX_P_BALANCE = 1e-3
"""A statistical finding needs a p-value below this."""
UNEVEN, LOPSIDED = 1.1, 1.5
"""Largest over smallest class."""
DRIFTED = 0.02
"""Total variation distance between the class shares of two splits."""
MIN_LENGTH_CORRELATION = 0.1
"""Correlation of label and length."""
MIN_BIN_ROWS = 100
"""Rows a length bin needs to be looked at."""

CODES = (
    Code(
        "imbalance",
        "classes of unequal size",
        "The largest class of a split has at least 1.1 times the rows of the smallest (a note), or 1.5 times (a "
        "warning, unless the manifest says that classes are left as in the corpus), and a chi-square test against "
        "equal classes has p < 0.001. The majority baseline is then above one in the number of classes.",
        "Compare with the majority baseline given here, and report macro-averaged scores too.",
    ),
    Code(
        "drift",
        "splits with different shares of the classes",
        "The shares of the classes that two splits both have differ by 2 % in total variation or more, with p < "
        "0.001 in a chi-square test of homogeneity. A warning: the splits were not drawn alike, and what was tuned "
        "on one may not suit the other.",
        "Draw all splits from one pool, class by class.",
    ),
    Code(
        "length-correlation",
        "the label goes with the length of the sentence",
        "The correlation ratio of token count on label (for two classes: |r|), corrected for the number of classes, is "
        "0.1 or more with p < 0.001 in an analysis of variance, and the task does not declare that it is about "
        "length. A warning: part of a score may be knowledge of lengths. shortcut-length says how large a part.",
        "Balance the classes inside length bins.",
    ),
    Code(
        "length-correlation-in-bins",
        "the label goes with the length inside a length bin",
        "The same inside one of the bins 5-8, 9-12, 13-16, 17-20, 21-25 and 26-28 that holds at least 100 rows (p "
        "below 0.001 divided by the number of bins), where the label does not go with the length overall. A warning: "
        "classes were balanced over bins that are too wide.",
        "Balance over narrower bins, or over every length.",
    ),
)
ADVICE = {code.name: code.advice for code in CODES}


def balance(rows: Rows, expectations: Expectations) -> Iterator[Finding]:
    """How the rows are shared out among classes and splits; labels that are hardly meant are left to other checks."""
    by_split = [rows.counts(split) for split in rows.splits]
    odd = unusual(rows, expectations)
    table = np.array([[counts[label] for label in rows.labels if label not in odd] for counts in by_split], float)
    for split, counts in zip(rows.splits, table, strict=True):
        met = counts[counts > 0]
        if len(met) < 2:
            continue
        ratio, p = met.max() / met.min(), chi_square(met[None, :], np.full((1, len(met)), met.mean()))
        if ratio >= UNEVEN and p < MAX_P_BALANCE:
            share = met.max() / met.sum()
            message = (
                f"the largest class of {split} has {ratio:.1f} times the rows of the smallest: {100 * share:.1f} % "
                f"majority where equal classes have {100 / len(met):.1f}"
            )
            severity: Severity = "warning" if ratio >= LOPSIDED and not expectations.natural_balance else "note"
            evidence = {"ratio": round(float(ratio), 3), "majority": round(float(share), 4), "p": _short(p)}
            yield Finding("imbalance", severity, message, ADVICE["imbalance"], split, int(met.max()), (), evidence)
    for one, two in combinations(range(len(rows.splits)), 2):
        both = table[[one, two]][:, table[[one, two]].min(axis=0) > 0]  # what one lacks is another finding
        if both.shape[1] < 2:
            continue
        shares = both / both.sum(axis=1, keepdims=True)
        distance = float(abs(shares[0] - shares[1]).sum() / 2)
        p = chi_square(both, both.sum(axis=1, keepdims=True) * both.sum(axis=0) / both.sum())
        if distance >= DRIFTED and p < MAX_P_BALANCE:
            pair = f"{rows.splits[one]}/{rows.splits[two]}"
            message = f"the classes of {pair.replace('/', ' and ')} have shares {100 * distance:.1f} % apart"
            moved = round(distance * float(both[1].sum()))
            evidence = {"total variation": round(distance, 4), "p": _short(p)}
            yield Finding("drift", "warning", message, ADVICE["drift"], pair, moved, (), evidence)


def lengths(rows: Rows, expectations: Expectations) -> Iterator[Finding]:
    """Whether the label goes with the length, overall or inside bins."""
    if "length" in expectations.solved_by or len(rows.labels) < 2:
        return
    tokens = np.array([len(t) for t in rows.tokens], float)
    label = np.unique(rows.label, return_inverse=True)[1]
    eta, p = correlation_ratio(label, tokens)
    if eta >= MIN_LENGTH_CORRELATION and p < MAX_P_BALANCE:
        message = f"label and length go together: correlation ratio {eta:.2f}"
        evidence: dict[str, float | int | str] = {"correlation ratio": round(eta, 4), "p": _short(p)}
        yield Finding(
            "length-correlation", "warning", message, ADVICE["length-correlation"], None, len(rows), (), evidence
        )
        return
    worst: tuple[float, str, int, float] | None = None
    for low, high in LENGTH_BINS:
        inside = (tokens >= low) & (tokens <= high)
        if inside.sum() >= MIN_BIN_ROWS:
            eta, p = correlation_ratio(label[inside], tokens[inside])
            if (
                eta >= MIN_LENGTH_CORRELATION
                and p < MAX_P_BALANCE / len(LENGTH_BINS)
                and (worst is None or eta > worst[0])
            ):
                worst = (eta, f"{low}-{high}", int(inside.sum()), p)
    if worst:
        eta, name, n, p = worst
        message = f"label and length go together among sentences of {name} tokens: correlation ratio {eta:.2f}"
        evidence = {"correlation ratio": round(eta, 4), "bin": name, "p": _short(p)}
        code = "length-correlation-in-bins"
        yield Finding(code, "warning", message, ADVICE[code], None, n, (), evidence)


def chi_square(met: np.ndarray, expected: np.ndarray) -> float:
    """Pearson's test of counts against those expected; (rows - 1) or 1 times (columns - 1) degrees of freedom."""
    free = max(1, met.shape[0] - 1) * (met.shape[1] - 1)
    return float(chdtrc(free, ((met - expected) ** 2 / expected).sum()))


def correlation_ratio(label: Sequence[int] | np.ndarray, value: np.ndarray) -> tuple[float, float]:
    """How far a class tells a number: the root of epsilon squared, and the p-value of the analysis of variance."""
    size = np.bincount(label)
    sums = np.bincount(label, value)
    k, n = int((size > 0).sum()), len(value)
    whole = float(((value - value.mean()) ** 2).sum())
    if k < 2 or n <= k or whole == 0:
        return 0.0, 1.0
    within = whole - float((sums[size > 0] ** 2 / size[size > 0]).sum() - sums.sum() ** 2 / n)
    within = max(within, 0.0)
    chance = (k - 1) * within / (n - k)
    if within == 0:
        return 1.0, 0.0
    f = ((whole - within) / (k - 1)) / (within / (n - k))
    return math.sqrt(max(0.0, (whole - within - chance) / whole)), float(fdtrc(k - 1, n - k, f))


def _short(p: float) -> float:
    return float(f"{p:.2g}")
