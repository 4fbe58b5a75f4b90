"""Labels in random order: one check that nothing leaks, and one measure of how much a probe can learn by heart."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sonde.core.hashing import hash_64
from sonde.run.controls.control import Control, has_train_test_split
from sonde.run.parts import Part, Parts


def shuffle_labels(parts: Parts, seed: int) -> Parts:
    """The set with the labels of each part in random order.

    Nothing can be learned that holds for other rows. This is often called a control task, which it is not: it says
    nothing about what a probe can learn by heart, only whether the way from labels to score is sound.
    """
    train, dev, test = (
        _shuffled(part, f"shuffled\t{seed}\t{which}") for which, part in enumerate((parts.train, parts.dev, parts.test))
    )
    return replace(parts, train=train, dev=dev, test=test)


def memorise_labels(parts: Parts, seed: int) -> Parts:
    """The training rows with labels in random order, to be learned from, chosen on and tested on.

    With the penalty that the plain probe chose, the score is what the probe *as it was used* can learn by heart; where
    there is none, the most that it can, as the best point of the grid is chosen on the training rows, too.
    """
    rows = _shuffled(parts.train, f"memorise\t{seed}")
    return replace(parts, train=rows, dev=rows, test=rows, chosen_on=parts.trained_on)


def _shuffled(part: Part, stream: str) -> Part:
    return replace(part, labels=np.random.default_rng(hash_64(stream)).permutation(part.labels))


shuffled = Control(
    name="shuffled",
    interpretation="A check of chance, not a control: with labels in random order no score may be above that of the "
    "majority "
    "by more than its interval, or the score is not what it is taken for.",
    encodes=False,
    applies_to=has_train_test_split,
    parts=shuffle_labels,
    probe="used",
)
memorise = Control(
    name="memorise",
    interpretation="How many labels in random order the probe gets right on the very rows it learned them from: what "
    "it is "
    "above the majority is what the probe can learn by heart from vectors of this kind.",
    encodes=False,
    applies_to=has_train_test_split,
    parts=memorise_labels,
    probe="used",
    same_test=False,
)
