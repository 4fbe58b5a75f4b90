"""Conformance checks of architectures and alignment methods, for your own; ``sentprobe.testing`` has the others."""

from sentprobe.lab.testing.alignment_methods import check_alignment_method, examine_alignment_method
from sentprobe.lab.testing.architectures import check_architecture, examine_architecture

__all__ = [
    "check_alignment_method",
    "check_architecture",
    "examine_alignment_method",
    "examine_architecture",
]
