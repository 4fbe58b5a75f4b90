"""How a set is scored."""

from __future__ import annotations

from typing import Literal

Protocol = Literal["nested", "kfold", "split", "relatedness", "similarity", "retrieval"]
"""How a set is scored: nested cross-validation; cross-validation and a test part; train, dev and test; regression on
scores; no training at all; image-caption retrieval."""
