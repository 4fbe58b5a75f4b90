"""Keys that have been seen, in eight bytes each."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

LEAST_PENDING = 1 << 16
"""Keys that are kept in a set before they are merged into the array."""


class SeenKeys:
    """A growing set of 64-bit keys: most in a sorted array, the last ones in a set."""

    def __init__(self) -> None:
        self._sorted = np.empty(0, np.uint64)
        self._pending: set[int] = set()

    def __len__(self) -> int:
        return len(self._sorted) + len(self._pending)

    def add(self, key: int) -> bool:
        """Add a key; whether it is new."""
        if key in self._pending or self._has(key):
            return False
        self._pending.add(key)
        # merging costs as much as the array is long: it is done each time that it has grown by an eighth
        if len(self._pending) >= max(LEAST_PENDING, len(self._sorted) >> 3):
            merged = np.concatenate((self._sorted, np.fromiter(self._pending, np.uint64, len(self._pending))))
            merged.sort()
            self._sorted = merged
            self._pending = set()
        return True

    def update(self, keys: Iterable[int]) -> None:
        """Add several."""
        for key in keys:
            self.add(key)

    def _has(self, key: int) -> bool:
        value = np.uint64(key)
        at = int(self._sorted.searchsorted(value))
        return at < len(self._sorted) and bool(self._sorted[at] == value)
