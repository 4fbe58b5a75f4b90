"""The names of the baselines, and what they give."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

BASELINES = ("majority", "length", "nb-uni", "nb-bi")
"""Names, in the order of the papers' tables."""
CONSTANT_BASELINES = ("majority",)
"""Those that predict one label: their accuracy is its share of the test rows, a fact of the set."""
ENCODER_BASELINES = ("baseline:random", "baseline:hash")
"""Encoders that know nothing, or only words: run with the probe ``linear`` on all sets with a train/test split. With
folds, a hundred fits would tell no more than naive Bayes does."""
WORD_BASELINES = ("copy",)
"""Those of spaces of words: words are left as they are."""


@dataclass(frozen=True)
class Prediction:
    """The predictions of a baseline on the test rows, and its accuracy."""

    name: str
    labels: tuple[str, ...]
    """The predicted label of each test row, in order."""
    accuracy: float
    rows: int
    settings: Mapping[str, object]
    """What it was trained on, what was chosen on which split, and its features, as plain data."""
