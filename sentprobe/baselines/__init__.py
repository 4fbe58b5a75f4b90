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

from typing import TYPE_CHECKING

from sentprobe.baselines.prediction import (
    BASELINES,
    CONSTANT_BASELINES,
    ENCODER_BASELINES,
    WORD_BASELINES,
    Prediction,
)

if TYPE_CHECKING:
    from sentprobe.data.dataset import Dataset

__all__ = ["BASELINES", "CONSTANT_BASELINES", "ENCODER_BASELINES", "WORD_BASELINES", "Prediction", "baseline"]


def baseline(name: str, dataset: Dataset) -> Prediction:
    """Train a baseline by name and predict the test rows."""
    # the names of the baselines are all that most modules need
    from sentprobe.baselines.of_set import Baselines

    return Baselines(dataset).predict(name)
