"""Hashes that are the same on every machine."""

from __future__ import annotations

import hashlib


def hash_64(text: str) -> int:
    """A 64-bit hash of a text."""
    return int.from_bytes(hashlib.blake2b(text.encode(errors="surrogatepass"), digest_size=8).digest(), "little")


def mix(x: int) -> int:
    """A 64-bit finaliser (splitmix64): nearby inputs give unrelated outputs."""
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & 0xFFFFFFFFFFFFFFFF
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & 0xFFFFFFFFFFFFFFFF
    return x ^ (x >> 31)
