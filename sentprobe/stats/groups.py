"""Which of several systems are tied: compact letter displays, as in "a", "ab", "b".

Systems that share a letter do not differ significantly; those that share none do. The letters are those of Piepho
(2004, J. Comput. Graph. Stat. 13:456), by insert and absorb.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from string import ascii_letters

import numpy as np
import numpy.typing as npt

from sentprobe.errors import DataError, UsageError
from sentprobe.stats import inputs
from sentprobe.stats import level as levels
from sentprobe.stats.multiple import holm
from sentprobe.stats.paired import binomial_p

LETTERS = ascii_letters + "αβγδεζηθικλμνξοπρστυφχψω" + "0123456789"
"""One character per group, in order."""


def tie_groups(
    correct: Mapping[str, npt.ArrayLike], alpha: float | None = None, *, exact: bool = False
) -> dict[str, str]:
    """Letters of systems from the rows (n) that each has right, the best system first.

    All pairs are compared by McNemar's test, mid-p or ``exact``, with p-values adjusted by Holm.
    """
    if not correct:
        return {}
    rows = {name: inputs.booleans(values, name) for name, values in correct.items()}
    first = next(iter(rows))
    for name in rows:
        inputs.check_same_shape(rows[first], first, rows[name], name)
    names = sorted(rows, key=lambda name: (-int(rows[name].sum()), name))
    table = np.array([rows[name] for name in names], np.float64)
    only = np.rint(table @ (1 - table).T).astype(np.int64)  # [i, j]: rows that i has right and j has wrong
    pairs = list(combinations(range(len(names)), 2))
    p = holm([binomial_p(int(only[i, j]), int(only[j, i]))[0 if exact else 1] for i, j in pairs])
    return letters(names, {(names[i], names[j]): float(value) for (i, j), value in zip(pairs, p, strict=True)}, alpha)


def letters(
    names: Sequence[str], p_values: Mapping[tuple[str, str], float], alpha: float | None = None
) -> dict[str, str]:
    """Letters of systems, best first, from the adjusted p-value of every pair; up to alpha they differ."""
    alpha = inputs.share(levels.ALPHA if alpha is None else alpha, "alpha")
    index = {name: i for i, name in enumerate(names)}
    p = {frozenset(pair): value for pair, value in p_values.items()}
    pairs = {frozenset(pair) for pair in combinations(names, 2)}
    if len(index) < len(names) or p.keys() != pairs or len(p_values) != len(pairs):
        raise DataError(f"{len(names)} different systems have {len(pairs)} pairs; expected one p-value for each.")
    groups = [frozenset(range(len(names)))] if names else []
    for first, second in combinations(names, 2):
        if p[frozenset((first, second))] <= alpha:
            groups = _split(groups, index[first], index[second])
    groups = _needed(sorted(groups, key=sorted))
    if len(groups) > len(LETTERS):
        raise UsageError(f"There are {len(groups)} groups and {len(LETTERS)} letters; compare fewer systems at a time.")
    return {
        name: "".join(letter for letter, group in zip(LETTERS, groups, strict=False) if i in group)
        for i, name in enumerate(names)
    }


def _split(groups: list[frozenset[int]], first: int, second: int) -> list[frozenset[int]]:
    """Split every group that has both of two systems that differ; groups inside another are absorbed."""
    undivided = [group for group in groups if not {first, second} <= group]
    halves = [group - {i} for group in groups if {first, second} <= group for i in (first, second)]
    for half in sorted(halves, key=len, reverse=True):
        if not any(half <= group for group in undivided):
            undivided.append(half)
    return undivided


def _needed(groups: list[frozenset[int]]) -> list[frozenset[int]]:
    """Drop groups, the last first, all of whose pairs are in other groups too."""
    needed = list(groups)
    for group in reversed(groups):
        further = [g for g in needed if g != group]
        pairs = [*combinations(sorted(group), 2)] or [(i, i) for i in group]
        if further and all(any(i in g and j in g for g in further) for i, j in pairs):
            needed = further
    return needed
