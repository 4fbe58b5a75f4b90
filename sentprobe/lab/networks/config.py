"""What a network is, apart from its weights: the part of a folder's ``config.json`` that encoding needs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from sentprobe.core.arguments import Value


@dataclass(frozen=True)
class NetworkConfig:
    """Architecture, sizes, and how texts are read."""

    architecture: str
    settings: dict[str, Value]
    words: int
    """Words in the vocabulary, without the unknown word."""
    width: int
    """Dimensions of the word vectors."""
    projection: int = 0
    """Dimensions to which word vectors are projected; 0 for none."""
    frozen: bool = True
    """Whether word vectors are given and fixed; otherwise they are weights."""
    tokenise: str = "simple"
    case: Literal["fallback", "lower", "as-is"] = "fallback"
    unknown: Literal["drop", "keep"] = "drop"
    seed: int = 1111
    """Of the initial weights."""
