"""From a label and a text to a row, and from rows to a set: what all readers share."""

from __future__ import annotations

from collections.abc import Sequence

from sentprobe.data.dataset import Dataset
from sentprobe.errors import CorpusError, DataError
from sentprobe.task import SPLITS, Example

Rows = dict[str, list[Example]]


class Interned(dict[str, str]):
    """Strings mapped to themselves, so that a word is one object however often it is read."""

    def __missing__(self, word: str) -> str:
        return self.setdefault(word, word)


def empty_splits() -> Rows:
    """Three empty splits."""
    return {split: [] for split in SPLITS}


def example(
    path: str,
    number: int,
    label: str,
    text: str,
    known: Interned,
    key: str | None = None,
    extra: tuple[tuple[str, str], ...] = (),
) -> Example:
    """One row. A text without words has no tokens and is kept, because an audit must see it; a label is required."""
    if not (label := label.strip()):
        raise CorpusError(path, number, "an empty label", "a label")
    return Example(known[label], tuple(map(known.__getitem__, text.split())), text, f"{number}", key, extra=extra)


def build_dataset(name: str, rows: Rows, path: str, inputs: Sequence[str] = ()) -> Dataset:
    """The set of these rows; ``inputs`` are extra columns that the probe is given besides the sentence."""
    labels = tuple(sorted({row.label for split in rows.values() for row in split}))
    if not labels:
        raise DataError(f"{path} has no rows; expected labelled sentences. Is it the right file?")
    return Dataset(name, name, 0, None, labels, rows, {"inputs": list(inputs)} if inputs else {})
