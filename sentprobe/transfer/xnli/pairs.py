"""Pairs with labels from the files of XNLI, with every column that they have."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sentprobe.core.files import open_text
from sentprobe.errors import CorpusError, DataError

LABELS = ("entailment", "neutral", "contradiction")
NO_GOLD = "-"
COLUMNS = ("sentence1", "sentence2", "gold_label")
VOTES = tuple(f"label{i}" for i in range(1, 6))


@dataclass(frozen=True, slots=True)
class Pair:
    """A row of a file."""

    premise: str
    hypothesis: str
    label: str
    language: str
    """Empty where the file does not say."""
    votes: tuple[str, ...]
    """Of the author and the annotators, as far as they are there."""


def read_pairs(path: str, language: str = "") -> list[Pair]:
    """The pairs of ``xnli.dev.tsv`` with its header, or of a file with two sentences and a label per line."""
    found = list(_pairs(path, language))
    if not found:
        raise DataError(f"{path} has no pairs{' in ' + language if language else ''}.")
    return found


def _pairs(path: str, language: str) -> Iterator[Pair]:
    names: Sequence[str] = COLUMNS
    for number, line in enumerate(open_text(path), 1):
        cells = line.rstrip("\r\n").split("\t")
        if number == 1 and set(COLUMNS) <= set(cells):
            names = cells
            continue
        if cells == [""]:
            continue
        if len(cells) < len(names):
            raise CorpusError(path, number, f"{len(cells)} columns", f"{len(names)}: {', '.join(names)}")
        row = dict(zip(names, cells, strict=False))
        own = row.get("language", "")
        if language and own not in ("", language):
            continue
        if row["gold_label"] not in (*LABELS, NO_GOLD):
            expected = f"one of {', '.join(LABELS)}, or {NO_GOLD}"
            raise CorpusError(path, number, f"the label {row['gold_label'][:20]!r}", expected)
        votes = tuple(row[name] for name in VOTES if row.get(name))
        if odd := [vote for vote in votes if vote not in LABELS]:
            raise CorpusError(path, number, f"the vote {odd[0][:20]!r}", f"one of {', '.join(LABELS)}")
        yield Pair(row["sentence1"], row["sentence2"], row["gold_label"], own, votes)
