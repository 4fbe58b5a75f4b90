"""Dictionaries as tests: which of their pairs a system knows, and in which direction they are."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sentprobe.core.reader import read_tsv
from sentprobe.errors import CorpusError, SentProbeWarning, TooFewError
from sentprobe.lab.alignment.dictionary import WordPair, read_dictionary
from sentprobe.lab.alignment.inputs import FEW_KNOWN
from sentprobe.lab.alignment.space import Rows
from sentprobe.lab.words.evaluation import EvaluationRequest
from sentprobe.lab.words.systems import MappedSpace, SpacePair


@dataclass(frozen=True, eq=False)
class Entries:
    """A dictionary."""

    pairs: Sequence[WordPair]
    pos: Mapping[str, str] | None
    """Parts of speech of source words; None: not given."""


@dataclass(frozen=True, eq=False)
class KnownPairs:
    """The pairs whose words both sides have."""

    flip: bool
    """Whether the first column is of the target."""
    rows: Rows
    """(p, 2): rows of the first and the second word on their sides; each pair once."""
    unknown_first: int
    unknown_second: int
    """Pairs that are left out, since the first word is not known; others, since the second is not."""


def read_entries(request: EvaluationRequest) -> Entries:
    """Read a dictionary, and the parts of speech of its words."""
    pairs = read_dictionary(request.files[0])
    if request.reverse:
        pairs = [(second, first) for first, second in pairs]
    return Entries(pairs, None if request.pos is None else read_parts_of_speech(request.pos))


def read_parts_of_speech(path: str) -> dict[str, str]:
    """Read lines of a word, a tab and its part of speech; of several lines of a word, the first counts."""
    pos: dict[str, str] = {}
    for number, cells in read_tsv(path, "a word, a tab and its part of speech"):
        word, *tags = [cell.strip() for cell in cells]
        if not any((word, *tags)):
            continue
        if not word or len(tags) != 1 or not tags[0]:
            raise CorpusError(path, number, repr("\t".join(cells)[:80]), "a word, a tab and its part of speech")
        pos.setdefault(word, tags[0])
    return pos


def matched(pairs: Sequence[WordPair], pair: SpacePair, where: str) -> KnownPairs:
    """The pairs that both sides know, in the direction in which these are more."""
    directions = [_known_pairs(pairs, *pair.sides(flip), flip) for flip in ((False,) if pair.single else (False, True))]
    best = max(directions, key=lambda way: len(way.rows))  # the first, if both know as many
    if not len(best.rows):
        raise TooFewError(f"{where}: {pair.name} knows none of the {len(pairs):,} pairs; is it of these languages?")
    if len(best.rows) < FEW_KNOWN * len(pairs):
        share = 100 * len(best.rows) / len(pairs)
        warning = f"{where}: {pair.name} knows only {share:.0f} % of the pairs: is it of these languages?"
        warnings.warn(SentProbeWarning(warning), stacklevel=2)
    return best


def _known_pairs(pairs: Sequence[WordPair], first: MappedSpace, second: MappedSpace, flip: bool) -> KnownPairs:
    rows: dict[tuple[int, int], None] = {}
    lacks_first = lacks_second = 0
    for first_word, second_word in pairs:
        a, b = first.row(first_word), second.row(second_word)
        if a is None:
            lacks_first += 1
        elif b is None:
            lacks_second += 1
        else:
            rows[a, b] = None
    return KnownPairs(flip, np.array(list(rows), np.int64).reshape(-1, 2), lacks_first, lacks_second)


def pair_counts(matches: KnownPairs) -> dict[str, float]:
    """How many pairs are known, and how many were left out."""
    return {
        "pairs": len(matches.rows),
        "pairs left out": matches.unknown_first + matches.unknown_second,
        "source word unknown": matches.unknown_first,
        "target word unknown": matches.unknown_second,
    }
