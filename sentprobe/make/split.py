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
from sentprobe.make.classes import balanced, cell_sizes, classes, quotas
from sentprobe.make.gaussian import gaussian
from sentprobe.tasks import SPLITS, Example, Policy, Task

MIN_SPLIT_ROWS = 10
"""A set with a split of fewer rows than this is not made."""
SMALLEST_CAP = 5
"""A cap on one target form never goes below this many rows."""


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
    labels = classes(cells, task, policy, proposed)
    rows = sum(policy.sizes) if most is None else min(most, sum(policy.sizes))
    kept: Cells = {cell: items for cell, items in cells.items() if cell[0] in labels or task.complete}
    if policy.balance == "natural":
        merged = {"/".join(cell): items for cell, items in kept.items()}
        rows_per = _scaled({cell: len(items) for cell, items in merged.items()}, rows)
        return Selection(labels, _deal(merged, rows_per, quotas(policy, 1, sum(rows_per.values()))))
    if policy.strata == "exact" and policy.decorrelate == "gaussian":
        drawn = gaussian({cell: len(v) for cell, v in kept.items()}, rows)
        merged = {"/".join(cell): items for cell, items in kept.items()}
        rows_per = {"/".join(cell): n for cell, n in drawn.items()}
        return Selection(labels, _deal(merged, rows_per, quotas(policy, 1, sum(rows_per.values()))))
    enough = rows // len(labels)
    reach = balanced(cell_sizes(kept), labels)
    cap = None
    if policy.cap is not None:
        cap = max(SMALLEST_CAP, math.ceil(policy.cap * min(enough, reach)))
        kept = _capped(kept, cap)
        reach = balanced(cell_sizes(kept), labels)
    quota = quotas(policy, len(labels), min(enough, reach))
    if min(quota) < 1:
        raise TooFewError(
            f"{'/'.join(map(str, policy.sizes))} rows were requested and each of {len(labels)} classes has {reach}: "
            "a split would have no row of some class. Request more rows, or give a larger corpus"
        )
    return Selection(labels, (_by_key if policy.disjoint else _by_class)(kept, labels, quota, policy), cap)


def check_splits(splits: Mapping[str, Sequence[Candidate | Example]], labels: Sequence[str]) -> None:
    """No split is small, lacks a class, or has one class only."""
    for split, found in splits.items():
        here = {row.label for row in found}
        expected_labels = set(labels)
        if len(here) < 2 or expected_labels - here or len(found) < MIN_SPLIT_ROWS:
            missing = ", ".join(sorted(expected_labels - here)[:5])
            raise TooFewError(
                f"the corpus is too small: {split} would have {len(found)} rows{missing and f' and no {missing}'}; "
                f"expected at least {MIN_SPLIT_ROWS} rows and every class. "
                "Give a larger corpus, or a larger share to this split with --sizes"
            )


# How many, and where


def _by_class(cells: Cells, labels: Sequence[str], quota: Sequence[int], policy: Policy) -> dict[str, list[Candidate]]:
    """Every class gets the same number of rows in every stratum and split."""
    sizes = cell_sizes(cells)
    strata = sorted({stratum for _, stratum in sizes})
    rows_per = _scaled({s: min(sizes.get((c, s), 0) for c in labels) for s in strata}, sum(quota))
    splits: dict[str, list[Candidate]] = {split: [] for split in SPLITS}
    for c in labels:
        own = {stratum: cells.get((c, stratum), ()) for stratum in strata}
        for split, items in _deal(own, rows_per, quota).items():
            splits[split] += items
    used = {id(item) for items in splits.values() for item in items}
    spare = {c: [i for (label, _), v in cells.items() if label == c for i in v if id(i) not in used] for c in labels}
    return _spread(splits, dict.fromkeys(SPLITS, spare), labels, policy)


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
        mine = {cell: [i for i in items if home[i.key or ""] == split] for cell, items in cells.items()}
        sizes = cell_sizes(mine)
        strata = sorted({stratum for _, stratum in sizes})
        rows_per = _scaled({s: min(sizes.get((c, s), 0) for c in labels) for s in strata}, rows)
        splits[split] = [i for c in labels for s in strata for i in mine.get((c, s), [])[: rows_per[s]]]
        used = {id(item) for item in splits[split]}
        spare[split] = {
            c: [i for (label, _), v in mine.items() if label == c for i in v if id(i) not in used] for c in labels
        }
    return _spread(splits, spare, labels, policy)


def deal_keys(
    counts: Mapping[str, Mapping[str, int]], supply: Mapping[str, int], quota: Sequence[int]
) -> dict[str, str]:
    """Assign every target form to one split, largest first, to the split that lacks most of its classes.

    ``counts`` is form → class → rows; ``supply`` class → rows in all; ``quota`` rows per class and split.
    """
    share = [q / sum(quota) for q in quota]
    room = {(split, c): part * n for split, part in zip(SPLITS, share, strict=True) for c, n in supply.items()}
    full = dict(room)
    home: dict[str, str] = {}
    for key in sorted(counts, key=lambda k: (-sum(counts[k].values()), k)):
        rows = counts[key]

        def lack(split: str, rows: Mapping[str, int] = rows) -> tuple[bool, float, float]:
            fits = all(room[split, c] >= n for c, n in rows.items())
            relative = sum(n * room[split, c] / max(full[split, c], 1e-9) for c, n in rows.items())
            return fits, relative if fits else 0.0, sum(room[split, c] for c in rows)

        best = max(SPLITS, key=lack)
        home[key] = best
        for c, n in rows.items():
            room[best, c] -= n
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
    out, running, given = {}, 0, 0
    for cell in sorted(counts):
        running += counts[cell]
        out[cell] = running * most // total - given
        given += out[cell]
    return out


def _deal(
    strata: Mapping[str, Sequence[Candidate]], rows_per: Mapping[str, int], sizes: Sequence[int]
) -> dict[str, list[Candidate]]:
    """Give the first ``rows_per`` candidates of each stratum to the splits in the proportion of ``sizes``."""
    total = sum(sizes)
    given = [0] * len(sizes)
    out: dict[str, list[Candidate]] = {split: [] for split in SPLITS}
    at = 0
    for stratum in sorted(strata):
        for item in strata[stratum][: rows_per.get(stratum, 0)]:
            at += 1
            best = max(range(len(sizes)), key=lambda i: sizes[i] * at / total - given[i])
            given[best] += 1
            out[SPLITS[best]].append(item)
    return out


def _spread(
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
