"""Byte-pair encoding with the codes and the vocabulary of fastBPE, to the same subwords.

    codes       lines ``left right count``, in the order in which pairs are merged; ``</w>`` ends a word
    vocabulary  lines ``subword count``; a subword that does not end its word ends in ``@@``

A merge whose result is not in the vocabulary is undone, pair by pair.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from sentprobe.errors import CorpusError, DataError

END, MORE = "</w>", "@@"
MOST_WORDS = 1 << 20
"""Words whose subwords are remembered."""

SubwordPair = tuple[str, str]


@dataclass(frozen=True, eq=False)
class FastBpe:
    """Splits words into subwords."""

    ranks: dict[SubwordPair, int]
    """The order in which pairs are merged."""
    parts: dict[str, SubwordPair]
    """What a subword was merged from."""
    vocabulary: frozenset[str]
    subwords_of_word: dict[str, list[str]] = field(default_factory=dict, repr=False)

    def __call__(self, text: str) -> list[str]:
        """The subwords of a text whose words are separated by spaces."""
        return [subword for word in text.split(" ") if word for subword in self.split(word)]

    def split(self, word: str) -> list[str]:
        """The subwords of one word."""
        if (subwords := self.subwords_of_word.get(word)) is None:
            if len(self.subwords_of_word) >= MOST_WORDS:
                self.subwords_of_word.clear()
            pieces = self._within(self._merge([*word[:-1], word[-1] + END]))
            pieces[-1] = pieces[-1].removesuffix(END)
            subwords = self.subwords_of_word[word] = [*(piece + MORE for piece in pieces[:-1]), pieces[-1]]
        return subwords

    def _merge(self, pieces: list[str]) -> list[str]:
        """Merge the pair that comes first among the codes wherever it occurs, until there is none."""
        while len(pieces) > 1:
            best = min(pairwise(pieces), key=lambda pair: self.ranks.get(pair, len(self.ranks)))
            if best not in self.ranks:
                break
            merged: list[str] = []
            for piece in pieces:
                # what was merged just now is not the left side of the same pair
                if merged and (merged[-1], piece) == best:
                    merged[-1] += piece
                else:
                    merged.append(piece)
            pieces = merged
        return pieces

    def _within(self, pieces: list[str]) -> list[str]:
        """The same with subwords of the vocabulary only, or single characters."""
        if not self.vocabulary:
            return pieces
        known_pieces: list[str] = []
        stack = pieces[::-1]
        while stack:
            piece = stack.pop()
            is_last = not stack
            written = piece.removesuffix(END) if is_last else piece + MORE
            if written in self.vocabulary or piece not in self.parts:
                known_pieces.append(piece)
            else:
                stack += reversed(self.parts[piece])
        return known_pieces


def read_fast_bpe(codes: Path, vocabulary: Path) -> FastBpe:
    """Read both files; CorpusError at a line that is not of this format."""
    ranks: dict[SubwordPair, int] = {}
    parts: dict[str, SubwordPair] = {}
    for first, second, _ in _lines(codes, 3, "two subwords and a count"):
        ranks[first, second] = len(ranks)
        parts[first + second] = (first, second)
    known_subwords = frozenset(cells[0] for cells in _lines(vocabulary, 2, "a subword and a count"))
    return FastBpe(ranks, parts, known_subwords)


def _lines(path: Path, cells: int, expected: str) -> list[list[str]]:
    """The cells of each line. Only newlines end a line: subwords contain other separators of Unicode."""
    try:
        lines = path.read_bytes().decode().split("\n")
    except OSError as why:
        raise DataError(f"{path} cannot be read: {why.strerror}.") from None
    except UnicodeDecodeError as why:
        raise DataError(f"{path} is not UTF-8 at byte {why.start}. Download the file again.") from None
    split = [[cell for cell in line.split(" ") if cell] for line in lines]
    if not split[-1]:
        split.pop()
    for number, fields in enumerate(split, 1):
        if len(fields) != cells:
            raise CorpusError(str(path), number, repr(lines[number - 1][:60]), expected)
    return split
