"""The baselines of one set, which share the counts of its words."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from sentprobe.baselines.majority import predict_majority
from sentprobe.baselines.parts import parts_of
from sentprobe.baselines.prediction import BASELINES, Prediction
from sentprobe.core.suggest import did_you_mean
from sentprobe.core.threads import single_threaded
from sentprobe.data.dataset import Dataset
from sentprobe.data.expected import expectations_for
from sentprobe.errors import UsageError

if TYPE_CHECKING:
    from sentprobe.baselines.words import SetWords


@dataclass(frozen=True)
class Baselines:
    """The baselines of a set; its words are counted once for all of them."""

    dataset: Dataset

    @cached_property
    def words(self) -> SetWords:
        """The words of its rows."""
        from sentprobe.baselines.words import SetWords

        return SetWords(parts_of(self.dataset), expectations_for(self.dataset).inputs)

    def predict(self, name: str) -> Prediction:
        """Train a baseline by name and predict the test rows."""
        # scipy takes longer to import than to resume a run, and must be loaded before its threads are limited
        from sentprobe.baselines.length import predict_by_length
        from sentprobe.baselines.naive_bayes import predict_by_words

        parts = self.words.parts
        with single_threaded():  # for such small matrices, threads take far longer to wait than to work
            match name:
                case "majority":
                    found, settings = predict_majority(parts)
                case "length":
                    found, settings = predict_by_length(parts)
                case "nb-uni" | "nb-bi":
                    found, settings = predict_by_words(self.words, pairs=name == "nb-bi")
                case _:
                    hint = did_you_mean(name, BASELINES, n=1)
                    raise UsageError(f"There is no baseline {name!r}.{hint} Expected one of {', '.join(BASELINES)}.")
        labels = tuple(parts.labels[i] for i in found.tolist())
        right = sum(label == row.label for label, row in zip(labels, parts.test, strict=True))
        trained_on, chosen_on = parts.names
        more = {"trained_on": trained_on} if name == "majority" else {"trained_on": trained_on, "chosen_on": chosen_on}
        return Prediction(name, labels, right / len(labels), len(labels), {**more, **settings})
