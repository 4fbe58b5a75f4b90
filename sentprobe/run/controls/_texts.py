"""Other texts: the same words in random order, and random words in the same number (Adi et al. 2017, section 7).

*Permuted.* Words are separated by spaces and keep their case and attached punctuation; other white space counts as part
of a word, because some tokenizers treat it as a letter. Words are permuted and spaces stay, so a bag of words is
unchanged: vectors of ``static:``, of the bag-of-words baselines, and of ``vec:`` with mean, sum and max pooling are the
same to the last bit. The encoder stays as it is, and the probe is trained and tested on permuted texts, as in Adi et
al.; with ``permuted_test`` it is only tested on them.

The label of word_order describes the order of the text, so it is recomputed from the permuted text; with the old label,
an average of word vectors, which does not change, would keep its score. Rows whose two words are not found in the text,
because a tokenizer changed them, are left out. All other labels stay: they describe the original sentence.

*Synthetic.* Every token, punctuation included, is replaced by a word drawn uniformly from the vocabulary of the
training texts, separated by spaces: only the number of tokens is preserved, as the set counts them (for the second
sentence of a pair, words with outer punctuation split off). Adi et al. do this for length only. The label is that of
the original sentence.

The new text depends on the seed and the text (and on the vocabulary of the training texts), not on other texts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from itertools import islice
from typing import TypeVar

import numpy as np

from sentprobe.core.words import split_everywhere, split_punctuation
from sentprobe.corpus.folding import fold
from sentprobe.data.splits import Split, Splits
from sentprobe.encoders.draw import draw
from sentprobe.errors import DataError

T = TypeVar("T")

ORDER = "word_order"
"""The task whose label is the order of words in the text."""


def permuted_parts(splits: Splits, given: Sequence[Split], seed: int) -> list[Split]:
    """Splits of a set with the words of every text in random order."""
    texts = list(sentences(splits, given))
    order = _orders(texts, seed)
    made = {text: _in_order(text, order[text]) for text in texts}
    if 2 * sum(made[text] != text for text in texts) < len(texts):
        raise DataError(
            f"Most of the {len(texts)} texts of {splits.name} do not change when their words are permuted; expected "
            "texts of several words, separated by spaces."
        )
    found = [changed(splits, part, made.__getitem__) for part in given]
    if splits.task != ORDER or splits.labels != ("0", "1") or not splits.words:
        return found
    return [_relabelled(splits, part, new, order) for part, new in zip(given, found, strict=True)]


def sentences(splits: Splits, given: Iterable[Split]) -> dict[str, None]:
    """The distinct texts, and further inputs unless these are words."""
    found: dict[str, None] = {}
    for part in given:
        for column in (part.texts, *(() if splits.words else part.inputs.values())):
            found |= dict.fromkeys(column)
    return found


def changed(splits: Splits, part: Split, change: Callable[[str], str]) -> Split:
    """The rows with every sentence changed."""
    inputs = part.inputs if splits.words else {name: [*map(change, column)] for name, column in part.inputs.items()}
    return replace(part, texts=[*map(change, part.texts)], inputs=inputs)


def _orders(texts: Sequence[str], seed: int) -> dict[str, list[int]]:
    """A permutation of the words of each text, seeded by its hash."""
    counts = np.array([len(_words(text)) for text in texts], np.int64)
    drawn = draw(texts, counts, f"permuted {seed}")
    starts = np.cumsum(counts) - counts
    order = np.lexsort((drawn, np.repeat(np.arange(len(texts)), counts))) - np.repeat(starts, counts)
    return dict(zip(texts, cut(order.tolist(), counts), strict=True))


def cut(items: list[T], counts: Iterable[int]) -> Iterator[list[T]]:
    """Consecutive chunks of these sizes."""
    rest = iter(items)
    return (list(islice(rest, count)) for count in counts)


def _in_order(text: str, order: Sequence[int]) -> str:
    words, between = _words(text), text.split(" ")
    if len(words) == len(between):
        return " ".join([words[i] for i in order])
    moved = iter([words[i] for i in order])
    return " ".join([next(moved) if word else "" for word in between])


def _words(text: str) -> list[str]:
    return [word for word in text.split(" ") if word]


def _relabelled(splits: Splits, part: Split, new: Split, order: dict[str, list[int]]) -> Split:
    """The rows whose two words are found, labelled by their new order."""
    yes, no = splits.labels.index("1"), splits.labels.index("0")
    labels: list[int] = []
    found_rows: list[int] = []
    split = cache(split_punctuation)
    for i, (text, one, two) in enumerate(zip(part.texts, *part.inputs.values(), strict=True)):
        words = [fold(word) for word in _words(text)]
        ones, twos = (_found(words, fold(word), split) for word in (one, two))
        found = _agreeing(ones, twos, first=part.labels[i] == yes)
        if found is not None:
            place = {word: at for at, word in enumerate(order[text])}
            a, b = (place[word] for word in found)
            found_rows.append(i)
            labels.append(int(part.labels[i]) if a == b else yes if a < b else no)
    return replace(new.take(found_rows), labels=np.array(labels, np.int64))


def _agreeing(ones: Sequence[int], twos: Sequence[int], *, first: bool) -> tuple[int, int] | None:
    """A position of each of two words such that the first precedes the second, or not; or one position of both."""
    return next(((a, b) for a in ones for b in twos if a == b or (a < b) == first), None)


def _found(words: Sequence[str], target: str, split: Callable[[str], list[str]]) -> list[int]:
    """Positions of a word: as a token, else between punctuation, else within a word, as *do* in *don't*."""
    tests: tuple[Callable[[str], bool], ...] = (
        lambda word: target == word or target in split(word),
        lambda word: target in split_everywhere(word),
        lambda word: target in word,
    )
    return next((found for test in tests if (found := [i for i, word in enumerate(words) if test(word)])), [])
