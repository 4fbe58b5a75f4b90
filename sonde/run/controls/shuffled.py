"""Shuffled labels: a check that nothing leaks on the way from labels to score."""

from __future__ import annotations

from dataclasses import replace

from sonde.run.control import Control
from sonde.run.controls._labels import shuffled_part
from sonde.run.parts import Parts, has_train_test_split


def shuffle_labels(parts: Parts, seed: int) -> Parts:
    """The set with the labels of each part in random order.

    Nothing can be learned that holds for other rows. This is often called a control task, which it is not: it says
    nothing about what a probe can learn by heart, only whether the way from labels to score is sound.
    """
    train, dev, test = (
        shuffled_part(part, f"shuffled\t{seed}\t{which}")
        for which, part in enumerate((parts.train, parts.dev, parts.test))
    )
    return replace(parts, train=train, dev=dev, test=test)


control = Control(
    name="shuffled",
    order=20,
    interpretation=(
        "A check of chance rather than a control: with shuffled labels no score may exceed that of the majority "
        "class by "
        "more than its interval; otherwise something leaks."
    ),
    encodes=False,
    applies_to=has_train_test_split,
    parts=shuffle_labels,
    probe="used",
)
