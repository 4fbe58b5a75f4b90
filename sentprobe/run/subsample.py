"""Fewer training rows for measures that do not need them all."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sentprobe.core.hashing import hash_64
from sentprobe.data.splits import Split, Splits


def subsample(part: Split, rows: int) -> Split:
    """At most this many rows, in their order, with the shares of the classes, and at least one row of each if possible.

    They are drawn by hash: which ones depends on the rows alone, not on their order or on any seed.
    """
    if len(part) <= rows:
        return part
    columns = (part.texts, *part.inputs.values())
    drawn = np.array([hash_64("\t".join(("measure", *row))) for row in zip(*columns, strict=True)], np.uint64)
    order = np.lexsort((drawn, part.labels))
    sizes = np.bincount(part.labels)
    rank = np.empty(len(part))
    rank[order] = np.arange(len(part)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return part.take(np.sort(np.lexsort((drawn, part.labels, rank / sizes[part.labels]))[:rows]))


class Subsamples:
    """Sets with fewer training rows, each made once, so that all cells share what is computed from them."""

    def __init__(self) -> None:
        self._made: dict[tuple[str, str, int], Splits] = {}

    def of(self, parts: Splits, rows: int) -> Splits:
        """The set with at most this many training rows."""
        if len(parts.train) <= rows:
            return parts
        key = parts.name, parts.digest, rows
        if key not in self._made:
            self._made[key] = replace(parts, train=subsample(parts.train, rows))
        return self._made[key]
