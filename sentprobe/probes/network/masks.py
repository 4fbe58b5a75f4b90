"""Which hidden units are dropped: a hash of seed, step, unit and row, the same with every engine.

torch's masks depend on its build and on what was drawn before. These do not: unit u of row r of the batch of step t is
dropped with probability p if

    mix(mix(mix(mix(seed) + t) + u) + r) < p · 2³²

in arithmetic modulo 2³², mix being the 32-bit finaliser "lowbias32" of C. Wellons' hash prospector. Steps count from 1;
units and rows from 0. The settings of a grid share the hashes, as settings with the same units do in SentEval, where
each fit starts from the same seed; so a mask does not depend on which other settings are trained at the same time.
"""

from __future__ import annotations

from typing import Any

BITS = 0xFFFFFFFF


def mix(x: Any) -> Any:
    """Hashes below 2³² of such numbers: an int, or an int64 array of numpy or torch."""
    x = (x ^ (x >> 16)) * 0x7FEB352D & BITS
    x = (x ^ (x >> 15)) * 0x846CA68B & BITS
    return x ^ (x >> 16)


def key(seed: int, step: int) -> int:
    """The hash that the masks of one step are made from."""
    found: int = mix(mix(seed) + step & BITS)
    return found


def hashes(key: int, units: Any, rows: Any) -> Any:
    """A hash below 2³² per unit and row; ``units`` and ``rows`` are int64 counters that broadcast."""
    return mix(mix(units + key & BITS) + rows & BITS)


def threshold(dropout: float) -> int:
    """A unit is dropped if its hash is below this."""
    return int(dropout * 2**32)
