"""Sentences that must not be trained on, because an encoder will be probed on them."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

from sonde.corpus.near_duplicates import near_duplicate_key
from sonde.errors import SondeWarning


def read_withheld(paths: Sequence[str]) -> frozenset[int]:
    """The near-duplicate keys of all sentences of sets: a text with one of them is what the audit calls a copy.

    These are the texts of the rows, also as tokens with spaces between them, further inputs such as the second sentence
    of a pair, and, for tasks that change sentences (bigram shift, odd man out, coordination inversion), the sentences
    before they were changed. Only sets that ``sonde make`` wrote show these; the changed rows of other sets of these
    tasks are counted in a warning, since their originals cannot be withheld.
    """
    if not paths:
        return frozenset()
    from sonde.data.origins import origins, sentences_of
    from sonde.data.sources import find_sets

    keys: set[int] = set()
    for source in find_sets(list(paths)):
        dataset = source.load()
        keys.update(map(near_duplicate_key, sentences_of(dataset)))
        if lost := sum(original is None for _, original in origins(dataset)):
            warnings.warn(
                f"{dataset.name}: {lost:,} rows are changed sentences whose originals are not recorded, so that these "
                "cannot be withheld; only sets that `sonde make` wrote have them.",
                SondeWarning,
                stacklevel=2,
            )
    return frozenset(keys - {near_duplicate_key("")})
