"""Vectors that are truncated to their first dimensions, or quantised: computed from those of another encoder.

The other encoder's vectors are what the store keeps, so that a text is encoded once for any number of dimensions and
precisions. Quantisation is that of sentence-transformers (``quantize_embeddings``): 8-bit integers divide the range of
each dimension into 255 steps; of a binary vector each dimension says whether it is above 0, as unpacked bits.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from sentprobe.core.arguments import as_texts
from sentprobe.encoders.encoder import Encoder, encoder_info, short_repr
from sentprobe.encoders.identity import Identity, Spec
from sentprobe.errors import EncoderError, UsageError

Array = npt.NDArray[np.float32]

STEPS = 255
"""Into which int8 divides the range of a dimension."""
CALIBRATION_TEXTS = 1000
"""Texts on which the ranges of 8-bit integers are measured, those with the lowest hashes: the library recommends a
sample, and takes all texts of a call without one."""


@dataclass(frozen=True, eq=False, repr=False)
class Compressed:
    """Truncated or quantised vectors of another encoder, ``source``."""

    source: Any
    identity: Identity
    truncate_dim: int | None
    normalize: bool
    """Whether vectors are scaled to length 1 after truncation."""
    precision: str
    width: int
    ranges: Array | None = None
    """(2, d): the smallest and largest value of each dimension, for integers."""
    cacheable: bool = False

    def __repr__(self) -> str:
        precision = "" if self.precision == "float32" else self.precision
        return short_repr(self, f"{self.identity.scheme}:{self.identity.name}", f"{self.width} dimensions", precision)

    @property
    def needs_fit(self) -> bool:
        """Whether ranges have to be measured before it encodes."""
        return self.precision == "int8" and self.ranges is None

    @property
    def layers(self) -> tuple[str, ...] | None:
        """The names of the layers, if there are several."""
        layers: tuple[str, ...] | None = self.source.layers
        return layers

    @property
    def batch_size(self) -> int:
        """Texts per call."""
        return encoder_info(self.source).batch_size

    @property
    def cost(self) -> Callable[[Sequence[str]], Sequence[int]] | None:
        """The number of tokens of each text."""
        return encoder_info(self.source).cost

    @property
    def languages(self) -> tuple[str, ...]:
        """Those of the other encoder."""
        return tuple(self.source.languages)

    def unknown_share(self, texts: Sequence[str], /) -> float:
        """The share of the pieces of texts that the other encoder does not know."""
        return float(self.source.unknown_share(texts))

    def fit(self, texts: Sequence[str]) -> Compressed:
        """The same encoder with the ranges of the dimensions over a sample of these texts."""
        if not self.needs_fit:
            return self
        texts = sorted(set(as_texts(texts)), key=_hash)[:CALIBRATION_TEXTS]
        if len(texts) < 2:
            raise EncoderError(f"precision={self.precision} needs two different texts to measure ranges; got fewer.")
        vectors = self._truncate(np.asarray(self.source(texts), np.float32))
        digest = hashlib.blake2b("\0".join(map(_hash, texts)).encode(), digest_size=16).hexdigest()
        ranges = np.stack([vectors.min(0), vectors.max(0)])
        return replace(self, ranges=ranges, identity=self.identity.with_facts(calibration=f"blake2b:{digest}"))

    def __call__(self, texts: Sequence[str], /) -> Array:
        """One vector per text."""
        return self.of(np.asarray(self.source(texts), np.float32))

    def of(self, vectors: Array) -> Array:
        """What becomes of vectors (…, d) of the other encoder."""
        vectors = self._truncate(vectors)
        if self.precision == "float32":
            return vectors
        if self.precision == "int8":
            if self.ranges is None:
                raise EncoderError(f"precision={self.precision} needs ranges; call fit with the texts first.")
            low = self.ranges[0]
            step = (self.ranges[1] - low) / STEPS
            levels: Array = np.clip(np.floor((vectors - low) / np.where(step == 0, 1, step)), 0, STEPS)
            whole: Array = (levels - 128).astype(np.float32)
            return whole
        return (vectors > 0).astype(np.float32)

    def _truncate(self, vectors: Array) -> Array:
        vectors = vectors[..., : self.truncate_dim]
        if self.normalize:
            lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
            vectors = vectors / np.maximum(lengths, 1e-12)
        contiguous: Array = np.ascontiguousarray(vectors, np.float32)
        return contiguous


def compress(spec: Spec, encoder: Any, truncate_dim: int | None, precision: str, *, normalize: bool = False) -> Encoder:
    """The encoder with truncated or quantised vectors; itself, if neither is requested."""
    if truncate_dim is None and precision == "float32":
        return encoder  # type: ignore[no-any-return]
    if truncate_dim is not None and truncate_dim > encoder.width:
        raise UsageError(
            f"{spec} has truncate_dim={truncate_dim}; the vectors of this model have {encoder.width} dimensions."
        )
    identity = encoder.identity.with_facts(
        truncate_dim=truncate_dim, precision=None if precision == "float32" else precision
    )
    if normalize:
        identity = identity.with_facts(normalize="true")
    return Compressed(encoder, identity, truncate_dim, normalize, precision, truncate_dim or encoder.width)


def _hash(text: str) -> str:
    return hashlib.blake2b(text.encode(errors="surrogatepass"), digest_size=16).hexdigest()
