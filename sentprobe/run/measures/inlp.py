"""What is left of a task after iterative nullspace projection (INLP; Ravfogel et al. 2020)."""

from __future__ import annotations

from dataclasses import replace

from sentprobe.probes.erased_probes import measure as measure_erased
from sentprobe.probes.nullspace import inlp
from sentprobe.run.fit import Finished
from sentprobe.run.job import FitJob, clusters_of, split_features
from sentprobe.run.measure import MAX_MEASURE_ROWS, SUBSAMPLED, Measure, classifies_sentences, plain_probe, rows_of
from sentprobe.run.scoring import classification_result, saved_predictions
from sentprobe.run.variant import VariantColumn, points
from sentprobe.stats.classification import log2_loss


def compute(job: FitJob) -> list[Finished]:
    """The score after erasing the set's own property, and how many dimensions that removed."""
    splits, (cell,) = job.splits, job.cells
    train, dev, test = split_features(job)
    (l2, _), rows = plain_probe(job, train, dev), rows_of(job, train)
    eraser = inlp(
        train,
        splits.train.labels,
        len(splits.labels),
        dev,
        splits.dev.labels,
        l2=l2,
        clusters=clusters_of(splits.dev),
        rows=rows,
    )
    (logs,) = measure_erased(rows, [eraser], test, l2)
    arrays = saved_predictions(logs, splits.test.labels)
    result = classification_result(cell, splits, arrays["predicted"], splits.test.labels, {})
    scores = {**result.scores, "log2_loss": log2_loss(logs, splits.test.labels), "rank": eraser.rank}
    return [(replace(result, dimension=train.shape[1], scores=scores, chosen={"l2": l2}), arrays, None)]


measure = Measure(
    name="inlp",
    order=80,
    version=2,
    interpretation=(
        "What is left of a task after iterative nullspace projection: the directions in which classes differ are "
        "removed, one after the other, until a linear probe finds nothing on dev; in brackets, how many dimensions "
        "that removed: at most one less than there are classes, over however many dimensions of the vector the "
        "property is spread. 0: the probe found nothing to begin with. "
        f"{SUBSAMPLED}"
    ),
    columns=(
        VariantColumn(("after INLP", "(removed)"), lambda v: points(v)._replace(note=f"({int(v.scores['rank'])})")),
    ),
    applies_to=classifies_sentences,
    compute=compute,
    over_folds="rows",
    max_rows=MAX_MEASURE_ROWS,
)
