"""Sentences of two languages, line by line, and their words as rows of a space."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sentprobe.core.arguments import did_you_mean
from sentprobe.core.reader import read_aligned
from sentprobe.core.words import split_everywhere, split_punctuation
from sentprobe.corpus.tokenisers import tokeniser
from sentprobe.errors import DataError, UsageError
from sentprobe.lab.words.evaluation import EvaluationRequest
from sentprobe.lab.words.systems import MappedSpace, SpacePair

UNKNOWN = -1
"""The row of a word that is not known."""

Lines = tuple[list[str], list[str]]
WordRows = list[list[int]]
"""The rows of the words of each sentence."""


def read_aligned_lines(files: Sequence[str]) -> Lines:
    """Read two files with a sentence per line, of which line i translates line i of the other."""
    if len(files) != 2:
        raise UsageError(f"{','.join(files)}: expected two files that are aligned line by line: A,B.")
    pairs = [(first.strip(), second.strip()) for _, (first, second) in read_aligned(files)]
    if not pairs:
        raise DataError(f"{files[0]} and {files[1]} are empty; expected a sentence per line.")
    return [first for first, _ in pairs], [second for _, second in pairs]


def read_sentences(request: EvaluationRequest) -> Lines:
    """The sentences of a request, those of the queries first."""
    first, second = read_aligned_lines(request.files)
    return (second, first) if request.reverse else (first, second)


def words_of(texts: Sequence[str], side: MappedSpace, tokenise: str | None = None) -> WordRows:
    """The rows of the words of each text; ``UNKNOWN`` for those without one.

    Punctuation is split off words, and left out. A word with punctuation inside, such as *l'homme*, is looked up as it
    is, and otherwise in parts. With the name of a tokeniser, each of its tokens is looked up as it is, and punctuation
    is a word if the space has it.
    """
    if tokenise is not None:
        split = tokeniser(tokenise)
        rows_of = [[side.row(token) for token in split(text)] for text in texts]
        return [[UNKNOWN if row is None else row for row in rows] for rows in rows_of]
    rows_of_word: dict[str, list[int]] = {}
    rows_of_texts = []
    for text in texts:
        rows: list[int] = []
        for word in text.split():
            if word not in rows_of_word:
                rows_of_word[word] = _rows(word, side)
            rows += rows_of_word[word]
        rows_of_texts.append(rows)
    return rows_of_texts


def _rows(word: str, side: MappedSpace) -> list[int]:
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
        rows += [UNKNOWN if part_row is None else part_row for part_row in inner]
    return rows


def tokenisers_of(request: EvaluationRequest) -> tuple[str | None, str | None]:
    """The tokenisers of the queries, and of the candidates; None: words without punctuation."""
    names = request.tokenise or (None,)
    if len(names) > 2:
        raise UsageError(f"--tokenise {','.join(request.tokenise)}: expected a tokeniser, or one per language: A,B.")
    for name in request.tokenise:
        tokeniser(name)  # it may not exist, or not be installed
    return (names[-1], names[0]) if request.reverse else (names[0], names[-1])


def aligned_words(lines: Lines, pair: SpacePair, request: EvaluationRequest) -> tuple[bool, WordRows, WordRows]:
    """Both columns in words, and whether the first is of the target: the way in which more words are known."""
    readings, names = [], tokenisers_of(request)
    for flip in (False,) if pair.single else (False, True):
        columns = [words_of(*arguments) for arguments in zip(lines, pair.sides(flip), names, strict=True)]
        known_count = sum(row != UNKNOWN for column in columns for rows in column for row in rows)
        readings.append((known_count, flip, columns))
    # the first, if both know as many
    _, flip, (source_rows, target_rows) = max(readings, key=lambda reading: reading[0])
    return flip, source_rows, target_rows


# Weights of words in a sentence

Weights = NDArray[np.float64]


@dataclass(frozen=True)
class Weighting:
    """How words are weighted in the mean that is a sentence's vector."""

    idf: Callable[[NDArray[np.float64], int], Weights] | None
    """The weights (size,) of words that are in so many (size,) of n texts; 0 leaves a word out. None: all are equal,
    and frequencies are not needed."""
    distinct: bool
    """Whether a word counts once however often it is in the sentence."""


def _muse_idf(df: NDArray[np.float64], n: int) -> Weights:
    # get_idf in src/utils.py of MUSE: decimal logarithms, at least 1; bow_idf skips words that have no frequency
    return np.where(df > 0, np.maximum(1, np.log10(n / np.maximum(df, 1))), 0)


def _smooth_idf(df: NDArray[np.float64], n: int) -> Weights:
    weights: Weights = np.log((1 + n) / (1 + df)) + 1
    return weights


WEIGHTINGS = {
    "muse": Weighting(_muse_idf, distinct=True),
    "smooth": Weighting(_smooth_idf, distinct=False),
    "equal": Weighting(None, distinct=False),
}
"""By name. ``smooth`` is that of ``vec:…?pool=idf``, and ``equal`` the mean of ``vec:``."""


def weighting(name: str) -> Weighting:
    """The weighting of this name; UsageError if there is none."""
    if name not in WEIGHTINGS:
        hint = did_you_mean(name, WEIGHTINGS)
        raise UsageError(f"There are no weights {name!r}.{hint} Expected one of {', '.join(WEIGHTINGS)}.")
    return WEIGHTINGS[name]


def document_frequencies(texts: WordRows, size: int) -> NDArray[np.float64]:
    """In how many texts each word of a space is, (size,)."""
    df = np.zeros(size)
    for rows in texts:
        df[list({row for row in rows if row != UNKNOWN})] += 1
    return df
