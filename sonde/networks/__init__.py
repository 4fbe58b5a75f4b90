"""Neural sentence encoders as torch modules, and the folder in which a trained one is kept.

``architectures/`` has one file per family. What trains them is in ``sonde.training``; what loads them, the encoder
scheme ``trained:``. Importing this package does not import torch.
"""

from __future__ import annotations

from sonde.core.plugins import Kind
from sonde.networks.architecture import Architecture

ARCHITECTURES: Kind[Architecture] = Kind("architecture", "sonde.networks.architectures", Architecture)
"""The architectures of sentence encoders."""

__all__ = ["ARCHITECTURES", "Architecture"]
