"""Arrays that were read from files, kept in memory up to a limit."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy.typing as npt

Arrays = Mapping[str, npt.NDArray[Any]]

MAX_KEPT_BYTES = 1 << 26
"""Beyond this, all are dropped. The predictions of a hundred results on ten thousand rows take a fifth of it."""


class KeptArrays:
    """Arrays by the key of their result."""

    def __init__(self) -> None:
        self._arrays: dict[str, Arrays] = {}
        self._bytes = 0

    def get(self, key: str, read: Callable[[], Arrays]) -> Arrays:
        """The arrays of a result, read-only; ``read`` is called if they are not kept."""
        found = self._arrays.get(key)
        if found is None:
            found = read()
            size = sum(array.nbytes for array in found.values())
            if self._bytes + size > MAX_KEPT_BYTES:
                self._arrays.clear()
                self._bytes = 0
            for array in found.values():
                array.flags.writeable = False
            self._arrays[key] = found
            self._bytes += size
        return found
