"""All baselines of one set: its words are read once, settings are chosen on its dev rows."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from sentprobe.core.arguments import did_you_mean
from sentprobe.core.resources import single_threaded
from sentprobe.data.dataset import Dataset
from sentprobe.data.splits import Splits, splits_of
from sentprobe.errors import UsageError
from sentprobe.probes.baselines import BASELINES, CONSTANT_BASELINES, Prediction
from sentprobe.stats.training import Ints, Retrained

if TYPE_CHECKING:
    from sentprobe.probes.baselines.naive_bayes import SetWords


@dataclass(frozen=True)
class Baselines:
    """The baselines of a set; its words are counted once for all of them."""

    splits: Splits
    """With their examples, whose tokens are counted."""

    @cached_property
    def words(self) -> SetWords:
        """The words of its rows."""
        from sentprobe.probes.baselines.naive_bayes import SetWords

        return SetWords(self.splits)

    def predict(self, name: str) -> Prediction:
        """Train a baseline by name and predict the test rows."""
        # scipy takes longer to import than to resume a run, and must be loaded before its threads are limited
        from sentprobe.probes.baselines.length import predict_by_length
        from sentprobe.probes.baselines.naive_bayes import predict_by_words

        splits = self.splits
        if name not in BASELINES:
            hint = did_you_mean(name, BASELINES, n=1)
            raise UsageError(f"There is no baseline {name!r}.{hint} Expected one of {', '.join(BASELINES)}.")
        if name not in CONSTANT_BASELINES or not splits.labels:
            splits.check_trainable(f"the baseline {name}")
        with single_threaded():  # for such small matrices, threads take far longer to wait than to work
            match name:
                case "majority":
                    predicted, settings = predict_majority(splits)
                case "length":
                    predicted, settings = predict_by_length(splits)
                case _:
                    predicted, settings = predict_by_words(self.words, pairs=name == "nb-bi")
        labels = tuple(splits.labels[i] for i in predicted.tolist())
        rows: dict[str, object] = {"trained_on": splits.trained_on}
        if name != "majority":
            rows["chosen_on"] = splits.chosen_on if len(splits.dev) else None
        accuracy = float((predicted == splits.test.labels).mean())
        return Prediction(name, labels, accuracy, len(labels), {**rows, **settings})

    def retrain(self, name: str, assigned: Ints, dev_draws: Ints) -> Retrained:
        """Which test rows a baseline has right if it is trained without some rows, or chosen on other dev rows.

        ``assigned`` (rounds, n) are the groups of its training rows, 0 … g - 1, each of which is left out in turn;
        ``dev_draws`` (draws, n) say how often each dev row is drawn. It varies with them as a probe does, and its
        setting is chosen in the same way.
        """
        from sentprobe.probes.baselines.length import retrain_by_length
        from sentprobe.probes.baselines.naive_bayes import retrain_by_words

        splits = self.splits
        groups = int(assigned.max()) + 1
        subsets = [np.flatnonzero(numbers != group) for numbers in assigned for group in range(groups)]
        with single_threaded():
            if name == "length":
                on_dev, on_test, refits = retrain_by_length(splits, subsets)
            else:
                on_dev, on_test, refits = retrain_by_words(self.words, subsets, pairs=name == "nb-bi")
            trained = np.array([predicted == splits.test.labels for predicted in refits], np.float64)
        choices = (dev_draws @ (on_dev == splits.dev.labels).T).argmax(axis=1)  # the first if several are best
        return Retrained(trained, groups, (on_test == splits.test.labels)[choices].astype(np.float64))


def predict_majority(splits: Splits) -> tuple[np.ndarray, dict[str, object]]:
    """The label that most test rows have, for every test row (n,), with its share of the training rows.

    The majority of the training rows may be rare in test, and then anything would be better than it: here, what is
    better is better than every constant answer. Of several labels, the most frequent in train, then the first by name.
    """
    train, test = (Counter(rows.labels.tolist()) for rows in (splits.train, splits.test))
    best = min(range(len(splits.labels)), key=lambda label: (-test[label], -train[label], label))
    share = train[best] / train.total()
    return np.full(len(splits.test), best), {"label": splits.labels[best], "share": share}


def baseline(name: str, dataset: Dataset) -> Prediction:
    """Train a baseline by name and predict the test rows."""
    return Baselines(splits_of(dataset, hold_out_dev=False)).predict(name)
