"""What controls change: texts, labels and vectors.

*Texts* (Adi et al. 2017, section 7): the same words in random order, or random words in the same number.

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
import numpy.typing as npt

from sentprobe.core.hashing import hash_64
from sentprobe.core.words import split_everywhere, split_punctuation
from sentprobe.corpus.folding import fold
from sentprobe.data.splits import Split, Splits
from sentprobe.encoders.draw import draw
from sentprobe.errors import DataError
from sentprobe.run.control import Table

T = TypeVar("T")
Floats = npt.NDArray[np.float32]

ORDER = "word_order"
"""The task whose label is the order of words in the text."""
BLOCK_ROWS = 256
"""Vectors read at a time."""


def permuted_splits(splits: Splits, to_permute: Sequence[Split], seed: int) -> list[Split]:
    """Splits of a set with the words of every text in random order."""
    texts = list(sentences(splits, to_permute))
    order = _orders(texts, seed)
    permuted = {text: _in_order(text, order[text]) for text in texts}
    if 2 * sum(permuted[text] != text for text in texts) < len(texts):
        raise DataError(
            f"Most of the {len(texts)} texts of {splits.name} do not change when their words are permuted; expected "
            "texts of several words, separated by spaces."
        )
    changed = [with_sentences(splits, split, permuted.__getitem__) for split in to_permute]
    if splits.task != ORDER or splits.labels != ("0", "1") or not splits.words:
        return changed
    return [_relabelled(splits, split, new, order) for split, new in zip(to_permute, changed, strict=True)]


def sentences(splits: Splits, selected: Iterable[Split]) -> dict[str, None]:
    """The distinct texts of some splits of a set, and further inputs unless these are words."""
    distinct: dict[str, None] = {}
    for split in selected:
        for column in (split.texts, *(() if splits.words else split.inputs.values())):
            distinct |= dict.fromkeys(column)
    return distinct


def with_sentences(splits: Splits, split: Split, change: Callable[[str], str]) -> Split:
    """The rows of a split with every sentence changed."""
    inputs = split.inputs if splits.words else {name: [*map(change, column)] for name, column in split.inputs.items()}
    return replace(split, texts=[*map(change, split.texts)], inputs=inputs)


def _orders(texts: Sequence[str], seed: int) -> dict[str, list[int]]:
    """A permutation of the words of each text, seeded by its hash."""
    counts = np.array([len(_words(text)) for text in texts], np.int64)
    numbers = draw(texts, counts, f"permuted {seed}")
    starts = np.cumsum(counts) - counts
    order = np.lexsort((numbers, np.repeat(np.arange(len(texts)), counts))) - np.repeat(starts, counts)
    return dict(zip(texts, cut(order.tolist(), counts), strict=True))


def cut(items: list[T], counts: Iterable[int]) -> Iterator[list[T]]:
    """Consecutive chunks of these sizes."""
    remaining = iter(items)
    return (list(islice(remaining, count)) for count in counts)


def _in_order(text: str, order: Sequence[int]) -> str:
    words, between = _words(text), text.split(" ")
    if len(words) == len(between):
        return " ".join([words[i] for i in order])
    permuted = iter([words[i] for i in order])
    return " ".join([next(permuted) if word else "" for word in between])


def _words(text: str) -> list[str]:
    return [word for word in text.split(" ") if word]


def _relabelled(splits: Splits, split: Split, new: Split, order: dict[str, list[int]]) -> Split:
    """The rows whose two words are found in the text, labelled by their new order."""
    yes, no = splits.labels.index("1"), splits.labels.index("0")
    labels: list[int] = []
    rows: list[int] = []
    tokenise = cache(split_punctuation)
    for i, (text, first, second) in enumerate(zip(split.texts, *split.inputs.values(), strict=True)):
        words = [fold(word) for word in _words(text)]
        firsts, seconds = (_positions(words, fold(word), tokenise) for word in (first, second))
        pair = _agreeing(firsts, seconds, first_precedes=split.labels[i] == yes)
        if pair is not None:
            new_position = {word: at for at, word in enumerate(order[text])}
            a, b = (new_position[word] for word in pair)
            rows.append(i)
            labels.append(int(split.labels[i]) if a == b else yes if a < b else no)
    return replace(new.take(rows), labels=np.array(labels, np.int64))


def _agreeing(firsts: Sequence[int], seconds: Sequence[int], *, first_precedes: bool) -> tuple[int, int] | None:
    """A position of each of two words such that the first precedes the second, or not; or one position of both."""
    return next(((a, b) for a in firsts for b in seconds if a == b or (a < b) == first_precedes), None)


def _positions(words: Sequence[str], target: str, tokenise: Callable[[str], list[str]]) -> list[int]:
    """Positions of a word: as a token, else between punctuation, else within a word, as *do* in *don't*."""
    tests: tuple[Callable[[str], bool], ...] = (
        lambda word: target == word or target in tokenise(word),
        lambda word: target in split_everywhere(word),
        lambda word: target in word,
    )
    positions = ([i for i, word in enumerate(words) if test(word)] for test in tests)
    return next((matches for matches in positions if matches), [])


# Labels and vectors


def shuffled_labels(split: Split, stream: str) -> Split:
    """The rows with their labels in random order, drawn from a named random stream."""
    return replace(split, labels=np.random.default_rng(hash_64(stream)).permutation(split.labels))


def norms_of(table: Table) -> npt.NDArray[np.float64]:
    """Euclidean norms (n,) of vectors (n, d), which may be larger than memory."""
    norms = np.empty(len(table))
    for rows in blocks(len(table)):
        vectors = np.asarray(table[rows], np.float64)
        norms[rows] = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
    return norms


def blocks(n: int) -> Iterator[slice]:
    """Slices that cover n rows."""
    return (slice(start, start + BLOCK_ROWS) for start in range(0, n, BLOCK_ROWS))
