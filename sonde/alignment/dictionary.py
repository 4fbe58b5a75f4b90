"""Bilingual dictionaries: pairs of words, and which of them two spaces know."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sonde.alignment.space import Rows, Space
from sonde.core.files import open_text
from sonde.errors import CorpusError, DataError

Pair = tuple[str, str]


@dataclass(frozen=True)
class Matched:
    """The pairs of a dictionary whose words both spaces have."""

    rows: Rows
    """(p, 2): rows of source and target, by the frequency of the source word."""
    known: tuple[Pair, ...]
    """These pairs as words."""
    unknown_source: int
    """Pairs left out since the source space lacks their word."""
    unknown_target: int
    """Other pairs left out since the target space lacks their word."""


def read_dictionary(path: str) -> list[Pair]:
    """Read lines of a word and its translation, separated by a tab, or by white space if the line has no tab.

    Empty lines are skipped, repeated pairs are kept once.
    """
    found: dict[Pair, None] = {}
    for number, line in enumerate(open_text(path), 1):
        text = line.strip()
        if not text:
            continue
        parts = [part.strip() for part in (text.split("\t") if "\t" in text else text.split())]
        if len(parts) != 2 or not all(parts):
            raise CorpusError(
                path, number, repr(text[:80]), "a word and its translation, separated by a tab or a space"
            )
        found[parts[0], parts[1]] = None
    if not found:
        raise DataError(f"{path} holds no pairs; expected lines of a word and its translation.")
    return list(found)


def match(pairs: Sequence[Pair], source: Space, target: Space) -> Matched:
    """The pairs that both spaces know, by the frequency of the source word."""
    known = [(s, t) for s, t in pairs if s in source.index and t in target.index]
    known.sort(key=lambda pair: source.index[pair[0]])
    rows = np.array([(source.index[s], target.index[t]) for s, t in known], np.int64).reshape(-1, 2)
    lacking = sum(s not in source.index for s, _ in pairs)
    return Matched(rows, tuple(known), lacking, len(pairs) - len(known) - lacking)


def identical_words(source: Space, target: Space, *, numerals: bool = False) -> list[Pair]:
    """Words that both spaces have, by frequency in the source; with ``numerals``, only those made of digits."""
    return [(word, word) for word in source.words if word in target.index and (not numerals or word.isdecimal())]
