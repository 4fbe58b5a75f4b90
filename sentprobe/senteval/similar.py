"""How similar two sentences are, and how well that agrees with human scores."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from sentprobe.errors import ShapeError, TooFewError
from sentprobe.senteval.batches import Batcher, matrix, place
from sentprobe.senteval.utils import cosine, dotdict

Similarity = Callable[[Any, Any], Any]


def safe_cosine(u: Any, v: Any) -> Any:
    """The cosine of two vectors (d,), in which NaN counts as 0; 0 if one of them is zero."""
    return np.nan_to_num(cosine(np.nan_to_num(u), np.nan_to_num(v)))


def similarity_of(params: dotdict) -> Similarity:
    """The client's own similarity, if there is one."""
    found: Similarity = params.similarity or safe_cosine
    return found


def similarities(
    params: dotdict, batcher: Batcher, similarity: Similarity, one: Sequence[Any], two: Sequence[Any]
) -> list[Any]:
    """The similarity of sentence i of one and sentence i of two, batch by batch, first those of one and then of two.

    A similarity of the client's own is given what the batcher returned, row by row, whatever that is.
    """
    found: list[Any] = []
    for start in range(0, len(one), params.batch_size):
        sides = []
        for sentences in (one, two):
            batch = sentences[start : start + params.batch_size]
            returned = batcher(params, batch)
            if similarity is safe_cosine:
                returned = matrix(params, returned, batch, start)
            elif len(returned) != len(batch):
                raise ShapeError(
                    f"{place(params, start)}: the batcher returned {len(returned)} rows for {len(batch)} sentences; "
                    "expected one per sentence."
                )
            sides.append(returned)
        found += map(similarity, *sides)
    return found


def agreement(pairs: Mapping[str, tuple[Sequence[Any], Sequence[float]]]) -> dict[str, Any]:
    """Correlations of similarities and scores for each set, their means, and the correlation of all rows at once."""
    from scipy.stats import pearsonr, spearmanr

    results: dict[str, Any] = {}
    for name, (found, scores) in pairs.items():
        if len(scores) < 2:
            raise TooFewError(f"{name} has {len(scores)} pairs with a score; a correlation needs two or more.")
        results[name] = {
            "pearson": pearsonr(found, scores),
            "spearman": spearmanr(found, scores),
            "nsamples": len(scores),
        }
    weights = [result["nsamples"] for result in results.values()]
    pooled = [[each for pair in pairs.values() for each in pair[side]] for side in (0, 1)]
    summary = {}
    for kind, correlation in (("pearson", pearsonr), ("spearman", spearmanr)):
        each = np.array([result[kind][0] for result in results.values()])
        summary[kind] = {
            "all": correlation(*pooled)[0],
            "mean": np.average(each),
            "wmean": np.average(each, weights=weights),
        }
    return {**results, "all": summary}
