"""Pairs of sentences with a score of people, as in STS, or with a label of 0 or 1, as in PAWS and HANS.

A table (CSV, TSV, JSON lines, Parquet) with the columns first, second and score, or by the names that published sets
have for them: sentence1, sentence2 and label, say. It may also have kind (the genre, or the heuristic of HANS), group
and id.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from sentprobe.core.arguments import listed_names
from sentprobe.core.reader import Requested, read_rows, sample_table
from sentprobe.data.rows import column_names, frame_cells, list_cells
from sentprobe.data.tables import table_name
from sentprobe.errors import CorpusError, DataError, UsageError

NAMES: Mapping[str, tuple[str, ...]] = {
    "first": ("first", "sentence1", "sentence_1", "sentence_a", "text1", "text_a", "premise", "sent1"),
    "second": ("second", "sentence2", "sentence_2", "sentence_b", "text2", "text_b", "hypothesis", "sent2"),
    "score": ("score", "similarity", "similarity_score", "relatedness_score", "label", "gold_label", "is_duplicate"),
    "kind": ("kind", "heuristic", "genre"),
    "group": ("group",),
    "id": ("id", "pairid", "pair_id"),
}
"""What columns are called, the first that a table has: here, in STS-B, in PAWS, in HANS, in SICK."""
REQUIRED = ("first", "second", "score")
LABELS = {
    **dict.fromkeys(("1", "1.0", "true", "yes", "entailment", "paraphrase"), 1.0),
    **dict.fromkeys(("0", "0.0", "false", "no", "non-entailment", "not_entailment", "not_paraphrase"), 0.0),
}
"""Labels that are no numbers, as HANS has them."""


class ScoredPair(NamedTuple):
    """Two sentences and how similar they are.

    Attributes
    ----------
    first
        A sentence.
    second
        Another one.
    score
        The score that people gave; or 1 and 0 for a pair that means the same, and one that does not.
    kind
        The genre, or how the pair was made; empty if that is not known.
    group
        What pairs share that are not independent of each other. Default: the first sentence.
    id
        What the pair is called.

    Examples
    --------
    >>> from sentprobe.data.scored_pairs import ScoredPair
    >>> ScoredPair("A man sings .", "A man is singing .", 4.8).cluster
    'A man sings .'
    """

    first: str
    second: str
    score: float
    kind: str = ""
    group: str = ""
    id: str = ""

    @property
    def cluster(self) -> str:
        """What pairs share that are not independent: the group, or else the first sentence."""
        return self.group or self.first


@dataclass(frozen=True, repr=False)
class ScoredPairs:
    """Pairs of sentences with scores: does similarity agree with people?

    Parameters
    ----------
    name
        What the set is called.
    rows
        The pairs.
    language
        A language code, or None.

    Examples
    --------
    >>> from sentprobe import ScoredPairs
    >>> ScoredPairs.from_rows([("A man sings .", "He is singing .", 3.5), ("A man sings .", "A cat eats .", 0.2)])
    ScoredPairs('pairs', 2 pairs with scores)
    """

    name: str
    rows: Sequence[ScoredPair]
    language: str | None = None

    def __repr__(self) -> str:
        language = f"{self.language}, " if self.language else ""
        scale = "labels" if self.is_binary else "scores"
        return f"ScoredPairs({self.name!r}, {language}{len(self.rows):,} pairs with {scale})"

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[ScoredPair]:
        return iter(self.rows)

    @property
    def is_binary(self) -> bool:
        """Whether all scores are 0 or 1."""
        return {row.score for row in self.rows} <= {0.0, 1.0}

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of pairs, sorted."""
        return tuple(sorted({row.kind for row in self.rows}))

    @cached_property
    def digest(self) -> str:
        """Sixteen hexadecimal digits over every field of every pair, in order."""
        state = hashlib.blake2b(digest_size=8)
        for row in self.rows:
            state.update(json.dumps(row, ensure_ascii=False).encode(errors="surrogatepass") + b"\n")
        return state.hexdigest()

    @classmethod
    def read(cls, path: Path | str, *, name: str | None = None, language: str | None = None) -> ScoredPairs:
        """Read a table.

        Parameters
        ----------
        path
            A CSV, TSV, JSON lines or Parquet file.
        name
            Another name. Default: that of the file.
        language
            A language code.

        Raises
        ------
        UsageError
            If the table lacks one of the columns.
        CorpusError
            If a row has no text or no score; the message names the line.
        """
        table = str(path)
        columns = _columns_among(table, sample_table(table, 1)[0])
        rows = list(_pairs(table, read_rows(table, _requested(columns)), list(columns)))
        return cls(name or table_name([table]), _varied(table, rows), language)

    @classmethod
    def from_frame(cls, frame: Any, *, name: str = "pairs", language: str | None = None) -> ScoredPairs:
        """Make a set of a frame of pandas, polars or Arrow, or of a dict of lists.

        Parameters
        ----------
        frame
            Anything that has columns by name, as a table has them.
        name
            The name of the set.
        language
            A language code.
        """
        columns = _columns_among(name, [str(column) for column in column_names(frame)])
        return cls._of_cells((values for values, _ in frame_cells(frame, _requested(columns))), columns, name, language)

    @classmethod
    def from_rows(cls, rows: Iterable[Any], *, name: str = "pairs", language: str | None = None) -> ScoredPairs:
        """Make a set of a list of rows.

        Parameters
        ----------
        rows
            Dicts with the keys that a table has as columns; or tuples of two sentences and a score.
        name
            The name of the set.
        language
            A language code.
        """
        listed = list(rows)
        is_dict = bool(listed) and isinstance(listed[0], Mapping)
        columns = (
            _columns_among(name, list(map(str, listed[0]))) if is_dict else dict(zip(REQUIRED, REQUIRED, strict=True))
        )
        return cls._of_cells((values for values, _ in list_cells(listed, _requested(columns))), columns, name, language)

    @classmethod
    def _of_cells(
        cls, cells: Iterable[Sequence[str]], columns: Mapping[str, str], name: str, language: str | None
    ) -> ScoredPairs:
        try:
            rows = list(_pairs(name, enumerate(cells), list(columns)))
        except CorpusError as e:
            raise DataError(f"{name}: row {e.line} (the first is 0) has {e.got}; expected {e.expected}.") from None
        return cls(name, _varied(name, rows), language)


def has_pair_columns(names: Iterable[str]) -> bool:
    """Whether a table with these columns has scored pairs."""
    return _present(names).keys() >= set(REQUIRED)


def _present(names: Iterable[str]) -> dict[str, str]:
    by_name = {name.strip().lower(): name for name in names}
    columns = {column: [by_name[alias] for alias in aliases if alias in by_name] for column, aliases in NAMES.items()}
    return {column: candidates[0] for column, candidates in columns.items() if candidates}


def _columns_among(path: str, names: Sequence[str]) -> dict[str, str]:
    columns = _present(names)
    if missing := [column for column in REQUIRED if column not in columns]:
        expected = "; ".join(f"{column}: {', '.join(NAMES[column])}" for column in missing)
        raise UsageError(
            f"{path} has the columns {listed_names(names)}, and none for {listed_names(missing)}. Expected one of "
            f"these names: {expected}."
        )
    return columns


def _requested(columns: Mapping[str, str]) -> Requested:
    return [("--columns", name) for name in columns.values()]


def _pairs(
    path: str, numbered_cells: Iterable[tuple[int, Sequence[str]]], columns: Sequence[str]
) -> Iterator[ScoredPair]:
    for number, cells in numbered_cells:
        values = dict(zip(columns, cells, strict=True))
        for column in ("first", "second"):
            if not values[column].strip():
                raise CorpusError(path, number, f"no text as its {column} sentence", "two sentences and a score")
        yield ScoredPair(**{**values, "score": _score(path, number, values["score"])})  # type: ignore[arg-type]


def _score(path: str, number: int, cell: str) -> float:
    text = cell.strip().lower()
    if text in LABELS:
        return LABELS[text]
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        expected = "a number, or a label such as 0 and 1, or entailment and non-entailment"
        raise CorpusError(path, number, f"the score {cell[:20]!r}", expected)
    return value


def _varied(path: str, rows: Sequence[ScoredPair]) -> tuple[ScoredPair, ...]:
    if not rows:
        raise DataError(f"{path} has no rows; expected two sentences and a score in each.")
    counts = Counter(row.score for row in rows)
    if len(counts) < 2:
        raise DataError(
            f"{path}: all {len(rows):,} pairs have the score {rows[0].score:g}; expected two scores or more."
        )
    return tuple(rows)
