"""Hashes that are the same on every machine: of texts, and of the content of files.

The module imports the standard library only: sets are hashed in every worker.
"""

from __future__ import annotations

import hashlib
from io import BytesIO
from pathlib import Path

_CHUNK_BYTES = 1 << 16

# Texts


def hash_64(text: str) -> int:
    """A 64-bit hash of a text."""
    return int.from_bytes(hashlib.blake2b(text.encode(errors="surrogatepass"), digest_size=8).digest(), "little")


def mix(x: int) -> int:
    """A 64-bit finaliser (splitmix64): nearby inputs give unrelated outputs."""
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & 0xFFFFFFFFFFFFFFFF
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & 0xFFFFFFFFFFFFFFFF
    return x ^ (x >> 31)


# Files


def digest(content: bytes | memoryview) -> str:
    """Thirty-two hexadecimal digits that identify the content of a file."""
    return hashlib.blake2b(content, digest_size=16).hexdigest()


def b2sum(content: bytes | Path) -> str:
    """The BLAKE2b digest of a file, or of what will be in one, as the program ``b2sum`` prints it."""
    if isinstance(content, bytes):
        return hashlib.blake2b(content).hexdigest()
    with content.open("rb") as file:
        return hashlib.file_digest(file, hashlib.blake2b).hexdigest()


def sha256(path: Path) -> str:
    """The SHA-256 of a file, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def git_blob(content: bytes | Path) -> str:
    """The object id that git gives to the content of a file: what a repository says a file at one of its tags is."""
    size = len(content) if isinstance(content, bytes) else content.stat().st_size
    # git's own choice of hash; it finds every damage and every other version of a file
    sha1 = hashlib.sha1(f"blob {size}\0".encode(), usedforsecurity=False)
    with BytesIO(content) if isinstance(content, bytes) else content.open("rb") as file:
        while chunk := file.read(_CHUNK_BYTES):
            sha1.update(chunk)
    return sha1.hexdigest()
