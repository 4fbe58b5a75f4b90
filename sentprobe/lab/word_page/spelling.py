"""What was probably meant by a word that is unknown: another case, or a similar spelling."""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Codes = NDArray[np.uint32]


class Spellings:
    """The spellings of a vocabulary, the most frequent word first."""

    def __init__(self, words: Sequence[str]) -> None:
        self._folded: dict[str, int] = {}
        by_length: dict[int, list[int]] = defaultdict(list)
        for row, word in enumerate(words):
            self._folded.setdefault(fold(word), row)
            by_length[len(word)].append(row)
        self._codes = {n: (rows, _codes([words[row] for row in rows], n)) for n, rows in by_length.items() if n}

    def other_case(self, word: str) -> int | None:
        """The row of the most frequent word that differs in case, coding or ``_`` for a space only."""
        return self._folded.get(fold(word))

    def similar(self, word: str, n: int) -> list[int]:
        """Rows of the n nearest words by edits: fewest edits first, then the most frequent."""
        max_edits = max(1, min(3, len(word) // 3))
        neighbours = []
        for length in range(max(1, len(word) - max_edits), len(word) + max_edits + 1):
            if length in self._codes:
                rows, codes = self._codes[length]
                edits = edit_distances(word, codes)
                neighbours += [(int(edits[i]), rows[i]) for i in np.flatnonzero(edits <= max_edits)]
        return [row for _, row in sorted(neighbours)[:n]]


def fold(word: str) -> str:
    """The word without differences of case and coding, and of what joins the parts of a phrase."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", word).casefold()).replace(" ", "_")


def edit_distances(word: str, codes: Codes) -> NDArray[np.int16]:
    """The edits that make a word any of others, whose characters are the rows (n, length).

    An edit inserts, deletes or changes a character, or swaps two neighbours, each character at most once: the optimal
    string alignment distance.
    """
    letters, (n, length) = [ord(c) for c in word], codes.shape
    columns = np.ascontiguousarray(codes.T)
    row_before_last: list[NDArray[np.int16]] = []
    last_row = [np.full(n, j, np.int16) for j in range(length + 1)]
    for i, letter in enumerate(letters, 1):
        row = [np.full(n, i, np.int16)]
        for j in range(1, length + 1):
            best = np.minimum(last_row[j], row[j - 1]) + np.int16(1)
            np.minimum(best, last_row[j - 1] + (columns[j - 1] != letter), out=best, casting="same_kind")
            if i > 1 and j > 1:
                swapped = (columns[j - 1] == letters[i - 2]) & (columns[j - 2] == letter)
                np.minimum(best, row_before_last[j - 2] + np.int16(1), out=best, where=swapped)
            row.append(best)
        row_before_last, last_row = last_row, row
    return last_row[length]


def _codes(words: Sequence[str], length: int) -> Codes:
    """The characters (n, length) of words of one length."""
    text = "".join(words).encode("utf-32-le", "surrogatepass")
    return np.frombuffer(text, np.dtype("<u4")).astype(np.uint32).reshape(-1, length)
