"""Words as numbers: how a network reads a text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Literal

from sentprobe.core.words import split_punctuation
from sentprobe.corpus.tokenisers import SIMPLE, SPACE, tokeniser

UNKNOWN = 0
"""The number of words that are not in the vocabulary; numbers of words begin with 1."""
BEGIN, END = "<s>", "</s>"
"""What stands before and after a sentence, if these words are in the vocabulary."""


MOST_PIECES = 1 << 20
"""Words between spaces that are remembered, some 200 MB."""


class _Pieces(dict[str, list[int]]):
    """The numbers of the tokens of each word between spaces; as a rule, each word is split once."""

    def __init__(self, number: Callable[[str], list[int]]) -> None:
        self._number = number

    def __missing__(self, word: str) -> list[int]:
        if len(self) >= MOST_PIECES:
            self.clear()
        found = self[word] = self._number(word)
        return found


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """The words that a network knows, and how texts are split into them."""

    words: Sequence[str]
    """The word with number i is ``words[i - 1]``."""
    tokenise: str = SIMPLE
    """The name of a tokeniser. ``space``: at white space; ``simple``: punctuation is split off words as well."""
    case: Literal["fallback", "lower", "as-is"] = "fallback"
    """``fallback``: a word as it is, then in lower case, then capitalised."""
    unknown: Literal["drop", "keep"] = "drop"
    """Whether unknown words are left out, or kept as one word with the number 0."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "_pieces", _Pieces(lambda word: self._numbers(self.split(word))))

    def __len__(self) -> int:
        return len(self.words)

    def ids(self, text: str) -> list[int]:
        """The numbers of the words of a text; one 0 if it has none."""
        pieces: _Pieces = self._pieces  # type: ignore[attr-defined]
        found = [*self._begin, *chain.from_iterable(map(pieces.__getitem__, self.spaced(text).split())), *self._end]
        return found or [UNKNOWN]

    def tokens(self, text: str) -> list[str]:
        """The words of a text that ``ids`` numbers, as they are written there; unknown ones are included or not."""
        words = [token for word in self.spaced(text).split() for token in self.split(word)]
        if self.unknown == "drop":
            words = [word for word in words if self.number(word)]
        found = [*([BEGIN] if self._begin else []), *words, *([END] if self._end else [])]
        return found or [""]

    def spaced(self, text: str) -> str:
        """The text with spaces where a tokeniser that reads whole texts splits it; others read word by word."""
        return text if self.tokenise in (SIMPLE, SPACE) else " ".join(tokeniser(self.tokenise)(text))

    def split(self, word: str) -> list[str]:
        """The tokens of one word between the spaces of ``spaced``."""
        return split_punctuation(word) if self.tokenise == SIMPLE else [word]

    @cached_property
    def index(self) -> dict[str, int]:
        """Word → number."""
        return {word: number for number, word in enumerate(self.words, 1)}

    @cached_property
    def _begin(self) -> list[int]:
        return [self.index[BEGIN]] if BEGIN in self.index else []

    @cached_property
    def _end(self) -> list[int]:
        return [self.index[END]] if END in self.index else []

    def number(self, word: str) -> int:
        """The number of a word, 0 for an unknown one."""
        get = self.index.get
        if self.case == "lower":
            return get(word.lower(), UNKNOWN)
        found = get(word, UNKNOWN)
        if not found and self.case == "fallback":
            found = get(word.lower(), 0) or get(word.capitalize(), UNKNOWN)
        return found

    def _numbers(self, tokens: Sequence[str]) -> list[int]:
        numbers = [self.number(token) for token in tokens]
        return [n for n in numbers if n] if self.unknown == "drop" else numbers
