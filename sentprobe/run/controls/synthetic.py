"""Every token replaced by a random word (Adi et al. 2017, section 7)."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np

from sentprobe.core.words import split_punctuation
from sentprobe.data.splits import Splits
from sentprobe.encoders.draw import draw
from sentprobe.errors import DataError
from sentprobe.run.control import Control
from sentprobe.run.controls._texts import changed, cut, sentences
from sentprobe.run.variant import scores_as_high


def replace_words(splits: Splits, seed: int) -> Splits:
    """The set with every token replaced by a random word."""
    split = cache(split_punctuation)
    words = {word for text in sentences(splits, [splits.train]) for word in text.split()}
    known = {token for word in words for token in split(word)}
    dictionary = sorted(token for token in known if any(map(str.isalnum, token)))
    if len(dictionary) < 2:
        raise DataError(
            f"The training texts of {splits.name}: expected at least two distinct words, got {len(dictionary)}."
        )
    three = (splits.train, splits.dev, splits.test)
    texts = list(sentences(splits, three))
    sizes = {text: size for part in three for text, size in zip(part.texts, part.lengths, strict=False)}
    counts = np.array([sizes.get(text) or sum([len(split(word)) for word in text.split()]) for text in texts], np.int64)
    drawn = draw(texts, counts, f"synthetic {seed}") % np.uint64(len(dictionary))
    found = cut([dictionary[i] for i in drawn.tolist()], counts)
    made = {text: " ".join(new) for text, new in zip(texts, found, strict=True)}
    train, dev, test = (changed(splits, part, made.__getitem__) for part in three)
    return replace(splits, train=train, dev=dev, test=test)


def _has_training(splits: Splits) -> bool:
    return len(splits.train) > 0


control = Control(
    name="synthetic",
    order=60,
    interpretation=(
        "Trained and tested on random words, as many as each text has tokens: what is left of the score comes from "
        "text length, not from words."
    ),
    encodes=True,
    applies_to=_has_training,
    splits=replace_words,
    objection=scores_as_high("length", "text of as many random words"),
)
