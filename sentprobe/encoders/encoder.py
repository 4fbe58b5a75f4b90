"""What an encoder is: a callable from texts to vectors, and what it may say about itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from sentprobe.encoders.identity import Identity

DEFAULT_BATCH_SIZE = 64
"""Texts per call, for encoders that do not state a batch size."""


@runtime_checkable
class Encoder(Protocol):
    """A callable from a list of texts to an array (n, d), or (layers, n, d).

    Any callable will do. These attributes are used if it has them:

    identity : Identity or None
        Everything that can change a vector. Without one, vectors are not stored.
    stored_as : Identity
        What vectors are stored under without an identity: they are used again only if the encoder still gives the same
        ones for a few of the texts.
    layers : tuple of str
        The names of the layers, for an encoder that returns (layers, n, d).
    batch_size : int
        How many texts it prefers per call.
    cost : callable
        From texts to numbers, such as their lengths in tokens. Texts of similar cost are batched together, and a batch
        ends early rather than with much shorter texts.
    cacheable : bool
        False if a vector is cheaper to compute than to store.
    parallel : bool
        True if copies of it may encode in worker processes, which is of use if it computes in Python, on the CPU.
    sparse_vectors : callable
        From texts to a sparse array of scipy (n, d), which runs use in place of the dense vectors; it is not stored.
    words : callable
        From words to vectors (n, d), for an encoder that has input embeddings of its own.
    languages : tuple of str
        Codes of the languages that it was made for, such as ("en",). Without them, any may be meant.
    unknown_share : callable
        From texts to the share of their pieces that it does not know, for an encoder with a vocabulary.
    caveat : str
        A sentence about what in its identity cannot be verified; it is shown with the results.
    training_score : TrainingScore
        How well it does what it was trained for, which is shown with curves along training.
    selection : callable
        From texts to lists of (word, share), for an encoder that takes the maximum over words, dimension by dimension:
        the share of dimensions whose maximum a word gives.

    Examples
    --------
    >>> import numpy as np
    >>> from sentprobe import embed_texts
    >>> def encode(texts):
    ...     return np.array([[len(text), text.count(" ")] for text in texts])
    >>> embed_texts(encode, ["A short text.", "Another one."]).vectors.shape
    (2, 2)
    """

    def __call__(self, texts: Sequence[str], /) -> Any:
        """Vectors of the texts, in the same order."""
        ...


@dataclass(frozen=True, slots=True)
class TrainingScore:
    """How well an encoder does what it was trained for, on held-out data."""

    metric: str
    """What papers call it: accuracy, BLEU, perplexity."""
    value: float
    """As it is usually printed: accuracy and BLEU from 0 to 100."""
    maximise: bool = True
    """Whether more is better."""


@dataclass(frozen=True, slots=True)
class EncoderInfo:
    """What an encoder says about itself. Attributes of an unexpected type mean something else, and are ignored."""

    identity: Identity | None
    layers: tuple[str, ...]
    batch_size: int
    cost: Callable[[Sequence[str]], Sequence[int]] | None
    cacheable: bool
    parallel: bool
    caveat: str | None
    stored_as: Identity | None = None
    training_score: TrainingScore | None = None


def encoder_info(encoder: object) -> EncoderInfo:
    """The attributes of an encoder that have the type they should have."""
    identity, layers = getattr(encoder, "identity", None), getattr(encoder, "layers", None)
    size, cost = getattr(encoder, "batch_size", None), getattr(encoder, "cost", None)
    caveat, score = getattr(encoder, "caveat", None), getattr(encoder, "training_score", None)
    named = isinstance(layers, list | tuple) and all(isinstance(name, str) for name in layers)
    return EncoderInfo(
        identity if isinstance(identity, Identity) else None,
        tuple(layers) if named and layers is not None else (),
        size if isinstance(size, int) and not isinstance(size, bool) and size > 0 else DEFAULT_BATCH_SIZE,
        cost if callable(cost) else None,
        getattr(encoder, "cacheable", True) is not False,
        getattr(encoder, "parallel", False) is True,
        caveat if isinstance(caveat, str) else None,
        stored_as if isinstance(stored_as := getattr(encoder, "stored_as", None), Identity) else None,
        score if isinstance(score, TrainingScore) else None,
    )


def short_repr(encoder: object, name: str, *details: str) -> str:
    """One line for an encoder, without its model: ``<Static static:minilm, 256 dimensions>``."""
    return f"<{type(encoder).__name__} {', '.join([name, *filter(None, details)])}>"
