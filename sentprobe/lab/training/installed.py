"""The packages that training needs: those of the extra ``train``."""

from __future__ import annotations

from typing import Any

PACKAGES = ("torch", "accelerate", "safetensors")
"""What every training needs."""


def import_for_training(package: str) -> Any:
    """Import a package of the extra; NotInstalled, with what to do, if it cannot be imported."""
    from sentprobe.encoders.hub import import_optional

    return import_optional(package, "Training needs", "train")


def require_training() -> None:
    """Import what every training needs; NotInstalled, with what to do, if one cannot be imported."""
    for package in PACKAGES:
        import_for_training(package)
