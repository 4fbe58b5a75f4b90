"""Word translation: whether a word's translations are among its nearest neighbours, as MUSE counts it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from sentprobe.core.hashing import hash_64
from sentprobe.errors import TooFewError, UsageError
from sentprobe.lab.alignment.dictionary import WordPair
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
from sentprobe.lab.words.precision import LOOKED, by_band, by_group, precision_scores, ranks_of
from sentprobe.lab.words.systems import MappedSpace, PairSearch, SpacePair
from sentprobe.tasks import Example

DIFFERENT = "spelled otherwise"
"""Words that are not their own translation: in one space for two languages, the others need no alignment."""


@dataclass(frozen=True, eq=False)
class _WordQueries:
    flip: bool
    """Whether queries are words of the target."""
    queries: Rows
    gold: list[frozenset[int]]
    words: list[str]
    gold_words: list[frozenset[str]]
    """The gold translations, as words."""
    pos: list[str] | None
    identical: bool
    candidates: int


def find_queries(entries: Entries | None, pair: SpacePair, request: EvaluationRequest) -> Queries:
    """The source words of the pairs that both sides know."""
    pairs = _identical(pair, request) if entries is None else entries.pairs
    matches = matched(pairs, pair, str(request.files[0]) if request.files else "identical words")
    source, target = pair.sides(matches.flip)
    gold: dict[int, set[int]] = {}
    for source_row, target_row in matches.rows.tolist():
        gold.setdefault(source_row, set()).add(target_row)
    # in the order of the dictionary, so that spaces with other frequencies get the same queries
    query_rows = list(gold)
    words = [source.space.words[row] for row in query_rows]
    gold_words = [frozenset(target.space.words[row] for row in gold[query]) for query in query_rows]
    rows = [
        Example(" / ".join(sorted(translations)), (word,), word, extra=_part_of_speech(entries, word))
        for word, translations in zip(words, gold_words, strict=True)
    ]
    pos = None if entries is None or entries.pos is None else [entries.pos.get(word, "other") for word in words]
    content = _WordQueries(
        matches.flip,
        np.array(query_rows, np.int64),
        [frozenset(gold[query]) for query in query_rows],
        words,
        gold_words,
        pos,
        identical=entries is None,
        candidates=len(target.space),
    )
    facts = {**pair_counts(matches), "words left out": _left_out(pairs, source, gold)}
    return Queries(rows, content, facts, content_digest(pairs))


def _left_out(pairs: Sequence[WordPair], source: MappedSpace, query_rows: Collection[int]) -> int:
    """How many source words are not queries; forms that differ in case only are one word if they have one vector, or
    none."""
    words = {word.lower() if (row := source.row(word)) is None else row for word, _ in pairs}
    return len(words.difference(query_rows))


def _part_of_speech(entries: Entries | None, word: str) -> tuple[tuple[str, str], ...]:
    return (("pos", entries.pos.get(word, "other")),) if entries is not None and entries.pos is not None else ()


def _identical(pair: SpacePair, request: EvaluationRequest) -> list[WordPair]:
    """Words that both sides have as their own translations, sampled evenly over frequency."""
    if pair.single:
        raise UsageError(
            f"--identical compares two spaces, and {pair.name} is one space; expected an alignment or A.vec,B.vec."
        )
    source, target = pair.sides()
    shared = [
        w for w in source.space.words if w in target.space.index and (source.shared is None or w in source.shared)
    ]
    if len(shared) < 2:
        raise TooFewError(f"{pair.name}: the spaces have {len(shared)} words in common; expected two or more.")
    # one word of each stretch of the list: as many rare words as frequent ones, by their ranks
    ends = np.linspace(0, len(shared), min(request.identical, len(shared)) + 1).astype(int).tolist()
    parts = (shared[low:high] for low, high in pairwise(ends))
    sample = [min(part, key=lambda word: hash_64(f"{request.seed} {word}")) for part in parts]
    return [(word, word) for word in sample]


def score(queries: Queries, search: PairSearch, scoring: Scoring) -> EvaluationScores:
    """The nearest neighbours of every source word."""
    content: _WordQueries = queries.content
    source, target = search.pair.sides(content.flip)
    single = search.pair.single
    neighbours = search.nearest(content.queries, LOOKED + single, scoring, flip=content.flip)
    ranks, first = ranks_of(neighbours.rows, content.gold, content.queries.tolist() if single else None)
    scores = by_band(ranks, content.queries)
    if content.pos is not None:
        scores |= by_group(ranks, content.pos, sorted(set(content.pos)))
    if not content.identical:
        scores |= by_group(ranks, _spelling_groups(content), [DIFFERENT])
    answers = np.array([target.space.words[row] for row in first.tolist()])
    cosines = np.einsum("ij,ij->i", source.unit[content.queries], target.unit[first])
    chance = float(np.mean([len(gold) for gold in content.gold])) / content.candidates
    return precision_scores(
        ranks,
        scores,
        {"chance": chance},
        frequency=content.queries.astype(np.int32),
        answer=answers,
        cosine=cosines.astype(np.float32),
    )


def _spelling_groups(content: _WordQueries) -> list[str]:
    return [
        "alike" if word in gold_words else DIFFERENT
        for word, gold_words in zip(content.words, content.gold_words, strict=True)
    ]


def score_copy(queries: Queries) -> EvaluationScores | None:
    """Every word is its own translation; None if that is the question."""
    content: _WordQueries = queries.content
    if content.identical:
        return None
    ranks = np.array(
        [0 if word in gold_words else -1 for word, gold_words in zip(content.words, content.gold_words, strict=True)],
        np.int32,
    )
    # frequencies are of a system, and all systems with the same queries share this baseline
    return precision_scores(ranks, {}, answer=np.array(content.words))


word_evaluation = WordEvaluation(
    name="translation",
    summary="share of words whose nearest neighbours have one of their translations first, or among 5 and 10",
    task="word_translation",
    metric="precision@1",
    question="Which word is its translation?",
    files=1,
    read=lambda request: None if request.identical else read_entries(request),
    find_queries=find_queries,
    score=score,
    score_copy=score_copy,
    flag="--dictionary",
    options=("pos",),
    set_note="precision@1 in points, the share of source words whose nearest word is one of their translations; a word "
    "with several translations counts once, and pairs with an unknown word are left out.",
    table_title="precision at 1, at 5 and at 10; at 1 by the frequency rank of the source word, or its part of speech",
    heading="at 1",
    numbers=(
        DetailNumber("precision@5", "at 5"),
        DetailNumber("precision@10", "at 10"),
        DetailNumber("chance", "chance", digits=2),
        DetailNumber("pairs left out", "pairs left out", 1, 0),
    ),
    order=10,
)
