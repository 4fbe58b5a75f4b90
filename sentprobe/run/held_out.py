"""Dev rows of a set without any: some of its training rows, held out."""

from __future__ import annotations

from collections.abc import Sequence

from sentprobe.core.hashing import hash_64
from sentprobe.corpus.folding import fold
from sentprobe.corpus.near_duplicates import near_duplicate_key
from sentprobe.task import Example


def hold_out(rows: Sequence[Example], share: float) -> tuple[list[Example], list[Example]]:
    """Train rows, and about this share of them held out as dev rows; no target form or sentence is in both."""
    group = _groups(rows)
    target, taken, size = share * len(rows), set[int](), 0
    counts: dict[int, int] = {}
    for g in group:
        counts[g] = counts.get(g, 0) + 1
    for g in sorted(counts):
        if size >= target:
            break
        taken.add(g)
        size += counts[g]
    train = [row for g, row in zip(group, rows, strict=True) if g not in taken]
    return train, [row for g, row in zip(group, rows, strict=True) if g in taken]


def _groups(rows: Sequence[Example]) -> list[int]:
    """A number per row, the same for rows connected by shared target forms or sentences."""
    leader: dict[tuple[str, str | int], tuple[str, str | int]] = {}

    def find(name: tuple[str, str | int]) -> tuple[str, str | int]:
        while leader.setdefault(name, name) != name:
            leader[name] = leader[leader[name]]
            name = leader[name]
        return name

    names = [("text", near_duplicate_key(row.text)) for row in rows]
    for row, name in zip(rows, names, strict=True):
        if row.key is not None:
            one, two = sorted((find(name), find(("key", fold(row.key)))), key=str)
            leader[two] = one
    return [hash_64(f"held out\t{find(name)}") for name in names]
