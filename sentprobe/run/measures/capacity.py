"""How complex a linear probe must be: accuracy as a function of the rank and norm of its weights."""

from __future__ import annotations

import time
from dataclasses import asdict, replace

import numpy as np

from sentprobe.core.table import CellText
from sentprobe.data.splits import has_train_test_split
from sentprobe.probes.capacity import capacity, frontier, hypervolume
from sentprobe.results.verify import AUXILIARY_PREFIX
from sentprobe.run.measure import MAX_MEASURE_ROWS, SUBSAMPLED, Finished, Measure, empty_result, plain_probe
from sentprobe.run.unit import Unit, features_of, statistics_of
from sentprobe.run.variant import VariantColumn

ACCURACY_MARGIN = 0.01
"""Loss of accuracy on dev, compared with full rank, that is tolerated."""


def compute(unit: Unit) -> list[Finished]:
    """Probes of each rank and at several penalties, with the hypervolume of accuracy over rank."""
    parts, (cell,) = unit.parts, unit.cells
    train, dev, test = (features_of(unit, part) for part in (parts.train, parts.dev, parts.test))
    started = time.perf_counter()
    l2, probe = plain_probe(unit, train, dev)
    points = capacity(
        train, parts.train.labels, dev, parts.dev.labels, test, parts.test.labels, len(parts.labels), l2=l2,
        plain=probe, statistics=statistics_of(unit, train), device=cell.device,
    )  # fmt: skip
    ranks = [point for point in points if point.l2 == l2]
    most = ranks[-1]
    floor = float(np.bincount(parts.train.labels).max() / len(parts.train))
    scores = {"accuracy": most.test}
    if len(ranks) > 1:  # otherwise there is nothing between rank 0 and full rank
        scores["volume"] = hypervolume([p.rank for p in ranks], [p.test for p in ranks], most=most.rank, floor=floor)
    front = frontier([point.norm for point in points], [point.test for point in points])
    enough = next(point.rank for point in ranks if point.dev >= most.dev - ACCURACY_MARGIN)
    result = replace(
        empty_result(cell, parts), dimension=train.shape[1], metric="rank", score=float(enough), scores=scores,
        interval=(float(enough), float(enough)), interval_kind="none", chosen={"l2": l2},
        tried=tuple({**asdict(point), "frontier": i in front} for i, point in enumerate(points)),
        seconds={"encode": 0.0, "fit": time.perf_counter() - started},
    )  # fmt: skip
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
    applies_to=lambda parts: has_train_test_split(parts) and not parts.train.inputs,
    compute=compute,
    max_rows=MAX_MEASURE_ROWS,
)
