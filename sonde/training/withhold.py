"""Sentences that must not be trained on, because an encoder will be probed on them."""

from __future__ import annotations

from collections.abc import Sequence

from sonde.corpus.near_duplicates import near_duplicate_key


def read_withheld(paths: Sequence[str]) -> frozenset[int]:
    """The near-duplicate keys of all texts of sets: a sentence with one of them is what the audit calls a copy."""
    if not paths:
        return frozenset()
    from sonde.data.sources import find_sets
    from sonde.encoders.embed import texts_of_set

    texts = (text for source in find_sets(list(paths)) for text in texts_of_set(source.load())[1])
    return frozenset(map(near_duplicate_key, texts)) - {near_duplicate_key("")}
