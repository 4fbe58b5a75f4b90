"""Bilingual dictionaries: pairs of words, and which of them two spaces know.

A file has a pair per line: a word and its translation. The separator is a tab wherever a line has one; otherwise it is
the same in the whole file, and the first line shows which: ``|||``, white space, or one of ``; , | =``. After a tab,
there may be several translations, separated by ``;``, or by a comma and a space, as in ``maison<TAB>house, home``.
Empty lines are skipped, and so are lines that begin with ``#`` and are not a pair. Pairs that occur again count once.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sentprobe.core.reader import read_lines, split_cells
from sentprobe.errors import CorpusError, DataError, TooFewError
from sentprobe.lab.alignment.space import Rows, Space

WordPair = tuple[str, str]
IDENTICAL, NUMERALS = "identical", "numerals"
"""Dictionaries that are no files."""
LEAST = 5
"""Pairs that both spaces must know, at least."""
_TRANSLATIONS = re.compile(r"\s*;\s*|\s*,\s+")
_EXPECTED = "a word and its translation, separated by a tab or a space"


@dataclass(frozen=True)
class Matched:
    """The pairs of a dictionary whose words both spaces have."""

    rows: Rows
    """(p, 2): rows of source and target, by the frequency of the source word."""
    word_pairs: tuple[WordPair, ...]
    """These pairs as words."""
    unknown_source: int
    """Pairs left out since the source space lacks their word."""
    unknown_target: int
    """Other pairs left out since the target space lacks their word."""

    @property
    def source_words(self) -> int:
        """Different source words of the pairs that both spaces have."""
        return len({source for source, _ in self.word_pairs})


def read_dictionary(path: str) -> list[WordPair]:
    """Read a file of pairs; CorpusError at the first line that is not a pair."""
    pairs: dict[WordPair, None] = {}
    split: Callable[[str], list[str]] | None = None
    for number, line in read_lines(path, _EXPECTED):
        text = line.strip()
        if not text:
            continue
        if "\t" in text:
            parts = [part.strip() for part in split_cells(path, number, text)]
        elif split is None and text.startswith("#") and len(text.split()) != 2:
            continue  # it does not show how pairs are separated
        else:
            split = split or _separator(text)
            parts = split(text) if split else [text]
        if len(parts) != 2 or not all(parts):
            if text.startswith("#"):
                continue
            raise CorpusError(path, number, _line_summary(text, parts), _expected(text, parts))
        for translation in _translations(parts[1]) if "\t" in text else parts[1:]:
            pairs[parts[0], translation] = None
    if not pairs:
        raise DataError(f"{path} holds no pairs; expected lines of a word and its translation.")
    return list(pairs)


def _separator(line: str) -> Callable[[str], list[str]] | None:
    """How to split the lines of a file without tabs, by one of them; None if it is not a pair."""
    if "|||" in line:
        return lambda text: [part.strip() for part in text.split("|||")]
    if len(line.split()) == 2:
        return str.split
    for mark in ";,|=":
        if len(parts := line.split(mark)) == 2 and all(part.strip() for part in parts):
            return lambda text, mark=mark: [part.strip() for part in text.split(mark)]  # type: ignore[misc]
    return None


def _translations(cell: str) -> list[str]:
    """The translations in one cell; punctuation is its own translation."""
    return [part for part in _TRANSLATIONS.split(cell) if part] or [cell]


def _line_summary(text: str, parts: Sequence[str]) -> str:
    columns = f"{len(parts)} column{'s' * (len(parts) != 1)}" if all(parts) else "an empty column"
    return f"{columns} in {text[:80]!r}"


def _expected(text: str, parts: Sequence[str]) -> str:
    if len(parts) < 3:
        return _EXPECTED
    if "\t" in text:
        return f"{_EXPECTED}; keep two columns with `cut -f1,2`"
    return f"{_EXPECTED}; words with spaces in them need a tab"


def read_pairs(dictionaries: Iterable[str], source: Space, target: Space) -> list[WordPair]:
    """The pairs of all dictionaries: files, ``identical`` words of both spaces, or only ``numerals``."""
    pairs: dict[WordPair, None] = {}
    for dictionary in dictionaries:
        if dictionary in (IDENTICAL, NUMERALS):
            pairs.update(dict.fromkeys(identical_words(source, target, numerals=dictionary == NUMERALS)))
        else:
            pairs.update(dict.fromkeys(read_dictionary(dictionary)))
    return list(pairs)


def match(pairs: Sequence[WordPair], source: Space, target: Space) -> Matched:
    """The pairs that both spaces know, by the frequency of the source word."""
    known_pairs = [(s, t) for s, t in pairs if s in source.index and t in target.index]
    known_pairs.sort(key=lambda pair: source.index[pair[0]])
    rows = np.array([(source.index[s], target.index[t]) for s, t in known_pairs], np.int64).reshape(-1, 2)
    unknown_source = sum(s not in source.index for s, _ in pairs)
    return Matched(rows, tuple(known_pairs), unknown_source, len(pairs) - len(known_pairs) - unknown_source)


def require_known(matched: Matched, pairs: Sequence[WordPair], name: str, source: Space, target: Space) -> None:
    """TooFewError if the spaces know too few pairs of a dictionary, with a reason if there is an obvious one."""
    if len(matched.word_pairs) >= LEAST:
        return
    message = (
        f"{source.name} and {target.name} have both words of {len(matched.word_pairs)} of {len(pairs):,} pairs of "
        f"{name}; expected {LEAST} or more. {matched.unknown_source:,} pairs have an unknown source word"
        f"{f', {matched.unknown_target:,} others an unknown target word' * bool(matched.unknown_target)}."
    )
    in_lower_case = _count_known(_lowercase_pairs(pairs), _lowercase_words(source), _lowercase_words(target))
    exchanged = _count_known([(t, s) for s, t in pairs], source.index, target.index)
    if in_lower_case >= LEAST:
        condition, advice = "if upper and lower case were the same", "change the case of the dictionary"
        raise TooFewError(f"{message} They would have {in_lower_case:,} {condition}: {advice}.")
    if exchanged >= LEAST:
        condition, advice = "if its columns were exchanged", "exchange them, or SOURCE and TARGET"
        raise TooFewError(f"{message} They would have {exchanged:,} {condition}: {advice}.")
    raise TooFewError(f"{message} Are these the right languages? --words reads more words of each space.")


def _count_known(pairs: Sequence[WordPair], source_words: Container[str], target_words: Container[str]) -> int:
    return sum(s in source_words and t in target_words for s, t in pairs)


def _lowercase_pairs(pairs: Sequence[WordPair]) -> list[WordPair]:
    return [(s.lower(), t.lower()) for s, t in pairs]


def _lowercase_words(space: Space) -> set[str]:
    return {word.lower() for word in space.words}


def known_without_case(matched: Matched, pairs: Sequence[WordPair], source: Space, target: Space) -> int:
    """How many pairs would be known if case were ignored, where that is at least twice as many; otherwise 0."""
    if 2 * len(matched.word_pairs) >= len(pairs):
        return 0
    count_without_case = _count_known(_lowercase_pairs(pairs), _lowercase_words(source), _lowercase_words(target))
    return count_without_case if count_without_case >= 2 * len(matched.word_pairs) else 0


def identical_words(source: Space, target: Space, *, numerals: bool = False) -> list[WordPair]:
    """Words that both spaces have, by frequency in the source; with ``numerals``, only those made of digits."""
    return [(word, word) for word in source.words if word in target.index and (not numerals or word.isdecimal())]


def count(matched: Matched, pairs: Sequence[WordPair], names: Sequence[str]) -> dict[str, Any]:
    """What is recorded of a dictionary."""
    return {
        "files": list(names),
        "digest": pairs_digest(pairs),
        "pairs": len(pairs),
        "known": len(matched.word_pairs),
        "source_words": matched.source_words,
        "unknown_source": matched.unknown_source,
        "unknown_target": matched.unknown_target,
    }


def describe_counts(about: Mapping[str, Any]) -> str:
    """What is recorded of a dictionary, in words."""
    text = f"{about['known']:,} of {about['pairs']:,} pairs, {about['source_words']:,} source words"
    unknown_source, unknown_target = about["unknown_source"], about["unknown_target"]
    if unknown_source or unknown_target:
        text += f"; left out: {unknown_source:,} with an unknown source word, "
        text += f"{unknown_target:,} others with an unknown target word"
    return f"{', '.join(about['files'])}: {text}"


def pairs_digest(pairs: Sequence[WordPair]) -> str:
    """A hash of pairs in their order."""
    text = "\n".join(f"{s}\t{t}" for s, t in pairs)
    return hashlib.blake2b(text.encode(errors="surrogatepass"), digest_size=16).hexdigest()
