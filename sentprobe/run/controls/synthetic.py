"""Every token replaced by a random word (Adi et al. 2017, section 7)."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np

from sentprobe.core.words import split_punctuation
from sentprobe.data.splits import Splits
from sentprobe.encoders.draw import draw
from sentprobe.errors import DataError
from sentprobe.run.control import Control, has_training_rows
from sentprobe.run.controls._changes import cut, sentences, with_sentences
from sentprobe.run.variant import scores_as_high


def replace_words(splits: Splits, seed: int) -> Splits:
    """The set with every token replaced by a random word."""
    tokenise = cache(split_punctuation)
    words = {word for text in sentences(splits, [splits.train]) for word in text.split()}
    tokens = {token for word in words for token in tokenise(word)}
    dictionary = sorted(token for token in tokens if any(map(str.isalnum, token)))
    if len(dictionary) < 2:
        raise DataError(
            f"The training texts of {splits.name}: expected at least two distinct words, got {len(dictionary)}."
        )
    train_dev_test = (splits.train, splits.dev, splits.test)
    texts = list(sentences(splits, train_dev_test))
    sizes = {text: size for split in train_dev_test for text, size in zip(split.texts, split.lengths, strict=False)}
    counts = np.array(
        [sizes.get(text) or sum([len(tokenise(word)) for word in text.split()]) for text in texts], np.int64
    )
    numbers = draw(texts, counts, f"synthetic {seed}") % np.uint64(len(dictionary))
    random_words = cut([dictionary[i] for i in numbers.tolist()], counts)
    synthetic = {text: " ".join(new) for text, new in zip(texts, random_words, strict=True)}
    train, dev, test = (with_sentences(splits, split, synthetic.__getitem__) for split in train_dev_test)
    return replace(splits, train=train, dev=dev, test=test)


control = Control(
    name="synthetic",
    order=60,
    interpretation=(
        "Trained and tested on random words, as many as each text has tokens: what is left of the score comes from "
        "text length, not from words."
    ),
    encodes=True,
    applies_to=has_training_rows,
    splits=replace_words,
    objection=scores_as_high("length", "text of as many random words"),
)
