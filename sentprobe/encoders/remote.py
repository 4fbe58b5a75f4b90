"""Encoders on the workers of a cluster: loaded once per process, with the store as the way their vectors take."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy.typing as npt

from sentprobe.encoders.encoder import encoder_info
from sentprobe.encoders.identity import Identity
from sentprobe.encoders.scheme import load
from sentprobe.encoders.store import Store
from sentprobe.errors import EncoderError

LATE_SECONDS = 60.0
"""How long network storage may take to show a file that another machine has written: NFS caches folders."""
POLL_SECONDS = 0.2

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class NamedEncoder:
    """An encoder that is loaded by its name where it is called."""

    name: str
    identity: Identity | None
    """What it must be: model files may differ between machines."""

    def __call__(self, texts: Sequence[str]) -> Any:
        """Vectors of the texts."""
        return _loaded(self.name, self.identity)(texts)


@lru_cache(maxsize=1)
def _loaded(name: str, identity: Identity | None) -> Any:
    encoder = load(name)
    if identity is not None and (got := encoder_info(encoder).identity) != identity:
        raise EncoderError(
            f"A worker of the cluster has another {name}: expected {identity}, got {got}. Let all nodes load the same "
            "files, from shared storage."
        )
    return encoder


@dataclass(frozen=True)
class SharedStore:
    """A store that all machines see, and what vectors are stored as: an identity for each layer."""

    root: Path
    identities: tuple[Identity, ...]

    def write(self, texts: Sequence[str], vectors: Array) -> bool:
        """Write the vectors (layers, n, d) of texts, a shard per layer; False if that is not possible."""
        store = Store(self.root)
        return all(store.write(name, texts, one) for name, one in zip(self.identities, vectors, strict=True))


def patiently() -> Iterator[None]:
    """Attempts to read what another machine has just written, a moment apart."""
    until = time.monotonic() + LATE_SECONDS
    while time.monotonic() < until:
        yield
        time.sleep(POLL_SECONDS)
