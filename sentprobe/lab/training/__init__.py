"""Training sentence encoders: objectives, presets, and one loop for all of them.

``objectives/`` has one file per objective, ``presets/`` one per paper; the architectures are in
``sentprobe.lab.networks``. Importing this package does not import torch.
"""

from __future__ import annotations

from typing import Any

from sentprobe.core.plugins import Kind
from sentprobe.lab.training.objective import Objective, TrainingPreset

OBJECTIVES: Kind[Objective] = Kind("objective", "sentprobe.lab.training.objectives", Objective)
"""What encoders are trained for."""
PRESETS: Kind[TrainingPreset] = Kind("preset", "sentprobe.lab.training.presets", TrainingPreset)
"""Encoders of papers, with their sizes and how they were trained."""

PACKAGES = ("torch", "accelerate", "safetensors")
"""What every training needs."""

__all__ = ["OBJECTIVES", "PRESETS", "Objective", "TrainingPreset", "import_for_training", "require_training"]


def import_for_training(package: str) -> Any:
    """Import a package of the extra ``train``; NotInstalled, with what to do, if it cannot be imported."""
    from sentprobe.encoders.hub import import_optional

    return import_optional(package, "Training needs", "train")


def require_training() -> None:
    """Import what every training needs; NotInstalled, with what to do, if one cannot be imported."""
    for package in PACKAGES:
        import_for_training(package)
