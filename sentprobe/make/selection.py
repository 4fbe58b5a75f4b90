"""From a pool of candidates to splits: which classes, how many rows of each, and which rows go where.

Everything here is exact and deterministic: candidates are taken in the order of their priorities, and equal classes
have equal counts in every split and every stratum.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sentprobe.errors import TooFewError
from sentprobe.make.candidates import Candidate, Cell, Cells
from sentprobe.tasks import SPLITS, Example, Policy, Task

MIN_SPLIT_ROWS = 10
"""A set with a split of fewer rows than this is not made."""
SMALLEST_CAP = 5
"""A cap on one target form never goes below this many rows."""
MAX_LISTED_CLASSES = 8
"""Classes that a message counts."""


@dataclass(frozen=True, slots=True)
class Selection:
    """What was chosen: the classes, and the candidates of each split."""

    labels: tuple[str, ...]
    splits: Mapping[str, Sequence[Candidate]]
    cap: int | None = None


def select(cells: Cells, task: Task, policy: Policy, proposed: Mapping[str, int], most: int | None = None) -> Selection:
    """Choose classes, then distribute the candidates over the splits; ``proposed`` says how frequent a class is.

    ``most`` is a limit on the rows; the classes are those of the requested sizes all the same.
    """
    labels = choose_classes(cells, task, policy, proposed)
    rows = sum(policy.sizes) if most is None else min(most, sum(policy.sizes))
    cells = {cell: items for cell, items in cells.items() if cell[0] in labels or task.complete}
    if policy.balance == "natural" or (policy.strata == "exact" and policy.decorrelate == "gaussian"):
        joined = {"/".join(cell): items for cell, items in cells.items()}
        if policy.balance == "natural":
            rows_per = _scaled({name: len(items) for name, items in joined.items()}, rows)
        else:
            rows_per = {"/".join(cell): n for cell, n in gaussian_sizes(cell_sizes(cells), rows).items()}
        return Selection(labels, _deal(joined, rows_per, quotas(policy, 1, sum(rows_per.values()))))
    requested = rows // len(labels)
    available = balanced_rows(cell_sizes(cells), labels)
    cap = None
    if policy.cap is not None:
        cap = max(SMALLEST_CAP, math.ceil(policy.cap * min(requested, available)))
        cells = _capped(cells, cap)
        available = balanced_rows(cell_sizes(cells), labels)
    quota = quotas(policy, len(labels), min(requested, available))
    if min(quota) < 1:
        raise TooFewError(
            f"{'/'.join(map(str, policy.sizes))} rows were requested and each of {len(labels)} classes has "
            f"{available}: a split would have no row of some class. Request more rows, or give a larger corpus"
        )
    return Selection(labels, (_by_key if policy.disjoint else _by_class)(cells, labels, quota, policy), cap)


def check_splits(splits: Mapping[str, Sequence[Candidate | Example]], labels: Sequence[str]) -> None:
    """Raise TooFewError if a split is small, lacks a class, or has one class only."""
    for split, rows in splits.items():
        classes = {row.label for row in rows}
        missing = sorted(set(labels) - classes)
        if len(classes) < 2 or missing or len(rows) < MIN_SPLIT_ROWS:
            lacking = f" and no {', '.join(missing[:5])}" if missing else ""
            raise TooFewError(
                f"the corpus is too small: {split} would have {len(rows)} rows{lacking}; "
                f"expected at least {MIN_SPLIT_ROWS} rows and every class. "
                "Give a larger corpus, or a larger share to this split with --sizes"
            )


# Which classes


def choose_classes(cells: Cells, task: Task, policy: Policy, proposed: Mapping[str, int]) -> tuple[str, ...]:
    """The labels the set will have; raises TooFewError when the corpus is too small for the task."""
    sizes = cell_sizes(cells)
    totals: Counter[str] = Counter()
    for (label, _), n in sizes.items():
        totals[label] += n
    if isinstance(task.labels, tuple):
        # some labels appear only when the set is completed
        required = set(totals) if task.complete else set(task.labels)
        if required and all(totals[label] >= policy.min_class for label in required):
            return task.labels
        lacking = f"{_listed(totals)}; expected at least {policy.min_class} of each of {', '.join(task.labels)}"
        raise _too_few(lacking)
    least = policy.min_class
    if policy.balance == "natural":  # a class must be frequent enough to appear in every split
        total = totals.total()
        least = max(least, -(-2 * total // max(1, min(quotas(policy, 1, min(total, sum(policy.sizes)))))))
    if policy.depths is not None:
        return _fixed_depths(totals, sizes, policy, least)
    ranked = sorted(totals, key=lambda label: (-proposed.get(label, 0), label))
    frequent = [label for label in ranked if totals[label] >= least]
    if policy.strata == "exact" and all(map(str.isdigit, frequent)):
        labels = _widest_range(sizes, sorted(frequent), policy)
    else:
        labels = tuple(sorted(frequent[: policy.most_classes]))
    min_classes = max(2, policy.min_classes)
    if len(labels) >= min_classes:
        return labels
    ellipsis = ", …" * (len(totals) > MAX_LISTED_CLASSES)
    raise _too_few(
        f"{len(frequent)} class{'es' * (len(frequent) != 1)} with at least {least} ({_listed(totals)}{ellipsis}); "
        f"expected at least {min_classes} such classes{' with the same lengths' * (policy.strata == 'exact')}"
    )


def _listed(totals: Mapping[str, int]) -> str:
    """The largest classes, for messages: ``NN 40, NNS 12``."""
    largest = sorted(totals.items(), key=lambda p: -p[1])[:MAX_LISTED_CLASSES]
    return ", ".join(f"{label} {n}" for label, n in largest) or "none"


def _too_few(lacking: str) -> TooFewError:
    return TooFewError(f"the corpus has too few candidates: {lacking}. Give a larger corpus, or leave the task out")


def _fixed_depths(totals: Mapping[str, int], sizes: Mapping[Cell, int], policy: Policy, least: int) -> tuple[str, ...]:
    """The depths that the policy names, all of them."""
    assert policy.depths is not None
    low, high = policy.depths
    labels = tuple(f"{depth:02d}" for depth in range(low, high + 1))
    counts = {label: totals.get(label, 0) for label in labels}
    at_same_lengths = balanced_rows(sizes, labels)
    paired = policy.strata == "exact" and policy.decorrelate == "exact" and policy.balance == "equal"
    if min(counts.values()) >= least and (at_same_lengths >= least or not paired):
        return labels
    raise TooFewError(
        f"the corpus has too few sentences of some depths: {', '.join(f'{label} {n}' for label, n in counts.items())}"
        f"{f'; {at_same_lengths} of each at the same lengths' * paired}; expected at least {least} of each. Give a "
        "larger corpus, or a narrower range with --set tree_depth.depths"
    )


def _widest_range(sizes: Mapping[Cell, int], labels: Sequence[str], policy: Policy) -> tuple[str, ...]:
    """The widest run of neighbouring depths that reaches its quota at equal lengths, else the one with most rows."""
    best: tuple[tuple[int, int, int], tuple[str, ...]] = ((0, 0, 0), ())
    for first in range(len(labels)):
        for last in range(first + policy.min_classes, len(labels) + 1):
            run = tuple(labels[first:last])
            if int(run[-1]) - int(run[0]) != len(run) - 1 or (policy.classes and len(run) > policy.classes):
                break
            rows = balanced_rows(sizes, run)
            quota = sum(policy.sizes) // len(run)
            if rows < policy.min_class:
                continue
            rank = (1, len(run), rows) if rows >= quota else (0, rows * len(run), len(run))
            best = max(best, (rank, run))
    return best[1]


# How many rows


def quotas(policy: Policy, n_classes: int, available: int) -> tuple[int, int, int]:
    """Rows per class in each split: the requested sizes, or a scaled-down version of them.

    With a small corpus, validation and test get at least ``policy.floor`` rows each, or a fifth of what there is: the
    papers' 10:1:1 would leave too few to tell two encoders apart.
    """
    requested = [size // n_classes for size in policy.sizes]
    if sum(requested) <= available:
        return requested[0], requested[1], requested[2]
    least = -(-policy.floor // n_classes)
    va, te = (min(n, max(available * n // sum(requested), min(least, available // 5))) for n in requested[1:])
    return min(requested[0], available - va - te), va, te


def cell_sizes(cells: Cells) -> dict[Cell, int]:
    """How many candidates each cell has."""
    return {cell: len(items) for cell, items in cells.items()}


def balanced_rows(sizes: Mapping[Cell, int], labels: Sequence[str]) -> int:
    """Rows per class when every stratum gives each class as many as its scarcest class has."""
    return sum(_rows_per_stratum(sizes, labels).values())


def _rows_per_stratum(sizes: Mapping[Cell, int], labels: Sequence[str]) -> dict[str, int]:
    strata = sorted({stratum for _, stratum in sizes})
    return {stratum: min(sizes.get((label, stratum), 0) for label in labels) for stratum in strata}


def gaussian_sizes(cells: Mapping[Cell, int], most: int) -> dict[Cell, int]:
    """Rows per (depth, length) cell under independent normals of depth and length, as SentEval drew them.

    Means and deviations are the pool's own; the length deviation is narrowed until the cells can be filled, and the
    scale is the largest that leaves less than 1 % of the rows short.
    """
    table = {(int(d), int(s.rpartition("/")[2])): n for (d, s), n in cells.items()}
    depths, lengths = sorted({d for d, _ in table}), sorted({n for _, n in table})
    mean_d, dev_d = _moments({d: sum(n for (e, _), n in table.items() if e == d) for d in depths})
    mean_l, dev_l = _moments({k: sum(n for (_, m), n in table.items() if m == k) for k in lengths})
    best: dict[tuple[int, int], int] = {}
    for narrow in (1.0, 0.8, 0.65, 0.5, 0.4, 0.3):
        weight = {
            (d, k): math.exp(-0.5 * ((d - mean_d) / dev_d) ** 2 - 0.5 * ((k - mean_l) / (dev_l * narrow)) ** 2)
            for d in depths
            for k in lengths
        }
        low, high = 0.0, most / sum(weight.values())
        for _ in range(40):
            scale = (low + high) / 2
            target = {cell: scale * w for cell, w in weight.items()}
            short = sum(max(0.0, math.floor(n) - table.get(cell, 0)) for cell, n in target.items())
            low, high = (scale, high) if short <= 0.01 * sum(target.values()) else (low, scale)
        sizes = {cell: min(table.get(cell, 0), math.floor(low * w)) for cell, w in weight.items()}
        if sum(sizes.values()) > sum(best.values()):
            best = sizes
    return {cell: best.get((int(cell[0]), int(cell[1].rpartition("/")[2])), 0) for cell in cells}


def _moments(counts: Mapping[int, int]) -> tuple[float, float]:
    total = sum(counts.values())
    mean = sum(x * n for x, n in counts.items()) / total
    return mean, max(0.5, math.sqrt(sum(n * (x - mean) ** 2 for x, n in counts.items()) / total))


# Which rows go where


def _by_class(cells: Cells, labels: Sequence[str], quota: Sequence[int], policy: Policy) -> dict[str, list[Candidate]]:
    """Every class gets the same number of rows in every stratum and split."""
    rows_per = _scaled(_rows_per_stratum(cell_sizes(cells), labels), sum(quota))
    splits: dict[str, list[Candidate]] = {split: [] for split in SPLITS}
    for c in labels:
        by_stratum = {stratum: cells.get((c, stratum), ()) for stratum in rows_per}
        for split, items in _deal(by_stratum, rows_per, quota).items():
            splits[split] += items
    spare = _spare(cells, labels, [item for items in splits.values() for item in items])
    return _fill_up(splits, dict.fromkeys(SPLITS, spare), labels, policy)


def _by_key(cells: Cells, labels: Sequence[str], quota: Sequence[int], policy: Policy) -> dict[str, list[Candidate]]:
    """The same with every target form in one split only: forms are assigned first, largest first."""
    home = deal_keys(
        _key_counts(cells),
        {c: sum(len(v) for (label, _), v in cells.items() if label == c) for c in labels},
        quota,
    )
    splits: dict[str, list[Candidate]] = {}
    spare: dict[str, dict[str, list[Candidate]]] = {}
    for split, rows in zip(SPLITS, quota, strict=True):
        in_split = {cell: [i for i in items if home[i.key or ""] == split] for cell, items in cells.items()}
        rows_per = _scaled(_rows_per_stratum(cell_sizes(in_split), labels), rows)
        splits[split] = [i for c in labels for s, n in rows_per.items() for i in in_split.get((c, s), [])[:n]]
        spare[split] = _spare(in_split, labels, splits[split])
    return _fill_up(splits, spare, labels, policy)


def _spare(cells: Cells, labels: Sequence[str], used: Sequence[Candidate]) -> dict[str, list[Candidate]]:
    """The candidates of each class that are not used."""
    taken = {id(item) for item in used}
    return {c: [i for (label, _), v in cells.items() if label == c for i in v if id(i) not in taken] for c in labels}


def deal_keys(
    counts: Mapping[str, Mapping[str, int]], supply: Mapping[str, int], quota: Sequence[int]
) -> dict[str, str]:
    """Assign every target form to one split, largest first, to the split that lacks most of its classes.

    ``counts`` is form → class → rows; ``supply`` class → rows in all; ``quota`` rows per class and split.
    """
    share = [q / sum(quota) for q in quota]
    capacity = {(split, c): part * n for split, part in zip(SPLITS, share, strict=True) for c, n in supply.items()}
    free = dict(capacity)
    home: dict[str, str] = {}
    for key in sorted(counts, key=lambda k: (-sum(counts[k].values()), k)):
        rows = counts[key]

        def lack(split: str, rows: Mapping[str, int] = rows) -> tuple[bool, float, float]:
            fits = all(free[split, c] >= n for c, n in rows.items())
            relative = sum(n * free[split, c] / max(capacity[split, c], 1e-9) for c, n in rows.items())
            return fits, relative if fits else 0.0, sum(free[split, c] for c in rows)

        best = max(SPLITS, key=lack)
        home[key] = best
        for c, n in rows.items():
            free[best, c] -= n
    return home


def _key_counts(cells: Cells) -> dict[str, Counter[str]]:
    out: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for (label, _), items in cells.items():
        for item in items:
            out[item.key or ""][label] += 1
    return out


def _capped(cells: Cells, cap: int) -> dict[Cell, list[Candidate]]:
    """At most ``cap`` candidates per class and target form, those of lowest priority."""
    out: defaultdict[Cell, list[Candidate]] = defaultdict(list)
    times: Counter[tuple[str, str | None]] = Counter()
    for item, cell in sorted(
        ((i, cell) for cell, v in cells.items() for i in v), key=lambda p: (p[0].priority, p[0].near_key)
    ):
        times[cell[0], item.key] += 1
        if times[cell[0], item.key] <= cap:
            out[cell].append(item)
    return out


def _scaled(counts: Mapping[str, int], most: int) -> dict[str, int]:
    """The same proportions with a sum of at most ``most``, by cumulative rounding."""
    total = sum(counts.values())
    if total <= most:
        return dict(counts)
    out, running, assigned = {}, 0, 0
    for cell in sorted(counts):
        running += counts[cell]
        out[cell] = running * most // total - assigned
        assigned += out[cell]
    return out


def _deal(
    strata: Mapping[str, Sequence[Candidate]], rows_per: Mapping[str, int], sizes: Sequence[int]
) -> dict[str, list[Candidate]]:
    """Give the first ``rows_per`` candidates of each stratum to the splits in the proportion of ``sizes``."""
    total = sum(sizes)
    dealt = [0] * len(sizes)
    out: dict[str, list[Candidate]] = {split: [] for split in SPLITS}
    at = 0
    for stratum in sorted(strata):
        for item in strata[stratum][: rows_per.get(stratum, 0)]:
            at += 1
            best = max(range(len(sizes)), key=lambda i: sizes[i] * at / total - dealt[i])
            dealt[best] += 1
            out[SPLITS[best]].append(item)
    return out


def _fill_up(
    splits: dict[str, list[Candidate]],
    spare: Mapping[str, Mapping[str, Sequence[Candidate]]],
    labels: Sequence[str],
    policy: Policy,
) -> dict[str, list[Candidate]]:
    """Fill up a split that is short only because its size is not a multiple of the number of classes."""
    if policy.remainder == "drop":
        return splits
    used: set[int] = set()
    for split, size in zip(SPLITS, policy.sizes, strict=True):
        missing = size - len(splits[split])
        if not 0 < missing < len(labels):
            continue
        for c in sorted(labels, key=lambda c: (-len(spare[split][c]), c))[:missing]:
            item = next((i for i in spare[split][c] if i.near_key not in used), None)
            if item is not None:
                used.add(item.near_key)
                splits[split].append(item)
    return splits
