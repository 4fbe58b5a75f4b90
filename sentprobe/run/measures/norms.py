"""How the norm of the vectors depends on the length of the text (Adi et al. 2017, figure 2b).

Averages of word vectors shrink with the number of words, so that the norm gives the length away.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from sentprobe.core.table import CellText
from sentprobe.data.splits import Splits, has_train_test_split
from sentprobe.run.fit import Finished
from sentprobe.run.job import FitJob
from sentprobe.run.measure import Measure, empty_result
from sentprobe.run.variant import VariantColumn, VariantSummary
from sentprobe.stats.correlation import correlate
from sentprobe.stats.level import standard_errors

MIN_ROWS, MAX_BINS = 10, 24
"""Neighbouring lengths are put together until a bin has this many rows; and no more bins than this."""
NORM_TOLERANCE = 1e-6
"""Norms that differ by less than this fraction of the largest are equal: those of vectors normalised in float32 do."""
DRAWS = 1000
CELLS = 2**20
"""The approximate number of values that are read at a time: sparse vectors may have 200,000 dimensions."""

Floats = npt.NDArray[np.float64]


def compute(job: FitJob) -> list[Finished]:
    """The rank correlation of norm and length over the test texts, and the mean norm by length."""
    splits, (cell,) = job.splits, job.cells
    test = replace(splits.test, inputs={})  # the sentence alone
    features = job.vectors.features(test)
    chunks = (rows for _, rows in features.chunks(max(1, CELLS // features.shape[1])))
    norms = np.concatenate([np.linalg.norm(rows.astype(np.float64), axis=1) for rows in chunks])
    lengths = np.array(_lengths(splits), np.float64)
    step = NORM_TOLERANCE * (norms.max(initial=0.0) or 1.0)
    norms = np.rint(norms / step) * step
    value, low, high = 0.0, 0.0, 0.0  # nothing varies: the norm says nothing about the length
    if np.ptp(norms) > 0 and np.ptp(lengths) > 0 and len(norms) > 2:
        correlation = correlate(lengths, norms, seed=cell.seed, draws=DRAWS)
        value, low, high = correlation.value, correlation.low, correlation.high
    result = replace(
        empty_result(cell, splits),
        dimension=features.shape[1],
        metric="spearman",
        score=value,
        interval=(low, high),
        interval_kind="bootstrap",
        scores={"mean_norm": float(norms.mean())},
        tried=tuple(by_length(lengths, norms)),
    )
    return [(result, {"norm": norms.astype(np.float32), "length": lengths.astype(np.int32)}, None)]


def by_length(lengths: Floats, norms: Floats) -> Iterator[dict[str, float | int]]:
    """The mean norm with its interval, by bins of neighbouring lengths."""
    min_rows = max(MIN_ROWS, -(-len(lengths) // MAX_BINS))
    sizes, counts = np.unique(lengths, return_counts=True)
    first, rows = 0, 0
    for i, count in enumerate(counts.tolist()):
        rows += count
        remaining = int(counts[i + 1 :].sum())
        if (rows >= min_rows and remaining >= min_rows) or not remaining:
            in_bin = (lengths >= sizes[first]) & (lengths <= sizes[i])
            values, mean = norms[in_bin], float(norms[in_bin].mean())
            half = standard_errors() * float(values.std(ddof=1)) / len(values) ** 0.5 if len(values) > 1 else 0.0
            yield {
                "from": int(sizes[first]),
                "to": int(sizes[i]),
                "n": rows,
                "length": float(lengths[in_bin].mean()),
                "norm": mean,
                "low": mean - half,
                "high": mean + half,
            }
            first, rows = i + 1, 0


def _lengths(splits: Splits) -> Sequence[int]:
    sizes = splits.test.lengths
    return sizes if len(sizes) == len(splits.test) else [len(text.split()) for text in splits.test.texts]


def _rho(v: VariantSummary) -> CellText:
    half = "" if v.low is None or v.high is None else f"±{(v.high - v.low) / 2:.2f}"
    return CellText(f"{v.value:+.2f}", half)


measure = Measure(
    name="norms",
    order=85,
    interpretation=(
        "Spearman's correlation of the norm of a vector with the number of words, over the test texts: the farther "
        "from 0, the more the norm gives the length away. Averages of word vectors shrink with length."
    ),
    columns=(VariantColumn(("norm and", "length"), _rho),),
    applies_to=has_train_test_split,
    compute=compute,
    over_folds="pooled",
)
