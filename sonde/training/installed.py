"""Whether the packages are installed that training needs."""

from __future__ import annotations

import importlib

from sonde.errors import NotInstalled

PACKAGES = ("torch", "accelerate", "safetensors")
"""What every training needs; all are in the extra."""
EXTRA = "pip install 'sonde[train]'"


def require_training() -> None:
    """Import the packages of the extra ``train``; NotInstalled, with what to do, if one cannot be imported."""
    for package in PACKAGES:
        try:
            importlib.import_module(package)
        except ImportError as e:
            raise NotInstalled(f"Training needs {package}, which cannot be imported ({e}): {EXTRA}") from e
