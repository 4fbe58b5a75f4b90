"""Precision at k: a query is right if any gold answer is among the k nearest candidates."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from sentprobe.lab.alignment.space import Rows
from sentprobe.lab.words.evaluation import Answers
from sentprobe.stats.intervals import wilson

K = (1, 5, 10)
LOOKED = max(K)
"""Candidates of each query that are looked at."""
BANDS = (1000, 5000, 10_000, 50_000)
"""Where bands of frequency end: ranks of words in their space, from 1."""

Ranks = NDArray[np.int32]


def ranks_of(found: Rows, gold: Sequence[Collection[int]], own: Sequence[int] | None = None) -> tuple[Ranks, Rows]:
    """The place (n,), from 0, of the first gold answer among candidates (n, k), -1 if there is none; and the first
    candidates (n,).

    ``own`` are the rows of the queries if they are candidates themselves: they do not count unless they are gold.
    """
    ranks, first = np.full(len(found), -1, np.int32), np.empty(len(found), np.int64)
    for i, (row, right) in enumerate(zip(found.tolist(), gold, strict=True)):
        left = row if own is None else [c for c in row if c != own[i] or c in right]
        first[i] = left[0]
        ranks[i] = next((at for at, candidate in enumerate(left[:LOOKED]) if candidate in right), -1)
    return ranks, first


def precision_at(ranks: Ranks, k: int) -> float:
    """The share of queries with a gold answer among the first k."""
    return float(((ranks >= 0) & (ranks < k)).mean())


def graded(ranks: Ranks, scores: Mapping[str, float], **more: NDArray[np.generic]) -> Answers:
    """Answers by the places of the first gold answers (n,); ``more`` are further arrays to save."""
    right = ranks == 0
    return Answers(
        score=float(right.mean()),
        interval=wilson(float(right.sum()), len(right)),
        interval_kind="wilson",
        scores={**{f"precision@{k}": precision_at(ranks, k) for k in K[1:]}, **scores},
        arrays={"predicted": right.astype(np.int32), "truth": np.ones(len(right), np.int32), "rank": ranks, **more},
    )


def by_band(ranks: Ranks, frequency: Rows) -> dict[str, float]:
    """Precision at 1, and how many words, of each band of frequency: rows of the source words (n,)."""
    ends = np.searchsorted(np.array(BANDS), frequency, side="right")
    names = [f"{low + 1}-{high}" for low, high in zip((0, *BANDS[:-1]), BANDS, strict=True)] + [f"{BANDS[-1] + 1}-"]
    return by_group(ranks, [f"rank {names[end]}" for end in ends.tolist()], [f"rank {name}" for name in names])


def by_group(ranks: Ranks, groups: Sequence[str], order: Sequence[str]) -> dict[str, float]:
    """Precision at 1, and how many words, of each group, which each query (n,) names; empty groups are left out."""
    found: dict[str, float] = {}
    own = np.array(groups)
    for name in order:
        if (inside := own == name).any():
            found[f"precision@1 {name}"] = precision_at(ranks[inside], 1)
            found[f"words {name}"] = int(inside.sum())
    return found
