"""Baselines that every probing score is compared with: classifiers that read words, or not even these.

    majority    the most frequent label of the training rows; the first by name if several are
    length      multinomial logistic regression on the number of tokens
    nb-uni      multinomial naive Bayes on the tf-idf weights of words
    nb-bi       the same on words and bigrams

They are the rows "Majority vote", "Length", "NB-uni-tfidf" and "NB-bi-tfidf" of Conneau et al. (2018), who give few
details. Here "bi" is words *and* bigrams: their NB-bi is nearly as good as their NB-uni on word content, where bigrams
alone have less than half of the accuracy. Words are lower-cased to leave out what capitals reveal; an audit measures
that. Everything is trained on train, and smoothing is chosen on dev; without train rows, dev is trained on and nothing
is chosen, as in an audit. Further inputs of a task, such as the word of "is this word in the sentence?", are separate
features for naive Bayes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sonde.core.suggest import did_you_mean
from sonde.errors import UsageError

if TYPE_CHECKING:
    from sonde.data.dataset import Dataset

BASELINES = ("majority", "length", "nb-uni", "nb-bi")
"""Names, in the order of the papers' tables."""
CONSTANT_BASELINES = ("majority",)
"""Those that predict one label: their accuracy is its share of the test rows, a fact of the set."""
ENCODER_BASELINES = ("baseline:random", "baseline:hash")
"""Encoders that know nothing, or only words: run with the probe ``linear`` on all sets with a train/test split. With
folds, a hundred fits would tell no more than naive Bayes does."""


@dataclass(frozen=True)
class Prediction:
    """The predictions of a baseline on the test rows, and its accuracy."""

    name: str
    labels: tuple[str, ...]
    """The predicted label of each test row, in order."""
    accuracy: float
    rows: int
    settings: Mapping[str, object]
    """What it was trained on, what was chosen on which split, and its features, as plain data."""


def baseline(name: str, dataset: Dataset) -> Prediction:
    """Train a baseline by name and predict the test rows."""
    # the names of the baselines are all that most modules need
    from sonde.baselines.length import predict_by_length
    from sonde.baselines.majority import predict_majority
    from sonde.baselines.naive_bayes import predict_by_words
    from sonde.baselines.parts import parts_of
    from sonde.data.expected import expectations_for

    parts = parts_of(dataset)
    match name:
        case "majority":
            found, settings = predict_majority(parts)
        case "length":
            found, settings = predict_by_length(parts)
        case "nb-uni" | "nb-bi":
            found, settings = predict_by_words(parts, expectations_for(dataset).inputs, pairs=name == "nb-bi")
        case _:
            hint = did_you_mean(name, BASELINES, n=1)
            raise UsageError(f"There is no baseline {name!r}.{hint} Expected one of {', '.join(BASELINES)}.")
    labels = tuple(parts.labels[i] for i in found.tolist())
    right = sum(label == row.label for label, row in zip(labels, parts.test, strict=True))
    trained_on, chosen_on = parts.names
    more = {"trained_on": trained_on} if name == "majority" else {"trained_on": trained_on, "chosen_on": chosen_on}
    return Prediction(name, labels, right / len(labels), len(labels), {**more, **settings})
