"""Precision at k: a query is right if any gold answer is among the k nearest candidates."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from sentprobe.lab.alignment.space import Rows
from sentprobe.lab.words.evaluation import EvaluationScores
from sentprobe.stats.intervals import wilson

K = (1, 5, 10)
LOOKED = max(K)
"""Candidates of each query that are looked at."""
BANDS = (1000, 5000, 10_000, 50_000)
"""Where bands of frequency end: ranks of words in their space, from 1."""

Ranks = NDArray[np.int32]


def ranks_of(
    candidates: Rows, gold: Sequence[Collection[int]], query_rows: Sequence[int] | None = None
) -> tuple[Ranks, Rows]:
    """The rank (n,), from 0, of the first gold answer among candidates (n, k), -1 if there is none; and the first
    candidates (n,).

    ``query_rows`` are given if queries are candidates themselves: they do not count unless they are gold.
    """
    ranks, first = np.full(len(candidates), -1, np.int32), np.empty(len(candidates), np.int64)
    for i, (candidate_rows, gold_rows) in enumerate(zip(candidates.tolist(), gold, strict=True)):
        eligible = candidate_rows
        if query_rows is not None:
            eligible = [row for row in candidate_rows if row != query_rows[i] or row in gold_rows]
        first[i] = eligible[0]
        ranks[i] = next((at for at, row in enumerate(eligible[:LOOKED]) if row in gold_rows), -1)
    return ranks, first


def precision_at(ranks: Ranks, k: int) -> float:
    """The share of queries with a gold answer among the first k."""
    return float(((ranks >= 0) & (ranks < k)).mean())


def precision_scores(
    ranks: Ranks, scores: Mapping[str, float], baselines: Mapping[str, float] = {}, **arrays: NDArray[np.generic]
) -> EvaluationScores:
    """Precision at k by the ranks of the first gold answers (n,); ``arrays`` are saved by row, besides the ranks."""
    is_right = ranks == 0
    return EvaluationScores(
        score=float(is_right.mean()),
        interval=wilson(float(is_right.sum()), len(is_right)),
        interval_kind="wilson",
        scores={**{f"precision@{k}": precision_at(ranks, k) for k in K[1:]}, **scores},
        baselines=baselines,
        arrays={
            "predicted": is_right.astype(np.int32),
            "truth": np.ones(len(is_right), np.int32),
            "rank": ranks,
            **arrays,
        },
    )


def by_band(ranks: Ranks, frequency: Rows) -> dict[str, float]:
    """Precision at 1, and how many words, of each band of frequency: rows of the source words (n,)."""
    ends = np.searchsorted(np.array(BANDS), frequency, side="right")
    names = [f"{low + 1}-{high}" for low, high in zip((0, *BANDS[:-1]), BANDS, strict=True)] + [f"{BANDS[-1] + 1}-"]
    return by_group(ranks, [f"rank {names[end]}" for end in ends.tolist()], [f"rank {name}" for name in names])


def by_group(ranks: Ranks, groups: Sequence[str], order: Sequence[str]) -> dict[str, float]:
    """Precision at 1, and how many words, of each group, which each query (n,) names; empty groups are left out."""
    scores: dict[str, float] = {}
    group_names = np.array(groups)
    for name in order:
        if (inside := group_names == name).any():
            scores[f"precision@1 {name}"] = precision_at(ranks[inside], 1)
            scores[f"words {name}"] = int(inside.sum())
    return scores
