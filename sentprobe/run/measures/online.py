"""Online description length: the cost in bits of the training labels, block by block (Voita and Titov 2020)."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from sentprobe.core.formatting import NumberFormat
from sentprobe.core.table import CellText
from sentprobe.data.splits import has_train_test_split
from sentprobe.probes.online import Online, online
from sentprobe.results.verify import AUXILIARY_PREFIX, Arrays
from sentprobe.run.fit import Finished
from sentprobe.run.job import FitJob, clusters_of, split_features, statistics_of
from sentprobe.run.measure import Measure, empty_result
from sentprobe.run.variant import VariantColumn, VariantSummary
from sentprobe.stats.description_length import sample_complexity, surplus_description_length

TARGETS = (0.75, 0.5, 0.25)
"""Target losses, as fractions of the entropy of the class distribution."""


def compute(job: FitJob) -> list[Finished]:
    """The description length of the training labels of a set, with loss and accuracy on test after each block."""
    splits, (cell,) = job.splits, job.cells
    train, dev, test = split_features(job)
    started = time.perf_counter()
    code = online(
        train,
        splits.train.labels,
        dev,
        splits.dev.labels,
        len(splits.labels),
        seed=cell.seed,
        test=test,
        test_labels=splits.test.labels,
        clusters=clusters_of(splits.train),
        statistics=statistics_of(job, train),
        device=cell.device,
    )
    assert code.test_bits is not None
    assert code.test_accuracy is not None
    curve = code.test_bits.mean(axis=0)
    scores = _scores(code, curve, len(splits.labels))
    result = replace(
        empty_result(cell, splits),
        dimension=train.shape[1],
        metric="compression",
        score=scores["gain"],
        scores=scores,
        interval=(scores["gain_low"], scores["gain_high"]),
        interval_kind="rows and orders",
        chosen={"l2": code.l2[-1]},
        tried=tuple(
            {"rows": end, "bits": float(bits), "test_bits": float(loss), "test_accuracy": float(right)}
            for end, bits, loss, right in zip(
                code.block_ends, code.bits.mean(axis=0), curve, code.test_accuracy.mean(axis=0), strict=True
            )
        ),
        seconds={"encode": job.encode_seconds, "fit": time.perf_counter() - started},
    )
    arrays: Arrays = {f"{AUXILIARY_PREFIX}bits": code.bits, f"{AUXILIARY_PREFIX}rows": code.rows.astype(np.float32)}
    return [(result, arrays, None)]


def _scores(code: Online, curve: npt.NDArray[np.float64], classes: int) -> dict[str, float]:
    """Description length, compression, and how many rows and bits it takes to reach losses; ``curve``: (blocks,)."""
    uniform = float(np.log2(classes))
    # no code is shorter than its first block, which bounds the interval
    length = replace(code.description, low=max(code.description.low, code.block_ends[0] * uniform))
    scores = {
        "bits": length.bits,
        "bits_low": length.low,
        "bits_high": length.high,
        "uniform_bits": length.uniform,
        "prior_bits": length.prior,
        "orders": length.orders,
        **dict(zip(("compression", "compression_low", "compression_high"), length.compression, strict=True)),
        **dict(zip(("gain", "gain_low", "gain_high"), length.prior_compression, strict=True)),
    }
    entropy = length.prior / length.n
    for share in TARGETS:
        name, target = f"{100 * share:.0f}", share * entropy
        scores[f"surplus_{name}"] = surplus_description_length(code.block_ends, curve, target, first=uniform)
        # 0 if it is never reached
        scores[f"enough_{name}"] = sample_complexity(code.block_ends, curve, target) or 0
    return scores


TIMES = NumberFormat(1, 2)
"""How many times shorter a code is."""


def _compression(v: VariantSummary) -> CellText:
    return CellText(TIMES.number(v.value), TIMES.half_width(v.low, v.high))


def _rows_to_half(v: VariantSummary) -> CellText:
    rows = int(v.scores["enough_50"])
    return CellText(f"{rows:,}" if rows else f"> {v.points[-1]['rows']:,}")


measure = Measure(
    name="online",
    order=10,
    interpretation=(
        "How many times fewer bits it takes to transmit the labels given the vectors than given the class frequencies "
        "alone (minimum description length; 1: the vectors are uninformative). Unlike accuracy, it counts how many "
        "rows it takes to learn."
    ),
    columns=(
        VariantColumn(("compression", "times"), _compression),
        VariantColumn(("rows to half", "of the prior"), _rows_to_half),
    ),
    applies_to=has_train_test_split,
    compute=compute,
    over_folds="mean",
)
