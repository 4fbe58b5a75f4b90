"""Scores of relatedness learned from pair features, as a class."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from sentprobe.errors import UsageError
from sentprobe.probes import Features
from sentprobe.senteval.tools.classifier import floats
from sentprobe.transfer.relatedness import relate

__all__ = ["RelatednessPytorch"]

Doubles = npt.NDArray[np.float64]


class RelatednessPytorch:
    """A softmax over the levels 1 … ``nclasses``, trained on the distributions ``y`` of the training rows.

    ``train``, ``valid`` and ``test`` are dictionaries of ``X`` (n, d) and ``y`` (n, levels). Besides ``seed`` and
    ``nclasses``, the configuration may say what must gain on dev, ``watch``: pearson, or spearman as in SimCSE's copy.
    """

    def __init__(
        self,
        train: Mapping[str, Any],
        valid: Mapping[str, Any],
        test: Mapping[str, Any],
        devscores: Sequence[float],
        config: Mapping[str, Any],
    ) -> None:
        self.train, self.valid, self.test, self.devscores = train, valid, test, devscores
        self.inputdim: int = np.asarray(train["X"]).shape[1]
        self.nclasses: int = config["nclasses"]
        self.seed: int = config["seed"]
        self.config = config

    def run(self) -> tuple[float, Doubles]:
        """The best correlation on dev, and the scores of the test rows, (n,); NaN if the features are not finite."""
        if not all(np.isfinite(split["X"]).all() for split in (self.train, self.valid, self.test)):
            return np.nan, np.full(len(self.test["X"]), np.nan)
        train, dev, test = (Features.of(floats(split["X"])) for split in (self.train, self.valid, self.test))
        result = relate(
            train,
            scores_of(self.train["y"]),
            dev,
            self.devscores,
            test,
            seed=self.seed,
            watch=self.config.get("watch", "pearson"),
            levels=self.nclasses,
            reduction=self.config.get("loss_reduction", "mean"),
        )
        return result.dev, result.predicted


def distributions(scores: npt.ArrayLike, levels: int) -> Doubles:
    """Scores as shares of the two levels around each, (n, levels); those of scores below 1 sum to less than 1."""
    column = np.asarray(scores, np.float64)[:, None]
    below = np.floor(column)
    level = np.arange(1, levels + 1)
    return np.where(level == below, below - column + 1, np.where(level == below + 1, column - below, 0.0))


def scores_of(shares: Any) -> Doubles:
    """Scores (n,) from their distributions (n, levels)."""
    shares = np.asarray(shares, np.float64)
    scores: Doubles = shares @ np.arange(1.0, shares.shape[1] + 1)
    if not np.allclose(distributions(scores, shares.shape[1]), shares, atol=1e-5):
        raise UsageError("Expected shares of two neighbouring levels as labels, as encode_labels returns them.")
    return scores
