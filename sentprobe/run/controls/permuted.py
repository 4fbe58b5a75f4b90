"""The words of every text in random order."""

from __future__ import annotations

from dataclasses import replace

from sentprobe.data.splits import Splits, any_set
from sentprobe.run.control import Control
from sentprobe.run.controls._texts import permuted_parts


def permute_words(parts: Splits, seed: int) -> Splits:
    """The set with the words of every text in random order."""
    train, dev, test = permuted_parts(parts, (parts.train, parts.dev, parts.test), seed)
    return replace(parts, train=train, dev=dev, test=test)


control = Control(
    name="permuted",
    order=40,
    interpretation=(
        "Trained and tested on texts whose words are in random order: the drop is due to word order. A bag of words "
        "loses nothing, except where the task is about order."
    ),
    encodes=True,
    applies_to=any_set,
    parts=permute_words,
)
