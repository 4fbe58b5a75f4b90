"""Other texts: the same words in random order, and random words in the same number (Adi et al. 2017, section 7).

*Permuted.* A word is what stands between spaces, with its case and with the punctuation that is glued to it, as other
white space is: a tokeniser may take that for a letter. Words change places and spaces stay, so a bag of words sees what
it saw: vectors of ``static:``, of the bags among the baselines, and of ``vec:`` with the pools mean, sum and max stay
the same to the bit. The encoder is the one it was, and the probe is trained and tested on permuted texts, as with Adi
et al.; that of ``permuted_test`` is only tested on them.

word_order asks about the text as it stands, so that its label is read off the permuted text; with the old label, an
average of word vectors, which is the same as before, would have the same score as before. Of its rows those are left
out whose two words are not found in the text, for a tokeniser changed them. All other labels stay: they are of the
sentence that a row was made of.

*Synthetic.* Every token, punctuation included, is replaced by a word of the training texts, each as likely as another,
as from a dictionary, and all are set off by spaces: nothing but the number of tokens stays, which is the set's own, and
for the second sentence of a pair that of words with their outer punctuation split off. Adi et al. do this for length
only. The label is that of the sentence that a row was made of.

What a text becomes depends on seed and text (and on which words the training texts have), not on the texts beside it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from itertools import islice
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from sonde.encoders.draw import draw
from sonde.encoders.words import split_punctuation
from sonde.errors import DataError
from sonde.run.parts import Part, Parts

T = TypeVar("T")

ORDER = "word_order"
"""The task that is about the order of the words in the text as it stands."""


def permuted_parts(parts: Parts, given: Sequence[Part], seed: int) -> list[Part]:
    asked = list(sentences(parts, given))
    order = _orders(asked, seed)
    made = {text: _in_order(text, order[text]) for text in asked}
    if 2 * sum(made[text] != text for text in asked) < len(asked):
        raise DataError(
            f"Most of the {len(asked)} texts of {parts.name} stay as they are when words change places; expected texts "
            "of several words, set off by spaces. Others cannot be permuted."
        )
    found = [changed(parts, part, made.__getitem__) for part in given]
    if parts.task != ORDER or parts.labels != ("0", "1") or not parts.words:
        return found
    return [_relabelled(parts, part, new, order) for part, new in zip(given, found, strict=True)]


def sentences(parts: Parts, given: Iterable[Part]) -> dict[str, None]:
    """The different texts, and further inputs unless these are words."""
    found: dict[str, None] = {}
    for part in given:
        for column in (part.texts, *(() if parts.words else part.inputs.values())):
            found |= dict.fromkeys(column)
    return found


def changed(parts: Parts, part: Part, change: Callable[[str], str]) -> Part:
    inputs = part.inputs if parts.words else {name: [*map(change, column)] for name, column in part.inputs.items()}
    return replace(part, texts=[*map(change, part.texts)], inputs=inputs)


def _orders(texts: Sequence[str], seed: int) -> dict[str, list[int]]:
    """Of each text, which word comes first, which second, …: in the order of numbers that are drawn by its hash."""
    counts = np.array([len(_words(text)) for text in texts], np.int64)
    drawn = draw(texts, counts, f"permuted {seed}")
    starts = np.cumsum(counts) - counts
    order = np.lexsort((drawn, np.repeat(np.arange(len(texts)), counts))) - np.repeat(starts, counts)
    return dict(zip(texts, cut(order.tolist(), counts), strict=True))


def cut(items: list[T], counts: Iterable[int]) -> Iterator[list[T]]:
    """So many items, then so many, …"""
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


def _relabelled(parts: Parts, part: Part, new: Part, order: dict[str, list[int]]) -> Part:
    """The rows whose two words can be found, with the label that the new order gives them."""
    yes, no = parts.labels.index("1"), parts.labels.index("0")
    labels: list[int] = []
    kept: list[int] = []
    split = cache(split_punctuation)
    for i, (text, one, two) in enumerate(zip(part.texts, *part.inputs.values(), strict=True)):
        words = _words(text.lower())
        ones, twos = (_found(words, word.lower(), split) for word in (one, two))
        found = _agreeing(ones, twos, first=part.labels[i] == yes)
        if found is not None:
            place = {word: at for at, word in enumerate(order[text])}
            a, b = (place[word] for word in found)
            kept.append(i)
            labels.append(int(part.labels[i]) if a == b else yes if a < b else no)
    return _some(new, kept, np.array(labels, np.int64))


def _agreeing(ones: Sequence[int], twos: Sequence[int], *, first: bool) -> tuple[int, int] | None:
    """A place of each of two words such that the one comes first, or does not; or one place of both."""
    return next(((a, b) for a in ones for b in twos if a == b or (a < b) == first), None)


def _found(words: Sequence[str], wanted: str, split: Callable[[str], list[str]]) -> list[int]:
    """Where a word may be: as a token, else as a piece between punctuation, else within a word, as *do* in *don't*."""
    tests: tuple[Callable[[str], bool], ...] = (
        lambda word: wanted == word or wanted in split(word),
        lambda word: wanted in re.split(r"\W+", word),
        lambda word: wanted in word,
    )
    return next((found for test in tests if (found := [i for i, word in enumerate(words) if test(word)])), [])


def _some(part: Part, kept: Sequence[int], labels: npt.NDArray[np.int64]) -> Part:
    inputs = {name: [column[i] for i in kept] for name, column in part.inputs.items()}
    sizes = [part.sizes[i] for i in kept] if part.sizes else ()
    return Part([part.texts[i] for i in kept], inputs, labels, [part.keys[i] for i in kept], sizes=sizes)
