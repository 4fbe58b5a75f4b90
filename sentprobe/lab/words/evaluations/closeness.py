"""Translation-pair closeness: the mean cosine and the mean distance of words and their translations."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sentprobe.errors import TooFewError
from sentprobe.lab.alignment.retrieval import Scoring
from sentprobe.lab.alignment.space import Rows
from sentprobe.lab.words.dictionaries import Entries, matched, pair_counts, read_entries
from sentprobe.lab.words.evaluation import (
    DetailNumber,
    EvaluationRequest,
    EvaluationScores,
    Queries,
    WordEvaluation,
    content_digest,
)
from sentprobe.lab.words.systems import PairSearch, SpacePair
from sentprobe.stats.intervals import cluster_bootstrap
from sentprobe.tasks import Example

TRIED = 1000
"""Pairs that one whose words belong together tries to change with."""


@dataclass(frozen=True, eq=False)
class _PairRows:
    flip: bool
    rows: Rows
    """(p, 2): words and their translations."""
    shuffled: Rows
    """(p,): translations of other words."""
    different: NDArray[np.bool_]
    """(p,): whether a word and its translation are spelled otherwise."""


def find_queries(entries: Entries, pair: SpacePair, request: EvaluationRequest) -> Queries:
    """All pairs that both sides know."""
    matches = matched(entries.pairs, pair, request.files[0])
    source, target = pair.sides(matches.flip)
    if len(np.unique(matches.rows[:, 0])) < 2:
        raise TooFewError(f"{request.files[0]}: {pair.name} knows one word only; expected two or more.")
    rows = [
        Example(target.space.words[target_row], (source.space.words[source_row],), source.space.words[source_row])
        for source_row, target_row in matches.rows.tolist()
    ]
    different = np.array([example.label != example.text for example in rows])
    content = _PairRows(matches.flip, matches.rows, unrelated(matches.rows, single=pair.single), different)
    return Queries(rows, content, pair_counts(matches), content_digest(entries.pairs))


def unrelated(rows: Rows, *, single: bool) -> Rows:
    """For each of the pairs (p, 2), the second word of another one (p,), always drawn alike.

    No word gets one of its own translations, or itself if both sides are one space (``single``), unless there are no
    others. All second words are used, and as often as in the pairs, unless words would get their translations.
    """
    sources = rows[:, 0].tolist()
    excluded: dict[int, set[int]] = {}
    for source_row, target_row in rows.tolist():
        excluded.setdefault(source_row, {source_row} if single else set()).add(target_row)
    shuffled: list[int] = np.random.default_rng(len(rows)).permutation(rows[:, 1]).tolist()
    second_words = list(dict.fromkeys(shuffled))
    for i, source in enumerate(sources):
        if shuffled[i] not in excluded[source]:
            continue
        for j in range(i - len(shuffled), i - len(shuffled) + min(len(shuffled), TRIED)):
            if shuffled[j] not in excluded[source] and shuffled[i] not in excluded[sources[j]]:
                shuffled[i], shuffled[j] = shuffled[j], shuffled[i]
                break
        else:
            shuffled[i] = next((word for word in second_words if word not in excluded[source]), shuffled[i])
    return np.array(shuffled, np.int64)


def score(queries: Queries, search: PairSearch, scoring: Scoring) -> EvaluationScores:
    """Cosines and distances of the pairs, and cosines of pairs that do not belong together."""
    content: _PairRows = queries.content
    source, target = search.pair.sides(content.flip)
    source_vectors, target_vectors = source.unit[content.rows[:, 0]], target.unit[content.rows[:, 1]]
    cosines = _products(source_vectors, target_vectors)
    differences = source.vectors(content.rows[:, 0]) - target.vectors(content.rows[:, 1])
    unit_differences = source_vectors - target_vectors
    distances = np.sqrt(_products(differences, differences))
    scores = {
        "l2": float(distances.mean()),
        "l2 of unit vectors": float(np.sqrt(_products(unit_differences, unit_differences)).mean()),
    }
    if content.different.any():
        scores = {"cosine, spelled otherwise": float(cosines[content.different].mean()), **scores}
    return EvaluationScores(
        score=float(cosines.mean()),
        interval=cluster_bootstrap(cosines, content.rows[:, 0], seed=0),
        interval_kind="bootstrap",
        scores=scores,
        arrays={
            "predicted": cosines.astype(np.float32),
            "truth": np.ones(len(cosines), np.float32),
            "l2": distances.astype(np.float32),
            "frequency": content.rows[:, 0].astype(np.int32),
        },
        baselines={"random pairs": float(_products(source_vectors, target.unit[content.shuffled]).mean())},
    )


def _products(first: NDArray[np.float32], second: NDArray[np.float32]) -> NDArray[np.float64]:
    products: NDArray[np.float64] = np.einsum("ij,ij->i", first, second, dtype=np.float64)
    return products


word_evaluation = WordEvaluation(
    name="closeness",
    summary="mean cosine and mean distance of words and their translations",
    task="translation_closeness",
    metric="cosine",
    question="How near is its translation?",
    files=1,
    read=read_entries,
    find_queries=find_queries,
    score=score,
    retrieves=False,
    directed=False,
    flag="--dictionary",
    set_note="mean cosine, times 100, of words and their translations.",
    table_title="mean cosine of words and their translations, of those that are not the same string, and of random "
    "pairs, times 100; mean Euclidean distance",
    numbers=(
        DetailNumber("cosine, spelled otherwise", "spelled otherwise"),
        DetailNumber("random pairs", "random pairs"),
        DetailNumber("l2", "distance", 1, 3),
        DetailNumber("l2 of unit vectors", "of unit vectors", 1, 3),
        DetailNumber("pairs left out", "pairs left out", 1, 0),
    ),
    order=50,
)
