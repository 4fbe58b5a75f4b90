"""Texts cut into words and tokens, without a model: at white space, and at punctuation."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from itertools import chain, groupby
from unicodedata import category


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
    known: dict[str, list[str]] = {}
    out = []
    for text in texts:
        tokens: list[str] = []
        for word in text.lower().split():
            if (found := known.get(word)) is None:
                found = known[word] = split_punctuation(word)
            tokens += found
        out.append(tokens)
    return out


def number_tokens(texts: Sequence[str]) -> tuple[list[str], array[int], array[int]]:
    """The distinct lower-cased tokens of texts; all tokens as numbers, text after text; where texts start and end.

    The same tokens as those of ``lowercase_tokens``, without a list of them for each text.
    """
    known = _TokenNumbers()
    numbers, starts = array("i"), array("q", [0])
    for text in texts:
        numbers.extend(chain.from_iterable(map(known.__getitem__, text.lower().split())))
        starts.append(len(numbers))
    return list(known.tokens), numbers, starts


class _TokenNumbers(dict[str, list[int]]):
    """The numbers of the tokens of each word; each word is split once."""

    def __init__(self) -> None:
        self.tokens: dict[str, int] = {}

    def __missing__(self, word: str) -> list[int]:
        found = [self.tokens.setdefault(token, len(self.tokens)) for token in split_punctuation(word)]
        self[word] = found
        return found


def replace_surrogates(text: str) -> str:
    """The text with replacement characters for lone surrogates, which no tokenizer accepts."""
    return text.encode(errors="surrogatepass").decode(errors="replace")


def _runs(marks: str) -> list[str]:
    """Punctuation marks, with repeated ones together: an ellipsis, a dash of two hyphens."""
    return ["".join(run) for _, run in groupby(marks)]
