"""Word translation: whether a word's translations are among its nearest neighbours, as MUSE counts it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from sentprobe.core.hashing import hash_64
from sentprobe.errors import TooFewError, UsageError
from sentprobe.lab.alignment.dictionary import Pair as WordPair
from sentprobe.lab.alignment.retrieval import Scoring
from sentprobe.lab.alignment.space import Rows
from sentprobe.lab.words.dictionaries import Entries, matched, read_entries, tally
from sentprobe.lab.words.evaluation import Answers, Questions, Request, WordEvaluation, content_digest
from sentprobe.lab.words.neighbours import Neighbourhood
from sentprobe.lab.words.pair import Pair, Side
from sentprobe.lab.words.precision import LOOKED, by_band, by_group, graded, ranks_of
from sentprobe.tasks import Example

DIFFERENT = "spelled otherwise"
"""Words that are none of their own translations: in one space for two languages, the others are found for nothing."""


@dataclass(frozen=True, eq=False)
class _Content:
    flip: bool
    """Whether queries are words of the target."""
    queries: Rows
    gold: list[frozenset[int]]
    words: list[str]
    right: list[frozenset[str]]
    """The gold translations, as words."""
    pos: list[str] | None
    identical: bool
    candidates: int


def ask(entries: Entries | None, pair: Pair, request: Request) -> Questions:
    """The source words of the pairs that both sides know."""
    pairs = _identical(pair, request) if entries is None else entries.pairs
    found = matched(pairs, pair, str(request.files[0]) if request.files else "identical words")
    source, target = pair.sides(found.flip)
    gold: dict[int, set[int]] = {}
    for one, two in found.rows.tolist():
        gold.setdefault(one, set()).add(two)
    queries = list(gold)  # in the order of the dictionary, so that spaces with other frequencies are asked the same
    words = [source.space.words[row] for row in queries]
    right = [frozenset(target.space.words[row] for row in gold[query]) for query in queries]
    rows = [
        Example(" / ".join(sorted(own)), (word,), word, extra=_part_of_speech(entries, word))
        for word, own in zip(words, right, strict=True)
    ]
    content = _Content(
        found.flip, np.array(queries, np.int64), [frozenset(gold[query]) for query in queries], words, right,
        None if entries is None or entries.pos is None else [entries.pos.get(word, "other") for word in words],
        entries is None, len(target.space),
    )  # fmt: skip
    facts = {**tally(found), "words left out": _left_out(pairs, source, gold)}
    return Questions(rows, content, facts, content_digest(pairs))


def _left_out(pairs: Sequence[WordPair], source: Side, asked: Collection[int]) -> int:
    """How many source words are not asked for; forms that differ in case only are one word if they have one vector, or
    none."""
    words = {word.lower() if (row := source.row(word)) is None else row for word, _ in pairs}
    return len(words.difference(asked))


def _part_of_speech(entries: Entries | None, word: str) -> tuple[tuple[str, str], ...]:
    return (("pos", entries.pos.get(word, "other")),) if entries is not None and entries.pos is not None else ()


def _identical(pair: Pair, request: Request) -> list[WordPair]:
    """Words that both sides have as their own translations, sampled evenly over frequency."""
    if pair.single:
        raise UsageError(
            f"--identical compares two spaces, and {pair.name} is one; expected an alignment or A.vec,B.vec."
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
    drawn = [min(part, key=lambda word: hash_64(f"{request.seed} {word}")) for part in parts]
    return [(word, word) for word in drawn]


def answer(questions: Questions, space: Neighbourhood, scoring: Scoring) -> Answers:
    """The nearest neighbours of every source word."""
    own: _Content = questions.content
    source, target = space.pair.sides(own.flip)
    single = space.pair.single
    near = space.nearest(own.queries, LOOKED + single, scoring, flip=own.flip)
    ranks, first = ranks_of(near.rows, own.gold, own.queries.tolist() if single else None)
    scores = by_band(ranks, own.queries)
    if own.pos is not None:
        scores |= by_group(ranks, own.pos, sorted(set(own.pos)))
    if not own.identical:
        scores |= by_group(ranks, _spelling(own), [DIFFERENT])
    said = np.array([target.space.words[row] for row in first.tolist()])
    cosines = np.einsum("ij,ij->i", source.unit[own.queries], target.unit[first])
    found = graded(
        ranks, scores, frequency=own.queries.astype(np.int32), answer=said, cosine=cosines.astype(np.float32)
    )
    chance = float(np.mean([len(right) for right in own.gold])) / own.candidates
    return Answers(**{**vars(found), "baselines": {"chance": chance}})


def _spelling(own: _Content) -> list[str]:
    return ["alike" if word in right else DIFFERENT for word, right in zip(own.words, own.right, strict=True)]


def copy(questions: Questions) -> Answers | None:
    """Every word is its own translation; None if that is the question."""
    own: _Content = questions.content
    if own.identical:
        return None
    ranks = np.array([0 if word in right else -1 for word, right in zip(own.words, own.right, strict=True)], np.int32)
    # frequencies are of a system, and all systems that are asked the same share this baseline
    return graded(ranks, {}, answer=np.array(own.words))


word_evaluation = WordEvaluation(
    name="translation",
    summary="share of words whose nearest neighbours have one of their translations first, or among 5 and 10",
    task="word_translation",
    metric="precision@1",
    question="Which word is its translation?",
    files=1,
    read=lambda request: None if request.identical else read_entries(request),
    ask=ask,
    answer=answer,
    copy=copy,
    order=10,
)
