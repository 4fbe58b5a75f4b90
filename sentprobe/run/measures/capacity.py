"""How complex a linear probe must be: accuracy as a function of the rank and norm of its weights."""

from __future__ import annotations

from dataclasses import asdict, replace

import numpy as np

from sentprobe.core.table import CellText
from sentprobe.probes.capacity import capacity, frontier, hypervolume
from sentprobe.results.verify import AUXILIARY_PREFIX
from sentprobe.run.fit import Finished
from sentprobe.run.job import FitJob, split_features, statistics_of
from sentprobe.run.measure import MAX_MEASURE_ROWS, SUBSAMPLED, Measure, classifies_sentences, empty_result, plain_probe
from sentprobe.run.variant import VariantColumn

ACCURACY_MARGIN = 0.01
"""Loss of accuracy on dev, compared with full rank, that is tolerated."""


def compute(job: FitJob) -> list[Finished]:
    """Probes of each rank and at several penalties, with the hypervolume of accuracy over rank."""
    splits, (cell,) = job.splits, job.cells
    train, dev, test = split_features(job)
    l2, probe = plain_probe(job, train, dev)
    points = capacity(
        train,
        splits.train.labels,
        dev,
        splits.dev.labels,
        test,
        splits.test.labels,
        len(splits.labels),
        l2=l2,
        plain=probe,
        statistics=statistics_of(job, train),
        device=cell.device,
    )
    ranks = [point for point in points if point.l2 == l2]
    full = ranks[-1]
    floor = float(np.bincount(splits.train.labels).max() / len(splits.train))
    scores = {"accuracy": full.test}
    if len(ranks) > 1:  # otherwise there is nothing between rank 0 and full rank
        scores["volume"] = hypervolume([p.rank for p in ranks], [p.test for p in ranks], most=full.rank, floor=floor)
    front = frontier([point.norm for point in points], [point.test for point in points])
    sufficient = next(point.rank for point in ranks if point.dev >= full.dev - ACCURACY_MARGIN)
    result = replace(
        empty_result(cell, splits),
        dimension=train.shape[1],
        metric="rank",
        score=float(sufficient),
        scores=scores,
        interval=(float(sufficient), float(sufficient)),
        interval_kind="none",
        chosen={"l2": l2},
        tried=tuple({**asdict(point), "frontier": i in front} for i, point in enumerate(points)),
    )
    return [(result, {f"{AUXILIARY_PREFIX}ranks": np.array([point.rank for point in points])}, None)]


measure = Measure(
    name="capacity",
    order=50,
    interpretation=(
        "The lowest rank of a linear probe's weights that is within a point of full rank on dev, of 1, 2, 4 and so "
        "on: how many directions a property takes. With two classes there is one. "
        f"{SUBSAMPLED}"
    ),
    columns=(VariantColumn(("sufficient", "rank"), lambda v: CellText(str(int(v.value)))),),
    applies_to=classifies_sentences,
    compute=compute,
    max_rows=MAX_MEASURE_ROWS,
)
