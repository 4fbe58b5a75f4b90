"""One row of a probing set."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from sonde.corpus.sentence import Sentence

SPLITS = ("tr", "va", "te")


class Example(NamedTuple):
    """One row of a probing set. ``key`` is the target form that must not be shared between splits.

    A named tuple: a pass over a corpus makes several per sentence, and a frozen dataclass takes twice as long.
    """

    label: str
    tokens: tuple[str, ...]
    text: str
    source: str = ""
    key: str | None = None
    stratum: str = ""
    marks: tuple[int, ...] = ()
    """Positions of the target or changed tokens."""
    extra: tuple[tuple[str, str], ...] = ()
    """Further columns by name: the word of Adi's tasks, the replaced word of odd man out. One whose name begins with #
    is a note for the manifest, which ``make`` counts and takes away."""

    @classmethod
    def of(
        cls, s: Sentence, label: str, *, key: str | None = None, stratum: str = "", marks: Sequence[int] = ()
    ) -> Example:
        """The unchanged sentence under ``label``; ``marks`` are word positions here and become token positions."""
        return cls(label, s.tokens, s.text, s.id, key, stratum, token_positions(s, marks) if marks else ())


def token_positions(s: Sentence, words: Iterable[int]) -> tuple[int, ...]:
    """Where the surface tokens of these words stand; a word inside a multi-word token stands where that token does."""
    if not s.mwts or not words:
        return tuple(words)
    where: list[int] = []
    starts = {first: end for first, end, _ in s.mwts}
    word = token = 0
    while word < len(s):
        end = starts.get(word, word + 1)
        where += [token] * (end - word)
        word, token = end, token + 1
    return tuple(where[w] for w in words)
