"""WordPiece as BERT's uncased models have it: words in lower case, then the longest known pieces from the left.

The same pieces as the ``tokenizers`` library gives with the same vocabulary, without the library: static vectors are
part of the core, which does without it. Python's own tables of Unicode decide what a letter is.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence

from sentprobe.core.words import replace_surrogates

UNKNOWN = "[UNK]"
CONTINUED = "##"
"""What a piece begins with that does not begin a word."""
MAX_LETTERS = 100
"""Longer words are unknown: BERT's limit, which also bounds the time for a text without spaces."""
MAX_REMEMBERED = 200_000
"""Words whose pieces are remembered; a text has few words that others do not have."""

_CJK = (
    (0x4E00, 0x9FFF),
    (0x3400, 0x4DBF),
    (0x20000, 0x2A6DF),
    (0x2A700, 0x2B73F),
    (0x2B740, 0x2B81F),
    (0x2B920, 0x2CEAF),
    (0xF900, 0xFAFF),
    (0x2F800, 0x2FA1F),
)
"""Each character of these blocks is a word. The sixth begins where BERT's code has it, not where Unicode has it."""


class WordPiece:
    """Splits texts into pieces, as their numbers in a vocabulary."""

    def __init__(self, vocabulary: Mapping[str, int]) -> None:
        self._numbers = vocabulary
        self._unknown = vocabulary[UNKNOWN]
        self._longest = max(map(len, vocabulary))
        self._remembered: dict[str, tuple[int, ...]] = {}

    def split(self, texts: Sequence[str]) -> list[list[int]]:
        """The numbers of the pieces of each text."""
        return [self(text) for text in texts]

    def __call__(self, text: str) -> list[int]:
        """The numbers of the pieces of a text."""
        numbers: list[int] = []
        for word in replace_surrogates(text).split():
            if (pieces := self._remembered.get(word)) is None:
                pieces = tuple(number for part in split_word(word) for number in self._pieces(part))
                if len(self._remembered) < MAX_REMEMBERED:
                    self._remembered[word] = pieces
            numbers += pieces
        return numbers

    def _pieces(self, word: str) -> tuple[int, ...]:
        """The longest pieces from the left; the unknown one if some part of the word has none."""
        if len(word) > MAX_LETTERS:
            return (self._unknown,)
        pieces: list[int] = []
        begin = 0
        while begin < len(word):
            prefix = CONTINUED if begin else ""
            for end in range(min(len(word), begin + self._longest), begin, -1):
                if (number := self._numbers.get(prefix + word[begin:end])) is not None:
                    break
            else:
                return (self._unknown,)
            pieces.append(number)
            begin = end
        return tuple(pieces)


def split_word(word: str) -> list[str]:
    """What is between two spaces, in lower case and without accents, split at punctuation and around CJK characters."""
    if word.isascii() and word.isalnum():
        return [word.lower()]
    parts: list[str] = []
    current = ""
    plain = unicodedata.normalize("NFD", "".join(map(_clean, word)))
    for letter in plain.lower():
        if (category := unicodedata.category(letter)) == "Mn":
            continue
        if letter == " " or _is_punctuation(letter, category) or _is_cjk(letter):
            parts += [part for part in (current, letter.strip()) if part]
            current = ""
        else:
            current += letter
    return [*parts, current] if current else parts


def _clean(letter: str) -> str:
    """The letter; a space for any kind of space; nothing for control characters and for what stands for damage."""
    if letter in "\t\n\r" or unicodedata.category(letter) == "Zs":
        return " "
    return "" if letter in "\0\ufffd" or unicodedata.category(letter) in ("Cc", "Cf", "Co", "Cs") else letter


def _is_punctuation(letter: str, category: str) -> bool:
    """Punctuation, and all other ASCII characters that are neither letters nor digits."""
    return category.startswith("P") or (letter.isascii() and not letter.isalnum())


def _is_cjk(letter: str) -> bool:
    code = ord(letter)
    return code >= 0x3400 and any(low <= code <= high for low, high in _CJK)
