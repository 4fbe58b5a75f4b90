"""Shuffled labels: a sanity check that labels do not leak into scores."""

from __future__ import annotations

from dataclasses import replace

from sentprobe.data.splits import Splits, has_train_test_split
from sentprobe.run.control import Control
from sentprobe.run.controls._changes import shuffled_labels
from sentprobe.run.variant import above_majority


def shuffle_labels(splits: Splits, seed: int) -> Splits:
    """The set with the labels of each split shuffled.

    Nothing that is learned can generalise. This is often called a control task, which it is not: it does not show what
    a probe can memorise, only whether labels leak into scores.
    """
    train, dev, test = (
        shuffled_labels(split, f"shuffled\t{seed}\t{which}")
        for which, split in enumerate((splits.train, splits.dev, splits.test))
    )
    return replace(splits, train=train, dev=dev, test=test)


control = Control(
    name="shuffled",
    order=20,
    interpretation=(
        "A sanity check rather than a control: with shuffled labels no score may exceed that of the majority class by "
        "more than its interval; otherwise something leaks."
    ),
    encodes=False,
    applies_to=has_train_test_split,
    splits=shuffle_labels,
    probe="used",
    objection=above_majority,
)
