"""Two spaces of word vectors made one: methods that map them, and retrieval in the common space."""

from __future__ import annotations

from sentprobe.core.plugins import Kind
from sentprobe.lab.alignment.method import Method

METHODS = Kind("alignment method", "sentprobe.lab.alignment.methods", Method)
