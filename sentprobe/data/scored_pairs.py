"""Pairs of sentences with a score of people, as in STS, or with a label of 0 or 1, as in PAWS and HANS.

A table (CSV, TSV, JSON lines, Parquet) with the columns first, second and score, or by the names that published sets
have for them: sentence1, sentence2 and label, say. It may also have kind (the genre, or the heuristic of HANS), group
and id.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Self

from sentprobe.data.text_set import TextSet
from sentprobe.errors import CorpusError, DataError

NAMES: Mapping[str, tuple[str, ...]] = {
    "first": ("first", "sentence1", "sentence_1", "sentence_a", "text1", "text_a", "premise", "question1"),
    "second": ("second", "sentence2", "sentence_2", "sentence_b", "text2", "text_b", "hypothesis", "question2"),
    "score": ("score", "similarity", "similarity_score", "relatedness_score", "label", "gold_label", "is_duplicate"),
    "kind": ("kind", "heuristic", "genre"),
    "group": ("group",),
    "id": ("id", "pairid", "pair_id"),
}
"""What columns are called, the first that a table has: here, in STS-B, in PAWS, in HANS, in SICK."""
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
class ScoredPairs(TextSet[ScoredPair]):
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

    NAMES: ClassVar = NAMES
    REQUIRED: ClassVar = ("first", "second", "score")

    def __repr__(self) -> str:
        language = f"{self.language}, " if self.language else ""
        scale = "labels" if self.is_binary else "scores"
        return f"ScoredPairs({self.name!r}, {language}{len(self.rows):,} pairs with {scale})"

    @property
    def is_binary(self) -> bool:
        """Whether all scores are 0 or 1."""
        return {row.score for row in self.rows} <= {0.0, 1.0}

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
        return cls._from_table(str(path), name, language)

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
        return cls._from_frame(frame, name, language)

    @classmethod
    def from_rows(cls, rows: Iterable[Any], *, name: str = "pairs", language: str | None = None) -> ScoredPairs:
        """Make a set of a list of rows.

        Parameters
        ----------
        rows
            Dicts with the keys that a table has as columns; or tuples of two sentences and a score, and perhaps kind,
            group and id.
        name
            The name of the set.
        language
            A language code.
        """
        return cls._from_rows(rows, name, language)

    @classmethod
    def _of(cls, path: str, name: str, rows: Iterable[ScoredPair], language: str | None) -> Self:
        """The set; a DataError if there is nothing to rank."""
        pairs = super()._of(path, name, rows, language)
        if len({row.score for row in pairs}) < 2:
            score = pairs.rows[0].score
            raise DataError(f"{path}: all {len(pairs):,} pairs have the score {score:g}; expected two scores or more.")
        return pairs

    @classmethod
    def _row(cls, path: str, number: int, cells: Mapping[str, str]) -> ScoredPair:
        """The pair; a CorpusError for one without a text or a score."""
        for column in ("first", "second"):
            if not cells[column].strip():
                raise CorpusError(path, number, f"no text as its {column} sentence", "two sentences and a score")
        score = score_of(cells["score"])
        if not math.isfinite(score):
            expected = "a number, or a label such as 0 and 1, or entailment and non-entailment"
            raise CorpusError(path, number, f"the score {cells['score'][:20]!r}", expected)
        return ScoredPair(**{**cells, "score": score})  # type: ignore[arg-type]


def score_of(cell: str) -> float:
    """The score that a cell holds, as a number or as a label; NaN if it holds neither."""
    text = cell.strip().lower()
    if text in LABELS:
        return LABELS[text]
    try:
        return float(text)
    except ValueError:
        return math.nan
