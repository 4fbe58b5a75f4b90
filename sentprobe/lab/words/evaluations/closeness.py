"""Translation-pair closeness: the mean cosine and the mean distance of words and their translations."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sentprobe.errors import TooFewError
from sentprobe.lab.alignment.retrieval import Scoring
from sentprobe.lab.alignment.space import Rows
from sentprobe.lab.words.dictionaries import Entries, matched, read_entries, tally
from sentprobe.lab.words.evaluation import Answers, Questions, Request, WordEvaluation, content_digest
from sentprobe.lab.words.neighbours import Neighbourhood
from sentprobe.lab.words.pair import Pair
from sentprobe.stats.intervals import cluster_bootstrap
from sentprobe.tasks import Example

TRIED = 1000
"""Pairs that one whose words belong together tries to change with."""


@dataclass(frozen=True, eq=False)
class _Content:
    flip: bool
    rows: Rows
    """(p, 2): words and their translations."""
    shuffled: Rows
    """(p,): translations of other words."""
    different: NDArray[np.bool_]
    """(p,): whether a word and its translation are spelled otherwise."""


def ask(entries: Entries, pair: Pair, request: Request) -> Questions:
    """All pairs that both sides know."""
    found = matched(entries.pairs, pair, request.files[0])
    source, target = pair.sides(found.flip)
    if len(np.unique(found.rows[:, 0])) < 2:
        raise TooFewError(f"{request.files[0]}: {pair.name} knows one word only; expected two or more.")
    rows = [
        Example(target.space.words[two], (source.space.words[one],), source.space.words[one])
        for one, two in found.rows.tolist()
    ]
    different = np.array([example.label != example.text for example in rows])
    content = _Content(found.flip, found.rows, unrelated(found.rows, single=pair.single), different)
    return Questions(rows, content, tally(found), content_digest(entries.pairs))


def unrelated(rows: Rows, *, single: bool) -> Rows:
    """For each of the pairs (p, 2), the second word of another one (p,), always drawn alike.

    No word gets one of its own translations, or itself if both sides are one space (``single``), unless there are no
    others. All second words are used, and as often as in the pairs, unless words would get their translations.
    """
    sources = rows[:, 0].tolist()
    own: dict[int, set[int]] = {}
    for one, two in rows.tolist():
        own.setdefault(one, {one} if single else set()).add(two)
    drawn: list[int] = np.random.default_rng(len(rows)).permutation(rows[:, 1]).tolist()
    others = list(dict.fromkeys(drawn))
    for i, source in enumerate(sources):
        if drawn[i] not in own[source]:
            continue
        for j in range(i - len(drawn), i - len(drawn) + min(len(drawn), TRIED)):
            if drawn[j] not in own[source] and drawn[i] not in own[sources[j]]:
                drawn[i], drawn[j] = drawn[j], drawn[i]
                break
        else:
            drawn[i] = next((other for other in others if other not in own[source]), drawn[i])
    return np.array(drawn, np.int64)


def answer(questions: Questions, space: Neighbourhood, scoring: Scoring) -> Answers:
    """Cosines and distances of the pairs, and cosines of pairs that do not belong together."""
    own: _Content = questions.content
    source, target = space.pair.sides(own.flip)
    one, two = source.unit[own.rows[:, 0]], target.unit[own.rows[:, 1]]
    cosines = _products(one, two)
    apart = source.vectors(own.rows[:, 0]) - target.vectors(own.rows[:, 1])
    distances = np.sqrt(_products(apart, apart))
    return Answers(
        score=float(cosines.mean()),
        interval=cluster_bootstrap(cosines, own.rows[:, 0], seed=0),
        interval_kind="bootstrap",
        scores={
            **({"cosine, spelled otherwise": float(cosines[own.different].mean())} if own.different.any() else {}),
            "l2": float(distances.mean()),
            "l2 of unit vectors": float(np.sqrt(_products(one - two, one - two)).mean()),
        },
        arrays={
            "predicted": cosines.astype(np.float32),
            "truth": np.ones(len(cosines), np.float32),
            "l2": distances.astype(np.float32),
            "frequency": own.rows[:, 0].astype(np.int32),
        },
        baselines={"random pairs": float(_products(one, target.unit[own.shuffled]).mean())},
    )


def _products(one: NDArray[np.float32], two: NDArray[np.float32]) -> NDArray[np.float64]:
    found: NDArray[np.float64] = np.einsum("ij,ij->i", one, two, dtype=np.float64)
    return found


word_evaluation = WordEvaluation(
    name="closeness",
    summary="mean cosine and mean distance of words and their translations",
    task="translation_closeness",
    metric="cosine",
    question="How near is its translation?",
    files=1,
    read=read_entries,
    ask=ask,
    answer=answer,
    retrieves=False,
    order=50,
)
