"""What a task loses when another property is erased from the vectors (LEACE; Belrose et al. 2023).

There is a cell for every erased property. The eraser is fitted on the training vectors of that property's own set and
applied to all vectors of this one; the probe is retrained at the penalty of the plain one. Its score is compared with
that after erasing as many random directions, and, for the set's own property, with the class injected again.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

import numpy as np

from sentprobe.core.formatting import POINTS
from sentprobe.data.splits import Splits
from sentprobe.probes.erase import Eraser, leace, random_directions
from sentprobe.probes.erased_probes import measure as measure_erased
from sentprobe.probes.erased_probes import measure_reinjected
from sentprobe.run.fit import Finished
from sentprobe.run.job import FitJob, features_of, shared, split_features
from sentprobe.run.measure import (
    MAX_MEASURE_ROWS,
    SUBSAMPLED,
    Measure,
    classifies_sentences,
    moments_of,
    plain_probe,
    rows_of,
)
from sentprobe.run.scoring import LogProbs, classification_result, saved_predictions
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
    plain, splits, labels = job.plain, job.splits, job.splits.test.labels
    assert plain is not None
    train, dev, test = split_features(job)
    l2, _ = plain_probe(job, train, dev)
    rows = rows_of(job, train)
    erased_sets = {f"{ERASED}{erased.name}#{erased.digest}": erased for erased in plain.erased_sets}
    erasers = {str(cell.variant): _eraser(job, erased_sets[str(cell.variant)]) for cell in job.cells}
    of_own_property = {name for name in erasers if _same_set(erased_sets[name], splits)}
    logs, random_accuracies = _probe_erased(job, erasers, of_own_property)
    finished: list[Finished] = []
    for cell in job.cells:
        name = str(cell.variant)
        eraser = erasers[name]
        arrays = saved_predictions(logs[name], labels)
        result = classification_result(cell, splits, arrays["predicted"], labels, {})
        scores = {
            **result.scores,
            "log2_loss": log2_loss(logs[name], labels),
            "rank": eraser.rank,
            ERASED_ROWS: len(erased_sets[name].train),
            "random": float(np.mean(random_accuracies[name])),
            "random_low": min(random_accuracies[name]),
        }
        if name in of_own_property:
            reinjected = measure_reinjected(rows, eraser, test, labels, l2)
            scores["reinjected"] = accuracy(reinjected.argmax(axis=1), labels)
        arrays.pop("probabilities", None)
        result = replace(result, dimension=train.shape[1], scores=scores, chosen={"l2": l2})
        finished.append((result, arrays, None))
    return finished


def _probe_erased(
    job: FitJob, erasers: Mapping[str, Eraser], of_own_property: Collection[str]
) -> tuple[dict[str, LogProbs], dict[str, list[float]]]:
    """Log-probabilities (test rows, classes) after each erasure, and accuracies after as many random directions.

    ``of_own_property`` are the erasers of the set's own property.
    """
    train, dev, test = split_features(job)
    l2, probe = plain_probe(job, train, dev)
    moments, rows = moments_of(job, train), rows_of(job, train)
    max_rank = len(moments.whitening[0])  # there are no more directions
    ranks = sorted({min(max_rank, eraser.rank) for eraser in erasers.values()})
    random_erasers = [
        random_directions(train.shape[1], rank, job.cells[0].seed + i, moments)
        for rank in ranks
        for i in range(RANDOM_DRAWS)
    ]
    foreign = {name: eraser for name, eraser in erasers.items() if name not in of_own_property}
    measured = list(
        measure_erased(rows, [*foreign.values(), *random_erasers], test, l2, probe, tolerance=ERASED_TOLERANCE)
    )
    logs = dict(zip(foreign, measured, strict=False))
    exact = [erasers[name] for name in erasers if name in of_own_property]
    logs |= dict(
        zip([name for name in erasers if name in of_own_property], measure_erased(rows, exact, test, l2), strict=True)
    )
    right = [accuracy(log.argmax(axis=1), job.splits.test.labels) for log in measured[len(foreign) :]]
    by_rank = {rank: right[i * RANDOM_DRAWS : (i + 1) * RANDOM_DRAWS] for i, rank in enumerate(ranks)}
    return logs, {name: by_rank[min(max_rank, eraser.rank)] for name, eraser in erasers.items()}


def _eraser(job: FitJob, erased: Splits) -> Eraser:
    """The eraser of the property of a set, fitted on its vectors once for all sets."""
    job = replace(job, splits=erased)
    features = features_of(job, erased.train)

    def make() -> Eraser:
        return leace(features, erased.train.labels, len(erased.labels), moments_of(job, features))

    size = 16 * features.shape[1] * len(erased.labels)
    return shared(job, "eraser", size, make)


def _same_set(a: Splits, b: Splits) -> bool:
    return (a.name, a.digest) == (b.name, b.digest)


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
    applies_to=classifies_sentences,
    compute=compute,
    over_folds="rows",
    max_rows=MAX_MEASURE_ROWS,
    erases=True,
)
