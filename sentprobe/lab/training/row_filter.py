"""Which rows of the training data are used, held out as dev, or left out, and why.

The first pass over the data decides, and keeps a byte per row, its status; later passes look it up.
"""

from __future__ import annotations

import warnings
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sentprobe.core.hashing import hash_64, mix
from sentprobe.corpus.folding import near_duplicate_key
from sentprobe.errors import DataError, SentProbeWarning, UsageError
from sentprobe.lab.training.rows import DataRow, text_places
from sentprobe.lab.training.sources import DOCUMENT, TREE

if TYPE_CHECKING:
    from sentprobe.data.dataset import Dataset

USED, EMPTY, TOO_LONG, WITHHELD, HELD_OUT = range(5)
REASONS = {EMPTY: "empty", TOO_LONG: "too long", WITHHELD: "withheld"}
"""Why rows are left out, as counts and messages name it."""


@dataclass(frozen=True)
class RowRules:
    """What rows must be like."""

    fields: tuple[str, ...]
    max_length: int
    """Words of a text."""
    withheld: Set[int] = frozenset()
    """Near-duplicate keys of texts that may not occur."""


def decide(rows: Iterable[DataRow], rules: RowRules, note: Callable[[DataRow], object] | None = None) -> bytearray:
    """The fate of every row; ``note`` is called with each that is used."""
    fields = rules.fields
    text_columns = text_places(fields)
    required = [column for column in range(len(fields)) if fields[column] != DOCUMENT]
    row_status = bytearray()
    withheld, longest = rules.withheld, rules.max_length
    for row in rows:
        values = row.values
        status = USED
        for column in required:
            if not values[column] or values[column].isspace():
                status = EMPTY
        if not status:
            for text in row.texts or [values[column] for column in text_columns]:
                # a text of more words has at least twice as many characters, which are counted at once
                if len(text) > 2 * longest and len(text.split()) > longest:
                    status = TOO_LONG
                elif withheld and not status and near_duplicate_key(text) in withheld:
                    status = WITHHELD
        if not status and note is not None:
            note(row)
        row_status.append(status)
    return row_status


def decide_and_hold_out(rows: Iterable[DataRow], rules: RowRules, n: int, seed: int) -> bytearray:
    """The fate of every row, ``n`` of those that are used being held out, or a few more.

    Rows of which the first values differ little are held out together or not at all: pairs with the same premise,
    copies, the sentences of a document.
    """
    keys = array("Q")
    first = rules.fields[0]
    # documents may be numbered, and digits do not count in near-duplicates
    key = hash_64 if first == DOCUMENT else near_duplicate_key

    def note(row: DataRow) -> None:
        keys.append(mix(key(row.texts[0] if first == TREE and row.texts else row.values[0]) ^ mix(seed)))

    row_status = decide(rows, rules, note)
    _hold_out(np.frombuffer(row_status, np.uint8), np.frombuffer(keys, np.uint64), n)
    return row_status


def decide_and_count_copies(rows: Iterable[DataRow], rules: RowRules, dev: Iterable[DataRow]) -> tuple[bytearray, int]:
    """The fate of every training row, and how many of the dev rows are near-duplicates of one that is used."""
    text_columns = text_places(rules.fields)

    def key(row: DataRow) -> int:
        combined = 0
        for text in row.texts[:1] or [row.values[column] for column in text_columns]:
            combined = mix(combined ^ near_duplicate_key(text))
        return combined

    unseen = Counter(map(key, dev))
    total = unseen.total()
    row_status = decide(rows, rules, lambda row: unseen.pop(key(row), None))
    return row_status, total - unseen.total()


def choose(rows: Iterator[DataRow], row_status: bytearray, wanted_status: int) -> Iterator[DataRow]:
    """The rows of this fate."""
    n, row = 0, None
    for status, row in zip(row_status, rows, strict=False):
        n += 1
        if status == wanted_status:
            yield row
    if n != len(row_status) or next(rows, None) is not None:
        raise DataError(f"{row.path if row else 'The data'} changed while it was read. Run the same command again.")


def _hold_out(row_status: NDArray[np.uint8], keys: NDArray[np.uint64], n: int) -> None:
    """Mark at least ``n`` of the rows that are used as held out, by the random keys of their groups (used,)."""
    held = keys <= np.partition(keys, n - 1)[n - 1] if len(keys) > n else np.ones(len(keys), bool)
    if len(keys) and held.all():
        groups = len(np.unique(keys))
        raise UsageError(
            f"--held-out {n:,} leaves nothing to train on: there are {len(keys):,} rows that can be used, in "
            f"{groups:,} group{'s' * (groups != 1)} with the same first text or document, which are held out together."
        )
    row_status[np.flatnonzero(row_status == USED)[held]] = HELD_OUT


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
