"""What is left of a task after iterative nullspace projection (INLP; Ravfogel et al. 2020)."""

from __future__ import annotations

import time
from dataclasses import replace

from sentprobe.data.splits import has_train_test_split
from sentprobe.probes.erased_probes import measure as measured
from sentprobe.probes.nullspace import inlp
from sentprobe.run.measure import MAX_MEASURE_ROWS, SUBSAMPLED, Finished, Measure, plain_probe, rows_of
from sentprobe.run.scoring import classification_result, saved_predictions
from sentprobe.run.unit import Unit, clusters_of, features_of
from sentprobe.run.variant import VariantColumn, points
from sentprobe.stats.classification import log2_loss


def compute(unit: Unit) -> list[Finished]:
    """The score after erasing the set's own property, and how many directions that took."""
    parts, (cell,) = unit.parts, unit.cells
    train, dev, test = (features_of(unit, part) for part in (parts.train, parts.dev, parts.test))
    started = time.perf_counter()
    (l2, _), rows = plain_probe(unit, train, dev), rows_of(unit, train)
    labels, clusters = (parts.train.labels, parts.dev.labels), clusters_of(parts.dev)
    eraser = inlp(train, labels[0], len(parts.labels), dev, labels[1], l2=l2, clusters=clusters, rows=rows)
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
    version=2,
    interpretation=(
        "What is left of a task after iterative nullspace projection: the directions in which classes differ are "
        "removed, one after the other, until a linear probe finds nothing on dev; in brackets, their number. 0: it "
        "found nothing to begin with. With two classes there is one at most. "
        f"{SUBSAMPLED}"
    ),
    columns=(
        VariantColumn(("after INLP", "(directions)"), lambda v: points(v)._replace(note=f"({int(v.scores['rank'])})")),
    ),
    applies_to=lambda parts: has_train_test_split(parts) and not parts.train.inputs,
    compute=compute,
    max_rows=MAX_MEASURE_ROWS,
)
