"""Words as numbers: how a network splits a text, and what the tokens of a byte-level encoding stand for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Literal
from unicodedata import category

from sentprobe.core.words import split_punctuation
from sentprobe.corpus.tokenisers import SIMPLE, SPACE, tokeniser

UNKNOWN = 0
"""The number of words that are not in the vocabulary; numbers of words begin with 1."""
BEGIN, END = "<s>", "</s>"
"""What stands before and after a sentence, if these words are in the vocabulary."""
MOST_PIECES = 1 << 20
"""Words between spaces whose numbers are cached, some 200 MB."""
BPE, FIRST_BPE = "bpe2", "bpe"
"""How a language model splits texts (``tokenise`` of a network): by byte-pair encoding over words between white space,
with the space after a word in its last token; or by that of earlier folders, which cuts words at combining marks, with
the space before a word in its first token."""
BYTE_SPACE = "Ġ"
"""What stands for a space in a token of a byte-level encoding."""
APOSTROPHES = "'’"
"""Punctuation that belongs to words: *l'*, *dogs'*."""


class _Pieces(dict[str, list[int]]):
    """The numbers of the tokens of each word between spaces; as a rule, each word is split once."""

    def __init__(self, number: Callable[[str], list[int]]) -> None:
        self._number = number

    def __missing__(self, word: str) -> list[int]:
        if len(self) >= MOST_PIECES:
            self.clear()
        numbers = self[word] = self._number(word)
        return numbers


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
        numbers = [*self._begin, *chain.from_iterable(map(pieces.__getitem__, self.spaced(text).split())), *self._end]
        return numbers or [UNKNOWN]

    def tokens(self, text: str) -> list[str]:
        """The words of a text that ``ids`` numbers, as they are written there; unknown ones are included or not."""
        words = [token for word in self.spaced(text).split() for token in self.split(word)]
        if self.unknown == "drop":
            words = [word for word in words if self.number(word)]
        tokens = [*([BEGIN] if self._begin else []), *words, *([END] if self._end else [])]
        return tokens or [""]

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
        number = get(word, UNKNOWN)
        if not number and self.case == "fallback":
            number = get(word.lower(), 0) or get(word.capitalize(), UNKNOWN)
        return number

    def _numbers(self, tokens: Sequence[str]) -> list[int]:
        numbers = [self.number(token) for token in tokens]
        return [n for n in numbers if n] if self.unknown == "drop" else numbers


def is_marked(token: str, tokenise: str) -> bool:
    """Whether a token ends a word, or begins one in the encoding of earlier folders."""
    return token.startswith(BYTE_SPACE) if tokenise == FIRST_BPE else token.endswith(BYTE_SPACE)


def word_of(token: str, tokenise: str) -> str:
    """The word that a token is, if it has the mark of one; otherwise nothing."""
    if not is_marked(token, tokenise):
        return ""
    try:
        content = bytes(map(_BYTES.__getitem__, token)).decode()
    except (KeyError, UnicodeDecodeError):  # a special token, or half of a character
        return ""
    if tokenise == FIRST_BPE:
        return content.removeprefix(" ")
    word = content.removesuffix(" ")
    is_word = word and (category(word[-1])[0] not in "PZ" or word[-1] in APOSTROPHES)
    return word if is_word else ""  # punctuation has the spaces around it


def byte_token(content: bytes) -> str:
    """The token of these bytes."""
    return "".join(map(_CHARACTERS.__getitem__, content))


def _byte_characters() -> dict[str, int]:
    """The printable character that stands for each byte, as in GPT-2: itself, or one from U+0100 on."""
    plain = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    unprintable = [byte for byte in range(256) if byte not in plain]
    return {chr(byte): byte for byte in plain} | {chr(256 + i): byte for i, byte in enumerate(unprintable)}


_BYTES = _byte_characters()
_CHARACTERS = {byte: character for character, byte in _BYTES.items()}
