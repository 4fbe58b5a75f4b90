"""What every probing score is shown beside: classifiers that read a set's words, or not even these.

    majority    the most frequent label of the training rows, of several the first by name
    length      multinomial logistic regression on the number of tokens
    nb-uni      multinomial naive Bayes on the tf-idf weights of words
    nb-bi       the same on words and pairs of neighbours

They are the rows "Majority vote", "Length", "NB-uni-tfidf" and "NB-bi-tfidf" of Conneau et al. (2018), who say little
of how they were made. Here "bi" is words *and* pairs: their NB-bi finds the word of word content nearly as often as
their NB-uni, and pairs alone find less than half of what words do. Words are lower-cased, so that what capitals tell
stays out; an audit measures that. Everything is learned on tr, and how much to smooth is chosen on va; without tr, va
is learned from and nothing is chosen, as in an audit. Further inputs of a task, such as the word of "is this word in
the sentence?", are features of their own for naive Bayes.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass

from sonde.baselines.length import predict_by_length
from sonde.baselines.majority import predict_majority
from sonde.baselines.naive_bayes import predict_by_words
from sonde.baselines.parts import parts_of
from sonde.data.dataset import Dataset
from sonde.data.expected import expectations_for
from sonde.errors import UsageError

BASELINES = ("majority", "length", "nb-uni", "nb-bi")
"""The names, as in the papers' tables from top to bottom."""
CONSTANT_BASELINES = ("majority",)
"""Those that look at no row: what they reach is the share of one label among the test rows, a fact of the set."""


@dataclass(frozen=True)
class Prediction:
    """What a baseline says of each test row, and how often it is right."""

    name: str
    labels: tuple[str, ...]
    """The predicted label of each row of te, in order."""
    accuracy: float
    rows: int
    settings: Mapping[str, object]
    """What it was trained on, what was chosen and where, and what it looked at, as plain data."""


def baseline(name: str, dataset: Dataset) -> Prediction:
    """Train the baseline of this name and predict the test rows."""
    parts = parts_of(dataset)
    match name:
        case "majority":
            found, settings = predict_majority(parts)
        case "length":
            found, settings = predict_by_length(parts)
        case "nb-uni" | "nb-bi":
            found, settings = predict_by_words(parts, expectations_for(dataset).inputs, pairs=name == "nb-bi")
        case _:
            near = difflib.get_close_matches(name, BASELINES, n=1)
            hint = f" Did you mean {near[0]}?" if near else ""
            raise UsageError(f"There is no baseline {name!r}.{hint} The baselines are {', '.join(BASELINES)}.")
    labels = tuple(parts.labels[i] for i in found.tolist())
    right = sum(label == row.label for label, row in zip(labels, parts.test, strict=True))
    trained_on, chosen_on = parts.names
    more = {"trained_on": trained_on} if name == "majority" else {"trained_on": trained_on, "chosen_on": chosen_on}
    return Prediction(name, labels, right / len(labels), len(labels), {**more, **settings})
