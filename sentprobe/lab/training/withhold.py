"""Sentences that must not be trained on, because an encoder will be probed on them."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from sentprobe.corpus.folding import near_duplicate_key
from sentprobe.errors import DataError, SentProbeWarning, UsageError

if TYPE_CHECKING:
    from sentprobe.data.dataset import Dataset


def read_withheld(paths: Sequence[str]) -> frozenset[int]:
    """The near-duplicate keys of all sentences of sets: a text with one of them is what the audit calls a copy.

    These are the texts of the rows, also as tokens with spaces between them, further inputs such as the second sentence
    of a pair, and, for tasks that change sentences (bigram shift, odd man out, coordination inversion), the sentences
    before they were changed. Only sets that ``sentprobe make`` wrote show these; the changed rows of other sets of
    these tasks are counted in a warning, since their originals cannot be withheld.
    """
    if not paths:
        return frozenset()
    from sentprobe.data.expectations import origins, sentences_of

    keys: set[int] = set()
    for dataset in (dataset for path in paths for dataset in _read_sets(path)):
        keys.update(map(near_duplicate_key, sentences_of(dataset)))
        if lost := sum(original is None for _, original in origins(dataset)):
            warnings.warn(
                f"{dataset.name}: {lost:,} rows are changed sentences whose originals are not recorded, so that these "
                "cannot be withheld; only sets that `sentprobe make` wrote have them.",
                SentProbeWarning,
                stacklevel=2,
            )
    return frozenset(keys - {near_duplicate_key("")})


def _read_sets(path: str) -> Iterator[Dataset]:
    from sentprobe.data.sources import find_sets

    try:
        for source in find_sets([path]):
            yield source.load()
    except (UsageError, DataError) as e:
        raise UsageError(
            f"--withhold {path}: expected probing sets, as `sentprobe run` takes them (folders of `sentprobe make`, "
            f"SentEval's or X-Probe's files). {e}"
        ) from e
