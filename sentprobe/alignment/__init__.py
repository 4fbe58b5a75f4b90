"""Two spaces of word vectors made one: methods that map them, and retrieval in the common space."""

from __future__ import annotations

from sentprobe.alignment.method import Method
from sentprobe.core.plugins import Kind

METHODS = Kind("alignment method", "sentprobe.alignment.methods", Method)
