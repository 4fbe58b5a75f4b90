"""Word similarity: how cosines correlate with scores that people gave to pairs of words, of one language or of two."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from sentprobe.core.reader import read_lines, split_cells, table_format
from sentprobe.errors import CorpusError, DataError, TooFewError
from sentprobe.lab.alignment.retrieval import Scoring
from sentprobe.lab.alignment.space import Rows
from sentprobe.lab.words.evaluation import (
    DetailNumber,
    EvaluationRequest,
    EvaluationScores,
    Queries,
    WordEvaluation,
    content_digest,
)
from sentprobe.lab.words.systems import MappedSpace, PairSearch, SpacePair
from sentprobe.tasks import Example
from sentprobe.transfer.similarity import MIN_PAIRS, correlations

SCORES = ("similarity", "score", "mean", "rating")
"""What the column of scores may be called."""
EXPECTED = "two words and a number, separated by tabs, commas in a .csv file, or spaces"

ScoredPair = tuple[str, str, float]


@dataclass(frozen=True, eq=False)
class _RatedPairs:
    sides: tuple[MappedSpace, MappedSpace]
    rows: Rows
    """(p, 2)."""
    gold: list[float]


def read(request: EvaluationRequest) -> list[ScoredPair]:
    """Read lines of two words and a score; the columns may be named in a header, as in SemEval-2017's files."""
    path = request.files[0]
    rows = [(number, _fields(path, number, line)) for number, line in read_lines(path, EXPECTED) if line.strip()]
    if not rows:
        raise DataError(f"{path} is empty; expected lines of {EXPECTED}.")
    columns = _header(rows[0][1])
    pairs = list(_pairs(path, rows if columns is None else rows[1:], columns or (0, 1, 2)))
    if not pairs:
        raise DataError(f"{path} has a header and no pairs; expected lines of {EXPECTED}.")
    return [(second, first, score) for first, second, score in pairs] if request.reverse else pairs


def _fields(path: str, number: int, line: str) -> list[str]:
    if "\t" in line:
        return [part.strip() for part in split_cells(path, number, line)]
    if table_format(path) == "csv":
        return [part.strip() for part in next(csv.reader([line]))]
    return line.split()


def _header(fields: Sequence[str]) -> tuple[int, int, int] | None:
    """The columns of both words and of the score, if this is a header."""
    names = [field.lower() for field in fields]
    score = next((name for name in SCORES if name in names), None)
    if score is None or "word1" not in names or "word2" not in names:
        return None
    return names.index("word1"), names.index("word2"), names.index(score)


def _pairs(path: str, rows: Sequence[tuple[int, Sequence[str]]], columns: tuple[int, int, int]) -> Iterator[ScoredPair]:
    for number, fields in rows:
        cells = [fields[column] if column < len(fields) else "" for column in columns]
        try:
            score = float(cells[2])
        except ValueError:
            score = math.nan
        if not all(cells) or not math.isfinite(score):
            raise CorpusError(path, number, repr("\t".join(fields)[:80]), EXPECTED)
        yield cells[0], cells[1], score


def find_queries(pairs: Sequence[ScoredPair], pair: SpacePair, request: EvaluationRequest) -> Queries:
    """The pairs that are known: on both sides, or on one of them, wherever most are."""
    source, target = pair.sides()
    directions = [(source, target), (target, source), (source, source), (target, target)]
    if pair.single:
        directions = [(source, source)]
    known_rows = [
        [(a, b) for u, v, _ in pairs if (a := x.row(u)) is not None and (b := y.row(v)) is not None]
        for x, y in directions
    ]
    best = max(range(len(directions)), key=lambda i: len(known_rows[i]))
    x, y = directions[best]
    gold = [score for u, v, score in pairs if x.row(u) is not None and y.row(v) is not None]
    if len(gold) < MIN_PAIRS or len(set(gold)) < 2:
        raise TooFewError(
            f"{request.files[0]}: {pair.name} knows {len(gold)} of {len(pairs):,} pairs; expected {MIN_PAIRS} or more, "
            "with different scores, for a correlation."
        )
    rows = np.array(known_rows[best], np.int64)
    test_rows = [
        Example(f"{score:g}", (x.space.words[a], y.space.words[b]), f"{x.space.words[a]} {y.space.words[b]}")
        for (a, b), score in zip(known_rows[best], gold, strict=True)
    ]
    facts = {"pairs": len(gold), "pairs left out": len(pairs) - len(gold), "coverage": len(gold) / len(pairs)}
    inputs_key = f"sides {best} {content_digest(pairs)}"
    return Queries(test_rows, _RatedPairs((x, y), rows, gold), facts, inputs_key)


def score(queries: Queries, search: PairSearch, scoring: Scoring) -> EvaluationScores:
    """Pearson's and Spearman's correlation of cosines with scores."""
    content: _RatedPairs = queries.content
    first_vectors, second_vectors = (side.unit[content.rows[:, i]] for i, side in enumerate(content.sides))
    cosines = np.einsum("ij,ij->i", first_vectors, second_vectors, dtype=np.float64)
    correlation = correlations(cosines, content.gold, [""] * len(cosines), seed=0)
    value, low, high = correlation.pearson.overall, correlation.pearson.low, correlation.pearson.high
    if not all(map(math.isfinite, (value, low, high))):
        raise TooFewError(f"{search.pair.name} gives all pairs the same cosine, so there is no correlation.")
    spearman = correlation.spearman
    return EvaluationScores(
        score=value,
        interval=(low, high),
        interval_kind="bootstrap",
        scores={"spearman": spearman.overall, "spearman_low": spearman.low, "spearman_high": spearman.high},
        arrays={"predicted": cosines.astype(np.float32), "truth": np.array(content.gold, np.float32)},
    )


word_evaluation = WordEvaluation(
    name="similarity",
    summary="correlation of cosines with scores of people, for pairs of words of one language or two",
    task="word_similarity",
    metric="pearson",
    question="How similar are these two words?",
    files=1,
    read=read,
    find_queries=find_queries,
    score=score,
    retrieves=False,
    directed=False,
    flag="--similarity",
    set_note="Pearson's r, times 100, of cosines and scores of people; pairs with an unknown word are left out.",
    table_title="Pearson's and Spearman's correlation of cosines and scores of people, times 100",
    numbers=(
        DetailNumber("spearman", "Spearman"),
        DetailNumber("coverage", "known (%)"),
        DetailNumber("pairs left out", "pairs left out", 1, 0),
    ),
    order=20,
)
