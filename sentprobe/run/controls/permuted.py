"""The words of every text in random order."""

from __future__ import annotations

from dataclasses import replace

from sentprobe.data.splits import Splits, any_set
from sentprobe.run.control import Control
from sentprobe.run.controls._changes import permuted_splits


def permute_words(splits: Splits, seed: int) -> Splits:
    """The set with the words of every text in random order."""
    train, dev, test = permuted_splits(splits, (splits.train, splits.dev, splits.test), seed)
    return replace(splits, train=train, dev=dev, test=test)


control = Control(
    name="permuted",
    order=40,
    interpretation=(
        "Trained and tested on texts whose words are in random order: the drop is due to word order. A bag of words "
        "loses nothing, except where the task is about order."
    ),
    encodes=True,
    applies_to=any_set,
    splits=permute_words,
)
