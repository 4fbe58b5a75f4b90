"""What is left of a task after iterative nullspace projection (INLP; Ravfogel et al. 2020)."""

from __future__ import annotations

import time
from dataclasses import replace

from sentprobe.probes.nullspace import inlp
from sentprobe.probes.warm_start import measure as measured
from sentprobe.run.measure import MAX_MEASURE_ROWS, SUBSAMPLED, Finished, Measure, plain_probe, rows_of
from sentprobe.run.parts import has_train_test_split
from sentprobe.run.scoring import classification_result, saved_predictions
from sentprobe.run.unit import Unit, features_of
from sentprobe.run.variant import VariantColumn, points
from sentprobe.stats.classification import log2_loss


def compute(unit: Unit) -> list[Finished]:
    """The score after erasing the set's own property, and how many directions that took."""
    parts, (cell,) = unit.parts, unit.cells
    train, dev, test = (features_of(unit, part) for part in (parts.train, parts.dev, parts.test))
    started = time.perf_counter()
    (l2, _), rows = plain_probe(unit, train, dev), rows_of(unit, train)
    eraser = inlp(rows, dev, parts.dev.labels, l2=l2)
    (logs,) = measured(rows, [eraser], test, l2)
    arrays = saved_predictions(logs, parts.test.labels)
    result = classification_result(cell, parts, arrays["predicted"], parts.test.labels, {})
    more = {"log2_loss": log2_loss(logs, parts.test.labels), "rank": eraser.rank}
    result = replace(
        result, dimension=train.shape[1], scores={**result.scores, **more}, chosen={"l2": l2},
        seconds={"encode": 0.0, "fit": time.perf_counter() - started},
    )  # fmt: skip
    return [(result, arrays, None)]


measure = Measure(
    name="inlp",
    order=80,
    interpretation=(
        "What is left of a task after iterative nullspace projection: the directions that linear probes use are "
        "removed, one probe after the other; in brackets, their number. It should end where the set's own erasure "
        "does. "
        f"{SUBSAMPLED}"
    ),
    columns=(
        VariantColumn(("after INLP", "(directions)"), lambda v: points(v)._replace(note=f"({int(v.scores['rank'])})")),
    ),
    applies_to=lambda parts: has_train_test_split(parts) and not parts.train.inputs,
    compute=compute,
    max_rows=MAX_MEASURE_ROWS,
)
