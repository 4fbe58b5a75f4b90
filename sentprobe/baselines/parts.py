"""The train, dev and test rows of a baseline."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from sentprobe.data.dataset import Dataset
from sentprobe.errors import DataError
from sentprobe.task import Example

T = TypeVar("T")


@dataclass(frozen=True)
class Parts:
    """The train, dev and test rows of a set."""

    names: tuple[str, str | None]
    train: Sequence[Example]
    choose: Sequence[Example]
    test: Sequence[Example]
    labels: tuple[str, ...]
    """The labels of the training rows, sorted."""

    def numbers(self, rows: Sequence[Example]) -> np.ndarray:
        """The index of the label of each row; -1 if it is not in train."""
        number = {label: i for i, label in enumerate(self.labels)}
        return np.array([number.get(row.label, -1) for row in rows], np.int64)


def parts_of(dataset: Dataset) -> Parts:
    """The rows of a set that a baseline uses."""
    train, va, test = (dataset.rows.get(split, ()) for split in ("tr", "va", "te"))
    if not test:
        raise DataError(f"{dataset.name} has no test rows (te), on which baselines are scored. Add a test split.")
    if not (train or va):
        raise DataError(
            f"{dataset.name} has neither train (tr) nor dev (va) rows to train baselines on. Add a train split."
        )
    names = ("tr", "va" if va else None) if train else ("va", None)
    train, va = (train, va) if train else (va, ())
    return Parts(names, train, va, test, tuple(sorted({row.label for row in train})))


def choose(grid: Sequence[float], guess: Callable[[float, T], np.ndarray], parts: Parts, dev: T) -> float:
    """The setting with the highest accuracy on dev; the first if several are best, or if there are no dev rows."""
    if not parts.choose:
        return grid[0]
    truth = parts.numbers(parts.choose)
    hits = [int((guess(setting, dev) == truth).sum()) for setting in grid]
    return grid[hits.index(max(hits))]
