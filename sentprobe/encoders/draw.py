"""Random numbers drawn by the hash of a text: the same on every machine, in any batch and any order.

Numbers are counted off (splitmix64) and looked up, and no function is used whose last bit depends on the processor.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from sentprobe.core.hashing import hash_64

Array = np.ndarray[Any, Any]

_GOLDEN, _FIRST, _SECOND = (np.uint64(x) for x in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB))
_BLOCK = 1 << 17
"""Random words made at a time: they stay in the processor's cache."""


@cache
def quantiles() -> Array:
    """65,536 equally likely values that approximate the normal distribution: (65536,) float32, read-only.

    They are rounded to multiples of 1/4096, far above the differences between processors, so that sums are exact, too.
    """
    from scipy.special import ndtri

    steps = 1 << 16
    values: Array = np.rint(ndtri((np.arange(steps) + 0.5) / steps) * 4096) / 4096 + 0.0  # which makes -0 a 0
    table = values.astype(np.float32)
    table.flags.writeable = False
    return table


def hash_texts(texts: Sequence[str], key: str) -> Array:
    """A 64-bit number (n,) for each of n texts, under a key."""
    hashes = np.array([*map(hash_64, texts)], dtype=np.uint64)
    return _mix(hashes ^ np.uint64(hash_64(key)))


def draw(texts: Sequence[str], counts: Array, key: str) -> Array:
    """``counts`` (n,) 64-bit numbers for n texts, text after text: splitmix64, started at the text's hash."""
    ends = np.cumsum(counts)
    steps = np.arange(1, ends[-1] + 1, dtype=np.uint64) if len(ends) else np.empty(0, np.uint64)
    steps -= np.repeat((ends - counts).astype(np.uint64), counts)
    return _mix(np.repeat(hash_texts(texts, key), counts) + steps * _GOLDEN)


def gaussian_vectors(texts: Sequence[str], dim: int, key: str, table: Array) -> Array:
    """A vector (n, dim) for each of n texts: splitmix64, started at the text's hash, four numbers per 64 bits."""
    states, width = hash_texts(texts, key), -(-dim // 4)
    steps = np.arange(1, width + 1, dtype=np.uint64) * _GOLDEN
    out = np.empty((len(states), dim), dtype=np.float32)
    rows = max(1, _BLOCK // width)
    for start in range(0, len(states), rows):
        numbers = _mix(states[start : start + rows, None] + steps)
        # little-endian, whatever the machine is
        out[start : start + rows] = table[numbers.astype("<u8", copy=False).view("<u2")[:, :dim]]
    return out


def _mix(x: Array) -> Array:
    """``sentprobe.core.hashing.mix`` of each element, in place."""
    x ^= x >> np.uint64(30)
    x *= _FIRST
    x ^= x >> np.uint64(27)
    x *= _SECOND
    x ^= x >> np.uint64(31)
    return x
