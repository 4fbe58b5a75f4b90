"""Sentences of two languages, line by line, and their words as rows of a space."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sentprobe.core.files import open_text
from sentprobe.core.words import split_everywhere, split_punctuation
from sentprobe.errors import DataError, UsageError
from sentprobe.words.evaluation import Request
from sentprobe.words.pair import Pair, Side

UNKNOWN = -1
"""The row of a word that is not known."""

Lines = tuple[list[str], list[str]]
Words = list[list[int]]
"""The rows of the words of each sentence."""


def read_aligned(files: Sequence[str]) -> Lines:
    """Read two files with a sentence per line, of which line i translates line i of the other."""
    if len(files) != 2:
        raise UsageError(f"{','.join(files)}: expected two files that are aligned line by line: A,B.")
    one, two = ([line.strip() for line in open_text(file)] for file in files)
    if len(one) != len(two):
        raise DataError(
            f"{files[0]} has {len(one):,} lines and {files[1]} has {len(two):,}; expected files that are aligned line "
            "by line."
        )
    if not one:
        raise DataError(f"{files[0]} and {files[1]} are empty; expected a sentence per line.")
    return one, two


def read_sentences(request: Request) -> Lines:
    """The sentences of a request, those that are asked first."""
    one, two = read_aligned(request.files)
    return (two, one) if request.reverse else (one, two)


def words_of(texts: Sequence[str], side: Side) -> Words:
    """The rows of the words of each text; ``UNKNOWN`` for those without one.

    Punctuation is split off words, and left out. A word with punctuation inside, such as *l'homme*, is looked up as it
    is, and otherwise in parts.
    """
    known: dict[str, list[int]] = {}
    found = []
    for text in texts:
        rows: list[int] = []
        for word in text.split():
            if word not in known:
                known[word] = _rows(word, side)
            rows += known[word]
        found.append(rows)
    return found


def _rows(word: str, side: Side) -> list[int]:
    rows: list[int] = []
    for token in split_punctuation(word):
        if not any(c.isalnum() for c in token):
            continue
        row = side.row(token)
        if row is not None:
            rows.append(row)
            continue
        parts = [part for part in split_everywhere(token) if any(c.isalnum() for c in part)]
        inner = [side.row(part) for part in parts] if len(parts) > 1 else [None]
        rows += [UNKNOWN if each is None else each for each in inner]
    return rows


def in_words(lines: Lines, pair: Pair) -> tuple[bool, Words, Words]:
    """Both columns in words, and whether the first is of the target: the way in which more words are known."""
    ways = []
    for flip in (False,) if pair.single else (False, True):
        one, two = (words_of(texts, side) for texts, side in zip(lines, pair.sides(flip), strict=True))
        ways.append((sum(row != UNKNOWN for rows in (*one, *two) for row in rows), flip, one, two))
    _, flip, one, two = max(ways, key=lambda way: way[0])  # the first, if both know as many
    return flip, one, two


def inverse_frequencies(texts: Words, size: int) -> NDArray[np.float64]:
    """The inverse document frequency of every word of a space (size,): log((1 + n) / (1 + df)) + 1, as that of vec:."""
    df = np.zeros(size)
    for rows in texts:
        df[list({row for row in rows if row != UNKNOWN})] += 1
    found: NDArray[np.float64] = np.log((1 + len(texts)) / (1 + df)) + 1
    return found
