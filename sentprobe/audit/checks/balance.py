"""Classes of unequal size, and splits with different shares of the classes."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import numpy as np

from sentprobe.audit.check import AuditCheck, Code, Finding, Severity
from sentprobe.audit.checks.labels import unusual
from sentprobe.data.expectations import Expectations
from sentprobe.data.splits import Split
from sentprobe.tasks import SPLIT_NAMES

MAX_P_BALANCE = 1e-3
"""A statistical finding needs a p-value below this."""
UNEVEN, LOPSIDED = 1.1, 1.5
"""Largest over smallest class: a note, a warning."""
DRIFTED = 0.02
"""Total variation distance between the class shares of two splits."""

IMBALANCE = Code(
    "imbalance",
    "classes of unequal size",
    "The largest class of a split has at least 1.1 times the rows of the smallest (a note), or 1.5 times (a "
    "warning, unless the manifest says that classes are left as in the corpus), and a chi-square test against "
    "equal classes has p < 0.001. The majority baseline is then higher than with equal classes.",
    "Compare with the majority baseline given here, and report macro-averaged scores too.",
)
DRIFT = Code(
    "drift",
    "splits with different shares of the classes",
    "The shares of the classes that two splits both have differ by 2 % in total variation or more, with p < "
    "0.001 in a chi-square test of homogeneity. A warning: the splits were not drawn in the same way, and what "
    "was tuned on one may not suit the other.",
    "Draw all splits from one pool, class by class.",
)


def find(rows: Split, expectations: Expectations) -> Iterator[Finding]:
    """How rows are distributed over classes and splits; labels that are probably mistakes are left to other checks."""
    by_split = [rows.label_counts(split) for split in rows.split_names]
    unusual_labels = unusual(rows, expectations)
    table = np.array(
        [[counts[label] for label in rows.classes if label not in unusual_labels] for counts in by_split], float
    )
    for split, counts in zip(rows.split_names, table, strict=True):
        sizes = counts[counts > 0]
        if len(sizes) < 2:
            continue
        ratio, p = sizes.max() / sizes.min(), chi_square(sizes[None, :], np.full((1, len(sizes)), sizes.mean()))
        if ratio >= UNEVEN and p < MAX_P_BALANCE:
            share = sizes.max() / sizes.sum()
            message = (
                f"the largest class of {SPLIT_NAMES[split]} has {ratio:.1f} times the rows of the smallest: "
                f"{100 * share:.1f} % majority, where equal classes have {100 / len(sizes):.1f} %"
            )
            severity: Severity = "warning" if ratio >= LOPSIDED and not expectations.natural_balance else "note"
            evidence = {"ratio": round(float(ratio), 3), "majority": round(float(share), 4), "p": float(f"{p:.2g}")}
            yield IMBALANCE.finding(severity, message, split, int(sizes.max()), evidence=evidence)
    for pair in combinations(range(len(rows.split_names)), 2):
        both = table[list(pair)]
        both = both[:, both.min(axis=0) > 0]  # a missing class is a finding of its own
        if both.shape[1] < 2:
            continue
        shares = both / both.sum(axis=1, keepdims=True)
        distance = float(abs(shares[0] - shares[1]).sum() / 2)
        p = chi_square(both, both.sum(axis=1, keepdims=True) * both.sum(axis=0) / both.sum())
        if distance >= DRIFTED and p < MAX_P_BALANCE:
            splits = [rows.split_names[i] for i in pair]
            names = " and ".join(SPLIT_NAMES[s] for s in splits)
            message = f"the class shares of {names} differ by {100 * distance:.1f} %"
            moved = round(distance * float(both[1].sum()))
            evidence = {"total variation": round(distance, 4), "p": float(f"{p:.2g}")}
            yield DRIFT.finding("warning", message, "/".join(splits), moved, evidence=evidence)


def chi_square(observed: np.ndarray, expected: np.ndarray) -> float:
    """The p-value of Pearson's test of counts; (rows - 1) or 1 times (columns - 1) degrees of freedom."""
    from scipy.special import chdtrc

    free = max(1, observed.shape[0] - 1) * (observed.shape[1] - 1)
    return float(chdtrc(free, ((observed - expected) ** 2 / expected).sum()))


audit_check = AuditCheck(
    name="balance", topic="labels", codes=(IMBALANCE, DRIFT), in_set=find, needs_classes=True, order=21
)
