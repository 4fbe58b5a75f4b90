"""Baselines that every probing score is compared with: classifiers that read words, or not even these.

    majority    the best constant answer: the label, of those in train, that most test rows have
    length      multinomial logistic regression on the number of tokens
    nb-uni      multinomial naive Bayes on the tf-idf weights of words
    nb-bi       the same on words and bigrams

They are the rows "Majority vote", "Length", "NB-uni-tfidf" and "NB-bi-tfidf" of Conneau et al. (2018), who give few
details. Here "bi" is words *and* bigrams: their NB-bi is nearly as good as their NB-uni on word content, where bigrams
alone have less than half of the accuracy. Words are lower-cased to leave out what capitals reveal; an audit measures
that. All but the majority are trained on train, and smoothing is chosen on dev; without train rows, dev is trained on
and nothing is chosen, as in an audit. Further inputs of a task, such as the word of "is this word in the sentence?",
are separate features for naive Bayes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

BASELINES = ("majority", "length", "nb-uni", "nb-bi")
"""Names, in the order of the papers' tables."""
CONSTANT_BASELINES = ("majority",)
"""Those that predict one label: their accuracy is its share of the test rows, a fact of the set."""
ENCODER_BASELINES = ("baseline:random", "baseline:hash")
"""Encoders that know nothing, or only words: run with the probe ``linear`` on all sets with a train/test split. With
folds, a hundred fits would tell no more than naive Bayes does."""
WORD_BASELINES = ("copy",)
"""Those of spaces of words: words are left as they are."""
PAIR_BASELINES = ("chance", "length", "overlap", "tf-idf")
"""Those of pairs of sentences, which compare texts: a coin, numbers of words, shared words, rare shared words."""
ALL_BASELINES = tuple(
    dict.fromkeys((*CONSTANT_BASELINES, "chance", *BASELINES, *ENCODER_BASELINES, *WORD_BASELINES, *PAIR_BASELINES))
)
"""The names that no encoder can be given, in the order of columns: of equally good ones, the first is the best."""
BASELINE_TITLES = {
    "majority": "the most frequent label",
    "length": "the number of words",
    "nb-uni": "naive Bayes on words",
    "nb-bi": "naive Bayes on words and pairs of words",
    "baseline:random": "a random vector per text",
    "baseline:hash": "a probe on a bag of words",
    "chance": "a coin",
    "overlap": "shared words",
    "tf-idf": "shared words, rare ones counting more",
}
"""What each of them is, where its name first appears; ``copy`` has a line of its own in legends."""


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
