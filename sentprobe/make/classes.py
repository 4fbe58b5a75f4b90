"""Which classes a set has, and how many rows each may have."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from sentprobe.errors import TooFewError
from sentprobe.make.candidates import Cell, Cells
from sentprobe.tasks import Policy, Task


def classes(cells: Cells, task: Task, policy: Policy, proposed: Mapping[str, int]) -> tuple[str, ...]:
    """The labels the set will have; raises TooFewError when the corpus is too small for the task."""
    sizes = cell_sizes(cells)
    totals: Counter[str] = Counter()
    for (label, _), n in sizes.items():
        totals[label] += n
    have = ", ".join(f"{label} {n}" for label, n in sorted(totals.items(), key=lambda p: -p[1])[:8]) or "none"
    if isinstance(task.labels, tuple):
        found = task.labels
        lack = f"{have}; expected at least {policy.min_class} of each of {', '.join(task.labels)}"
        here = set(totals) if task.complete else set(found)  # some labels appear only when the set is completed
        sound = bool(here) and all(totals[label] >= policy.min_class for label in here)
    else:
        least = policy.min_class
        if policy.balance == "natural":  # a class must be frequent enough to appear in every split
            total = totals.total()
            least = max(least, -(-2 * total // max(1, min(quotas(policy, 1, min(total, sum(policy.sizes)))))))
        ranked = sorted(totals, key=lambda c: (-proposed.get(c, 0), c))
        enough = [c for c in ranked if totals[c] >= least]
        min_classes = max(2, policy.min_classes)
        more = ", …" * (len(totals) > 8)
        lack = (
            f"{len(enough)} class{'es' * (len(enough) != 1)} with at least {least} ({have}{more}); expected at least "
            f"{min_classes} such classes{' with the same lengths' * (policy.strata == 'exact')}"
        )
        if policy.depths is not None:
            return _fixed(totals, sizes, policy, least)
        ordinal = policy.strata == "exact" and all(map(str.isdigit, enough))
        found = _range(sizes, sorted(enough), policy) if ordinal else tuple(sorted(enough[: policy.most_classes]))
        sound = len(found) >= min_classes
    if sound:
        return found
    raise TooFewError(f"the corpus has too few candidates: {lack}. Give a larger corpus, or leave the task out")


def _fixed(totals: Mapping[str, int], sizes: Mapping[Cell, int], policy: Policy, least: int) -> tuple[str, ...]:
    """The depths that the policy names, all of them."""
    assert policy.depths is not None
    low, high = policy.depths
    labels = tuple(f"{depth:02d}" for depth in range(low, high + 1))
    counts = {label: totals.get(label, 0) for label in labels}
    at_same_lengths = balanced(sizes, labels)
    paired = policy.strata == "exact" and policy.decorrelate == "exact" and policy.balance == "equal"
    if min(counts.values()) >= least and (at_same_lengths >= least or not paired):
        return labels
    raise TooFewError(
        f"the corpus has too few sentences of some depths: {', '.join(f'{label} {n}' for label, n in counts.items())}"
        f"{f'; {at_same_lengths} of each at the same lengths' * paired}; expected at least {least} of each. Give a "
        "larger corpus, or a narrower range with --set tree_depth.depths"
    )


def _range(sizes: Mapping[Cell, int], labels: Sequence[str], policy: Policy) -> tuple[str, ...]:
    """The widest run of neighbouring depths that reaches its quota at equal lengths, else the one with most rows."""
    best: tuple[tuple[int, int, int], tuple[str, ...]] = ((0, 0, 0), ())
    for first in range(len(labels)):
        for last in range(first + policy.min_classes, len(labels) + 1):
            run = tuple(labels[first:last])
            if int(run[-1]) - int(run[0]) != len(run) - 1 or (policy.classes and len(run) > policy.classes):
                break
            rows = balanced(sizes, run)
            quota = sum(policy.sizes) // len(run)
            if rows < policy.min_class:
                continue
            rank = (1, len(run), rows) if rows >= quota else (0, rows * len(run), len(run))
            best = max(best, (rank, run))
    return best[1]


def quotas(policy: Policy, n_classes: int, reach: int) -> tuple[int, int, int]:
    """Rows per class in each split: the requested sizes, or a scaled-down version of them.

    With a small corpus, validation and test get at least ``policy.floor`` rows each, or a fifth of what there is: the
    papers' 10:1:1 would leave too few to tell two encoders apart.
    """
    requested = [size // n_classes for size in policy.sizes]
    if sum(requested) <= reach:
        return requested[0], requested[1], requested[2]
    least = -(-policy.floor // n_classes)
    va, te = (min(n, max(reach * n // sum(requested), min(least, reach // 5))) for n in requested[1:])
    return min(requested[0], reach - va - te), va, te


def cell_sizes(cells: Cells) -> dict[Cell, int]:
    """How many candidates each cell has."""
    return {cell: len(items) for cell, items in cells.items()}


def balanced(sizes: Mapping[Cell, int], labels: Sequence[str]) -> int:
    """Rows per class when every stratum gives each class as many as its scarcest class has."""
    strata = {stratum for _, stratum in sizes}
    return sum(min(sizes.get((c, stratum), 0) for c in labels) for stratum in strata)
