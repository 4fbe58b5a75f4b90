"""What a preset is: an encoder of a paper, with its sizes and how it was trained."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sonde.core.settings import Value


@dataclass(frozen=True)
class Preset:
    """An encoder of a paper."""

    name: str
    """What users type: ``conneau2018/bilstm-max``."""
    summary: str
    encoder: str
    """The name of an architecture."""
    settings: Mapping[str, Value] = field(default_factory=dict)
    """Its sizes."""
    training: Mapping[str, Any] = field(default_factory=dict)
    """Options of training by name."""
    objective: Mapping[str, Mapping[str, Value]] = field(default_factory=dict)
    """Settings of objectives, by their names."""
    order: int = 0
