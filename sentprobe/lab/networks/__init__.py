"""Neural sentence encoders as torch modules, and the folder in which a trained one is kept.

``architectures/`` has one file per family. What trains them is in ``sentprobe.lab.training``; what loads them, the
encoder scheme ``trained:``. Importing this package does not import torch.
"""

from __future__ import annotations

from sentprobe.core.plugins import Kind
from sentprobe.lab.networks.architecture import Architecture

ARCHITECTURES: Kind[Architecture] = Kind("architecture", "sentprobe.lab.networks.architectures", Architecture)
"""The architectures of sentence encoders."""

__all__ = ["ARCHITECTURES", "Architecture"]
