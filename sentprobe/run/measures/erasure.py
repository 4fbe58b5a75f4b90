"""What a task loses when another property is erased from the vectors (LEACE; Belrose et al. 2023).

There is a cell for every erased property. The eraser is fitted on the training vectors of that property's own set and
applied to all vectors of this one; the probe is retrained at the penalty of the plain one. Its score is compared with
that after erasing as many random directions, and, for the set's own property, with the class injected again.
"""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np

from sentprobe.core.formatting import POINTS
from sentprobe.data.splits import Splits, has_train_test_split
from sentprobe.probes.erase import Eraser, leace, random_directions
from sentprobe.probes.erased_probes import measure as measure_erased
from sentprobe.probes.erased_probes import measure_reinjected
from sentprobe.run.fit import Finished
from sentprobe.run.job import FitJob, features_of, shared, split_features
from sentprobe.run.measure import MAX_MEASURE_ROWS, SUBSAMPLED, Measure, moments_of, plain_probe, rows_of
from sentprobe.run.scoring import classification_result, saved_predictions
from sentprobe.run.variant import ERASED, ERASED_ROWS, VariantColumn, points
from sentprobe.stats.classification import accuracy, log2_loss

RANDOM_DRAWS = 3
"""How often random directions are drawn."""
ERASED_TOLERANCE = 1e-6
"""Convergence tolerance, as in ``convex``, for properties of other sets: one or two rows of a thousand may differ,
which are borderline anyway. For the set's own property nothing should be left, and that is computed exactly: the
optimiser starts, and should end, at zero weights."""


def compute(job: FitJob) -> list[Finished]:
    """The score of the set after the erasure of each property."""
    plain = job.plain
    assert plain is not None
    splits = job.splits
    train, dev, test = split_features(job)
    started = time.perf_counter()
    l2, probe = plain_probe(job, train, dev)
    moments, rows = moments_of(job, train), rows_of(job, train)
    by_variant = {f"{ERASED}{other.name}#{other.digest}": other for other in plain.erased_sets}
    erasers = {str(cell.variant): _eraser(job, by_variant[str(cell.variant)]) for cell in job.cells}
    most = len(moments.whitening[0])  # there are no more directions
    ranks = sorted({min(most, eraser.rank) for eraser in erasers.values()})
    drawn = [
        random_directions(train.shape[1], rank, job.cells[0].seed + i, moments)
        for rank in ranks
        for i in range(RANDOM_DRAWS)
    ]
    others = [name for name in erasers if not _is(by_variant[name], splits)]
    logs = list(
        measure_erased(rows, [*(erasers[name] for name in others), *drawn], test, l2, probe, tolerance=ERASED_TOLERANCE)
    )
    right = [accuracy(each.argmax(axis=1), splits.test.labels) for each in logs[len(others) :]]
    by_rank = {rank: right[i * RANDOM_DRAWS : (i + 1) * RANDOM_DRAWS] for i, rank in enumerate(ranks)}
    by_name = dict(zip(others, logs, strict=False))
    own = {name: eraser for name, eraser in erasers.items() if name not in by_name}
    by_name |= dict(zip(own, measure_erased(rows, list(own.values()), test, l2), strict=True))
    seconds = (time.perf_counter() - started) / len(job.cells)
    found: list[Finished] = []
    for cell in job.cells:
        eraser, log = erasers[str(cell.variant)], by_name[str(cell.variant)]
        arrays = saved_predictions(log, splits.test.labels)
        result = classification_result(cell, splits, arrays["predicted"], splits.test.labels, {})
        more = {
            "log2_loss": log2_loss(log, splits.test.labels),
            "rank": eraser.rank,
            ERASED_ROWS: len(by_variant[str(cell.variant)].train),
            "random": float(np.mean(by_rank[min(most, eraser.rank)])),
            "random_low": min(by_rank[min(most, eraser.rank)]),
        }
        if _is(by_variant[str(cell.variant)], splits):
            reinjected = measure_reinjected(rows, eraser, test, splits.test.labels, l2)
            more["reinjected"] = accuracy(reinjected.argmax(axis=1), splits.test.labels)
        arrays.pop("probabilities", None)
        result = replace(
            result,
            dimension=train.shape[1],
            scores={**result.scores, **more},
            chosen={"l2": l2},
            seconds={"encode": 0.0, "fit": seconds},
        )
        found.append((result, arrays, None))
    return found


def _eraser(job: FitJob, other: Splits) -> Eraser:
    """The eraser of the property of a set, fitted on its vectors once for all sets."""
    job = replace(job, splits=other)
    features = features_of(job, other.train)

    def make() -> Eraser:
        return leace(features, other.train.labels, len(other.labels), moments_of(job, features))

    size = 16 * features.shape[1] * len(other.labels)
    return shared(job, "eraser", size, make)


def _is(one: Splits, two: Splits) -> bool:
    return (one.name, one.digest) == (two.name, two.digest)


def _applies_to(splits: Splits) -> bool:
    """Sentence-level properties only: pairs and word inputs have other vectors."""
    return has_train_test_split(splits) and not splits.train.inputs


measure = Measure(
    name="erasure",
    order=70,
    interpretation=(
        "What is left of a task when a property is erased from the vectors so that no linear probe finds it; in "
        "brackets, what is left after erasing as many random directions. The two properties share what is lost beyond "
        "that. "
        f"{SUBSAMPLED}"
    ),
    columns=(VariantColumn(("{name}",), lambda v: points(v)._replace(note=f"({POINTS.number(v.scores['random'])})")),),
    applies_to=_applies_to,
    compute=compute,
    max_rows=MAX_MEASURE_ROWS,
    erases=True,
)
