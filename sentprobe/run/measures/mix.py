"""Where in an encoder a property is: a scalar mix of its layers, trained with the probe (Tenney et al. 2019)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sentprobe.core.table import CellText
from sentprobe.data.splits import has_train_test_split
from sentprobe.probes.mix import expected_layer, fit
from sentprobe.run.fit import Finished
from sentprobe.run.job import FitJob, features_of
from sentprobe.run.measure import MAX_MEASURE_ROWS, SUBSAMPLED, Measure
from sentprobe.run.scoring import classification_result, saved_predictions
from sentprobe.run.variant import VariantColumn, VariantSummary
from sentprobe.stats.classification import accuracy, log2_loss

MIX_PENALTIES = (1e-1, 1e-2, 1e-3)
"""L2 penalties to choose from on dev."""


def compute(job: FitJob) -> list[Finished]:
    """The mix of all layers, and the scores of cumulative mixes from the lowest layer, for the expected layer."""
    plain, splits, (cell,) = job.plain, job.splits, job.cells
    assert plain is not None
    classes = len(splits.labels)
    train, dev, test = (
        [features_of(replace(job, vectors=vectors), split) for vectors in plain.layers.values()]
        for split in (splits.train, splits.dev, splits.test)
    )
    mixes = [fit(train, splits.train.labels, classes, l2=l2) for l2 in MIX_PENALTIES]
    dev_scores = [accuracy(mix.scores(dev).argmax(axis=1), splits.dev.labels) for mix in mixes]
    best = int(np.argmax(dev_scores))
    mix, l2 = mixes[best], MIX_PENALTIES[best]
    cumulative = []
    for last in range(1, len(train) + 1):
        partial_mix = mix if last == len(train) else fit(train[:last], splits.train.labels, classes, l2=l2)
        cumulative.append(accuracy(partial_mix.scores(test[:last]).argmax(axis=1), splits.test.labels))
    logs = mix.scores(test)
    arrays = saved_predictions(logs, splits.test.labels)
    result = classification_result(cell, splits, arrays["predicted"], splits.test.labels, {})
    expected = expected_layer(cumulative)
    scores = {**result.scores, "log2_loss": log2_loss(logs, splits.test.labels), "centre": mix.centre}
    if np.isfinite(expected):  # otherwise no layer gains over the lowest one
        scores["expected_layer"] = expected
    result = replace(
        result,
        dimension=train[0].shape[1],
        scores=scores,
        dev_score=dev_scores[best],
        chosen={"l2": l2},
        tried=tuple(
            {"layer": name, "weight": float(weight), "up_to": score}
            for name, weight, score in zip(plain.layers, mix.weights, cumulative, strict=True)
        ),
    )
    return [(result, arrays, None)]


def _expected(v: VariantSummary) -> CellText | None:
    return CellText(f"{v.scores['expected_layer']:.1f}") if "expected_layer" in v.scores else None


measure = Measure(
    name="mix",
    order=90,
    interpretation=(
        "Which layers a probe reads a property from if it may mix them: the centre of gravity of the weights, and the "
        "expected layer at which the score is reached. "
        f"{SUBSAMPLED}"
    ),
    columns=(
        VariantColumn(("centre", "of layers"), lambda v: CellText(f"{v.scores['centre']:.1f}")),
        VariantColumn(("expected", "layer"), _expected),
    ),
    applies_to=has_train_test_split,
    compute=compute,
    max_rows=MAX_MEASURE_ROWS,
    all_layers=True,
)
