"""Stratified folds, the same rows in each as scikit-learn's ``StratifiedKFold(k, shuffle=True, random_state=seed)``."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from sentprobe.errors import TooFewError

Ints = npt.NDArray[np.int64]


def folds(labels: Ints, k: int, seed: int) -> Iterator[tuple[Ints, Ints]]:
    """(training rows, test rows), k times, each in ascending order; every row is tested once."""
    _, first, number = np.unique(labels, return_index=True, return_inverse=True)
    number = np.argsort(np.argsort(first))[number]  # classes in order of first occurrence
    counts = np.bincount(number)
    if k < 2 or counts.max(initial=0) < k:
        raise TooFewError(
            f"{k} folds cannot be made of {len(labels)} rows, the largest class of which has {counts.max(initial=0)}; "
            "expected at least two folds, and as many rows of a class as folds."
        )
    in_order = np.sort(number)
    shares = np.array([np.bincount(in_order[i::k], minlength=len(counts)) for i in range(k)])
    draws = np.random.RandomState(seed)
    fold = np.empty(len(labels), np.int64)
    for c in range(len(counts)):
        of_class = np.arange(k).repeat(shares[:, c])
        draws.shuffle(of_class)
        fold[number == c] = of_class
    for i in range(k):
        yield np.flatnonzero(fold != i), np.flatnonzero(fold == i)
