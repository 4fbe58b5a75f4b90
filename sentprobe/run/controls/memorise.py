"""How much a probe can memorise: shuffled labels, tested on the training rows themselves."""

from __future__ import annotations

from dataclasses import replace

from sentprobe.data.splits import Splits, has_train_test_split
from sentprobe.run.control import Control
from sentprobe.run.controls._changes import shuffled_labels


def memorise_labels(splits: Splits, seed: int) -> Splits:
    """The training rows with shuffled labels, as train, dev and test.

    With the penalty of the plain probe, the score is what that probe can memorise; without a plain result, the most
    that any point of the grid can, because it is chosen on the training rows, too.
    """
    rows = shuffled_labels(splits.train, f"memorise\t{seed}")
    return replace(splits, train=rows, dev=rows, test=rows, chosen_on=splits.trained_on)


control = Control(
    name="memorise",
    order=30,
    interpretation=(
        "Accuracy on the training rows themselves, with shuffled labels: what exceeds the majority class is what the "
        "probe can memorise from vectors of this kind."
    ),
    encodes=False,
    applies_to=has_train_test_split,
    splits=memorise_labels,
    probe="used",
    same_test=False,
)
