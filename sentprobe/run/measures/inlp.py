"""What is left of a task after iterative nullspace projection (INLP; Ravfogel et al. 2020)."""

from __future__ import annotations

import time
from dataclasses import replace

from sentprobe.data.splits import has_train_test_split
from sentprobe.probes.erased_probes import measure as measured
from sentprobe.probes.nullspace import inlp
from sentprobe.run.fit import Finished
from sentprobe.run.job import FitJob, clusters_of, split_features
from sentprobe.run.measure import MAX_MEASURE_ROWS, SUBSAMPLED, Measure, plain_probe, rows_of
from sentprobe.run.scoring import classification_result, saved_predictions
from sentprobe.run.variant import VariantColumn, points
from sentprobe.stats.classification import log2_loss


def compute(job: FitJob) -> list[Finished]:
    """The score after erasing the set's own property, and how many directions that took."""
    splits, (cell,) = job.splits, job.cells
    train, dev, test = split_features(job)
    started = time.perf_counter()
    (l2, _), rows = plain_probe(job, train, dev), rows_of(job, train)
    labels, clusters = (splits.train.labels, splits.dev.labels), clusters_of(splits.dev)
    eraser = inlp(train, labels[0], len(splits.labels), dev, labels[1], l2=l2, clusters=clusters, rows=rows)
    (logs,) = measured(rows, [eraser], test, l2)
    arrays = saved_predictions(logs, splits.test.labels)
    result = classification_result(cell, splits, arrays["predicted"], splits.test.labels, {})
    more = {"log2_loss": log2_loss(logs, splits.test.labels), "rank": eraser.rank}
    result = replace(
        result,
        dimension=train.shape[1],
        scores={**result.scores, **more},
        chosen={"l2": l2},
        seconds={"encode": 0.0, "fit": time.perf_counter() - started},
    )
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
    applies_to=lambda splits: has_train_test_split(splits) and not splits.train.inputs,
    compute=compute,
    max_rows=MAX_MEASURE_ROWS,
)
