"""What a preset is: an encoder of a paper, with its sizes and how it was trained."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sentprobe.core.arguments import Value


@dataclass(frozen=True)
class TrainingPreset:
    """An encoder of a paper."""

    name: str
    """What users type: ``conneau2018/bilstm-max``."""
    summary: str
    """One line."""
    encoder: str
    """The name of an architecture."""
    settings: Mapping[str, Value] = field(default_factory=dict)
    """Its sizes, complete where the paper prints them."""
    training: Mapping[str, Any] = field(default_factory=dict)
    """Options of training by name."""
    objective: Mapping[str, Mapping[str, Value]] = field(default_factory=dict)
    """What the paper trains this encoder for: names of objectives, with settings that are not their defaults."""
    inputs: Mapping[str, Value] = field(default_factory=dict)
    """Options of word vectors by name: ``width`` of learned ones, ``projection``."""
    objective_training: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Options of training that are others for an objective."""
    fine_tune: tuple[str, ...] = ()
    """Objectives for which given word vectors are changed."""
    paper: str = ""
    """Authors, year and title."""
    size: int | None = None
    """Dimensions of a sentence vector, if the paper prints them."""
    parameters: int | None = None
    """How many the paper prints, rounded, without word vectors; sizes that it prints may not agree with them."""
    order: int = 0

    @property
    def width(self) -> int:
        """Dimensions of what the network reads: of word vectors, or of their projection."""
        return int(self.inputs.get("projection", self.inputs.get("width", 300)))
