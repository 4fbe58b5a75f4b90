"""Training sentence encoders. Importing this package does not import torch.

``presets/`` has one file per paper; the architectures are in ``sonde.networks``.
"""

from __future__ import annotations

from sonde.core.plugins import Kind
from sonde.training.preset import Preset

PRESETS: Kind[Preset] = Kind("preset", "sonde.training.presets", Preset)
"""Encoders of papers, with their sizes and how they were trained."""

__all__ = ["PRESETS", "Preset"]
