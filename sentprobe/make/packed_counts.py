"""Counts as bytes, to be sent between processes: they are merged by workers, and pass through the others unopened."""

from __future__ import annotations

from collections import Counter
from typing import Any

import msgspec

from sentprobe.make.candidates import as_tuples
from sentprobe.tasks import Counts

_Words = list[tuple[tuple[str, str, str], int]]


class _Packed(msgspec.Struct, array_like=True):
    sentences: int
    tokens: int
    columns: dict[str, int]
    words: _Words
    first_words: _Words
    bigrams: list[tuple[tuple[str, str], int]]
    level: int
    tallies: dict[str, list[tuple[Any, int]]]
    failed: dict[str, str]
    language: str | None


_encoder, _decoder = msgspec.msgpack.Encoder(), msgspec.msgpack.Decoder(_Packed)


def pack_counts(counts: Counts) -> bytes | Counts:
    """Counts as bytes; as they are, if a task counts what cannot be packed."""
    if not all(_is_plain(key) for tally in counts.tallies.values() for key in tally):
        return counts
    packed = _Packed(
        counts.sentences,
        counts.tokens,
        counts.columns,
        list(counts.words.items()),
        list(counts.first_words.items()),
        list(counts.bigrams.items()),
        counts.level,
        {name: list(tally.items()) for name, tally in counts.tallies.items()},
        counts.failed,
        counts.language,
    )
    try:
        return _encoder.encode(packed)
    except (ValueError, OverflowError):  # lone surrogates, or huge numbers
        return counts


def unpack_counts(packed: bytes | Counts) -> Counts:
    """Counts that were packed."""
    if isinstance(packed, Counts):
        return packed
    p = _decoder.decode(packed)
    tallies = {name: Counter({as_tuples(key): n for key, n in tally}) for name, tally in p.tallies.items()}
    return Counts(
        p.sentences, p.tokens, Counter(p.columns), Counter(dict(p.words)), Counter(dict(p.first_words)),
        Counter(dict(p.bigrams)), p.level, tallies=tallies, failed=p.failed, language=p.language,
    )  # fmt: skip


def _is_plain(key: Any) -> bool:
    """Whether a key is the same after packing: text, a number, None, or a tuple of these."""
    if type(key) is tuple:
        return all(map(_is_plain, key))
    return key is None or type(key) in (str, int, float, bool)
