"""Texts cut into words and tokens, without a model: at white space, and at punctuation."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from functools import lru_cache
from itertools import chain, groupby
from unicodedata import category, combining, name

JOINERS = "\u200c\u200d"
"""Zero-width joiners, which occur inside Persian and Indic words, and in emoji."""


@lru_cache(maxsize=1)
def mark_class() -> str:
    """All combining marks, for brackets of a regular expression.

    Python's ``\\w`` and ``str.isalpha`` lack them: without them, words fall apart in Hindi, Thai, Tamil, Arabic and
    Hebrew with vowels, and everywhere in decomposed text.
    """
    codes = chain(range(0x300, 0x1EA00), range(0xE0100, 0xE01F0))
    marks = (code for code in codes if category(chr(code))[0] == "M")
    runs = [[code for _, code in run] for _, run in groupby(enumerate(marks), lambda pair: pair[1] - pair[0])]
    return "".join(f"{chr(run[0])}-{chr(run[-1])}" for run in runs)


def is_word(form: str) -> bool:
    """Whether a form is made of letters, of the marks that many scripts write vowels with, and of joiners."""
    return form.isalpha() or (
        form[:1].isalpha() and all(c.isalpha() or category(c)[0] == "M" or c in JOINERS for c in form)
    )


def is_vowel_sign(character: str) -> bool:
    """Whether a character is a mark that a text cannot lack, as in Hindi, Thai and Tamil.

    Accents, and the points of Hebrew, Arabic and Syriac (combining classes 10 to 36), may be left out.
    """
    combining_class = combining(character)
    is_optional = (
        10 <= combining_class <= 36 or combining_class >= 200 or name(character, "").startswith("VARIATION SELECTOR")
    )
    return category(character)[0] == "M" and not is_optional


def split_punctuation(word: str) -> list[str]:
    """Split punctuation and symbols off both ends of a word: ``(don't!!)`` is ``(``, ``don't``, ``!!``, ``)``."""
    if word.isalnum():
        return [word]
    start, end = 0, len(word)
    while start < end and category(word[start])[0] in "PS":
        start += 1
    while end > start and category(word[end - 1])[0] in "PS":
        end -= 1
    middle = [word[start:end]] if start < end else []
    return [*_runs(word[:start]), *middle, *_runs(word[end:])]


def split_everywhere(word: str) -> list[str]:
    """Split a word at all punctuation; letters with their marks stay together in every script."""
    if word.isalnum():
        return [word]
    parts = [(mark, "".join(run)) for mark, run in groupby(word, lambda c: category(c)[0] in "PS")]
    return [piece for mark, part in parts for piece in (_runs(part) if mark else [part])]


def lowercase_tokens(texts: Sequence[str]) -> list[list[str]]:
    """The lower-cased tokens of each text, punctuation split off; each word is split once."""
    split_words: dict[str, list[str]] = {}
    out = []
    for text in texts:
        tokens: list[str] = []
        for word in text.lower().split():
            if (split_word := split_words.get(word)) is None:
                split_word = split_words[word] = split_punctuation(word)
            tokens += split_word
        out.append(tokens)
    return out


def number_tokens(texts: Sequence[str]) -> tuple[list[str], array[int], array[int]]:
    """The distinct lower-cased tokens of texts; all tokens as numbers, text after text; where texts start and end.

    The same tokens as those of ``lowercase_tokens``, without a list of them for each text.
    """
    token_numbers = _TokenNumbers()
    numbers, starts = array("i"), array("q", [0])
    for text in texts:
        numbers.extend(chain.from_iterable(map(token_numbers.__getitem__, text.lower().split())))
        starts.append(len(numbers))
    return list(token_numbers.tokens), numbers, starts


class _TokenNumbers(dict[str, list[int]]):
    """The numbers of the tokens of each word; each word is split once."""

    def __init__(self) -> None:
        self.tokens: dict[str, int] = {}

    def __missing__(self, word: str) -> list[int]:
        numbers = [self.tokens.setdefault(token, len(self.tokens)) for token in split_punctuation(word)]
        self[word] = numbers
        return numbers


def replace_surrogates(text: str) -> str:
    """The text with replacement characters for lone surrogates, which no tokenizer accepts."""
    return text.encode(errors="surrogatepass").decode(errors="replace")


def _runs(marks: str) -> list[str]:
    """Punctuation marks, with repeated ones together: an ellipsis, a dash of two hyphens."""
    return ["".join(run) for _, run in groupby(marks)]
