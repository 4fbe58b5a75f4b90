"""The rows a baseline learns from, chooses on and predicts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from sonde.data.dataset import Dataset
from sonde.errors import DataError
from sonde.task import Example

T = TypeVar("T")


@dataclass(frozen=True)
class Parts:
    """The rows to learn from, to choose on, and to predict."""

    names: tuple[str, str | None]
    train: Sequence[Example]
    choose: Sequence[Example]
    test: Sequence[Example]
    labels: tuple[str, ...]
    """The labels of the training rows, sorted."""

    def numbers(self, rows: Sequence[Example]) -> np.ndarray:
        """The number of each row's label; -1 if it was not met in training."""
        number = {label: i for i, label in enumerate(self.labels)}
        return np.array([number.get(row.label, -1) for row in rows], np.int64)


def parts_of(dataset: Dataset) -> Parts:
    """The parts of a set that a baseline uses."""
    train, va, test = (dataset.rows.get(split, ()) for split in ("tr", "va", "te"))
    if not test:
        raise DataError(f"{dataset.name} has no te rows; a baseline is scored on te. Give the set a test part.")
    if not (train or va):
        raise DataError(f"{dataset.name} has neither tr nor va rows; a baseline learns from tr, or else from va.")
    names = ("tr", "va" if va else None) if train else ("va", None)
    train, va = (train, va) if train else (va, ())
    return Parts(names, train, va, test, tuple(sorted({row.label for row in train})))


def choose(grid: Sequence[float], guess: Callable[[float, T], np.ndarray], parts: Parts, dev: T) -> float:
    """The setting whose guesses are right most often on the rows to choose on: the first of several as good."""
    if not parts.choose:
        return grid[0]
    truth = parts.numbers(parts.choose)
    hits = [int((guess(setting, dev) == truth).sum()) for setting in grid]
    return grid[hits.index(max(hits))]
