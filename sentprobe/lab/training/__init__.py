"""Training sentence encoders: objectives, presets, and one loop for all of them.

``objectives/`` has one file per objective, ``presets/`` one per paper; the architectures are in
``sentprobe.lab.networks``. Importing this package does not import torch.
"""

from __future__ import annotations

from sentprobe.core.plugins import Kind
from sentprobe.lab.training.objective import Objective
from sentprobe.lab.training.preset import TrainingPreset

OBJECTIVES: Kind[Objective] = Kind("objective", "sentprobe.lab.training.objectives", Objective)
"""What encoders are trained for."""
PRESETS: Kind[TrainingPreset] = Kind("preset", "sentprobe.lab.training.presets", TrainingPreset)
"""Encoders of papers, with their sizes and how they were trained."""

__all__ = ["OBJECTIVES", "PRESETS", "Objective", "Preset"]
