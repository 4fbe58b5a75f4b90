"""The words of every test text in random order; the probe is trained on the original texts."""

from __future__ import annotations

from dataclasses import replace

from sentprobe.data.splits import Splits
from sentprobe.run.control import Control
from sentprobe.run.controls._changes import permuted_splits


def permute_test(splits: Splits, seed: int) -> Splits:
    """The set with the words of every test text in random order."""
    (test,) = permuted_splits(splits, (splits.test,), seed)
    return replace(splits, test=test)


def _tested_apart(splits: Splits) -> bool:
    """Whether test rows are not training rows: with nested folds every row is both."""
    return splits.protocol != "nested"


control = Control(
    name="permuted_test",
    order=50,
    interpretation=(
        "Trained on the original texts, tested on texts whose words are in random order: the drop is due to word "
        "order, or to vectors unlike any the probe was trained on."
    ),
    encodes=True,
    applies_to=_tested_apart,
    splits=permute_test,
    probe="trained",
)
