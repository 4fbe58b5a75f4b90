"""Two spaces of word vectors made one: methods that map them, and retrieval in the common space."""

from __future__ import annotations

from sonde.alignment.method import Method
from sonde.core.plugins import Kind

METHODS = Kind("alignment method", "sonde.alignment.methods", Method)
