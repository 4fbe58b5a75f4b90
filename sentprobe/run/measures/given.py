"""What an encoder knows beyond another one: conditional usable information (Hewitt et al. 2021), in bits.

``sentprobe.probes.added`` explains how it is measured: an encoder whose vectors are a function of what is given adds
nothing. ``given:`` may be followed by any encoder. ``length`` and ``words`` are baselines: the number of tokens, and
the bag of words, with their number.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from sentprobe.data.splits import Split, Splits
from sentprobe.probes import Features
from sentprobe.probes.added import Labels, ProbedBaseline, SplitFeatures, add_vectors, probe_baseline
from sentprobe.run.fit import Finished
from sentprobe.run.job import FitJob, Vectors, clusters_of, split_features
from sentprobe.run.measure import Measure, classifies_sentences
from sentprobe.run.resample import assign_groups
from sentprobe.run.scoring import classification_result, log2_of_true, saved_predictions
from sentprobe.run.variant import GIVEN, Explanation, VariantColumn, adds_bits, adds_nothing, bits
from sentprobe.stats.information import conditional
from sentprobe.stats.means import ScoredRows

FOLDS, FEW_FOLDS, MANY_CLASSES = 5, 2, 100
"""The training rows are divided into so many folds, for probes of the baseline that were trained without the row; with
more classes than the third into fewer, as a probe then takes minutes."""
BAG_OF_WORDS = "baseline:hash?dim=1048576"
"""Of 10,000 words, one in a hundred shares its dimension with another. Dimensions that no training row uses are left
out."""

BYTES_PER_BAG = 200
"""The approximate size of the bag of words of a sentence; of other vectors, only references are kept."""


def compute(job: FitJob) -> list[Finished]:
    """The bits per test row that the encoder adds."""
    splits, (cell,) = job.splits, job.cells
    vectors = SplitFeatures(*split_features(job))
    labels = Labels(splits.train.labels, splits.dev.labels, len(splits.labels))
    baseline = _baseline(job, labels)
    joint, truth = add_vectors(baseline, vectors, labels, cell.device), splits.test.labels
    without, with_vectors = (logs.astype(np.float32) for logs in joint.log_probabilities())
    influence = joint.influence(truth)
    fitted = ScoredRows.of(len(influence), _dev_clusters(splits)).mean(influence) if len(influence) > 1 else None
    added = conditional(
        log2_of_true(with_vectors, truth),
        log2_of_true(without, truth),
        truth,
        clusters=clusters_of(splits.test),
        fitted=fitted,
    )
    arrays = saved_predictions(with_vectors, truth)
    result = classification_result(cell, splits, arrays["predicted"], truth, {})
    result = replace(
        result,
        dimension=vectors.train.shape[1] + baseline.vectors.train.shape[1],
        metric="bits",
        score=added.bits,
        interval=(added.low, added.high),
        interval_kind="rows and dev",
        scores={
            "accuracy": result.score,
            "accuracy_without": float((without.argmax(axis=1) == truth).mean()),
            "entropy": added.entropy,
            "imitated": joint.imitated,
        },
        cluster_interval=None,
        chosen={"l2": baseline.l2[0], "l2_added": joint.l2},
    )
    return [(result, {"pointwise": added.pointwise.astype(np.float32)}, None)]


def _baseline(job: FitJob, labels: Labels) -> ProbedBaseline:
    """The probe of what is given, fitted once for all layers of the encoder."""
    splits, plain = job.splits, job.plain
    assert plain is not None

    def make() -> ProbedBaseline:
        views = [_view(job, vectors) for vectors in plain.given_vectors]
        return probe_baseline(views, labels, _folds(splits.train), job.cells[0].device)

    rows = len(splits.train) + len(splits.dev) + len(splits.test)
    size = rows * (8 * len(splits.labels) + BYTES_PER_BAG)
    return plain.shared.get(
        ("given", splits.variant, splits.name, splits.digest, splits.nth_fold, len(splits.train)), size, make
    )


def _view(job: FitJob, vectors: Vectors) -> SplitFeatures:
    """Vectors of what is given; of sparse ones the dimensions that the training rows use, as others have no weight."""
    features = SplitFeatures(*split_features(replace(job, vectors=vectors)))
    if not features.train.sparse:
        return features
    train_dev_test = [split.take_sparse() for split in features]
    used = np.unique(train_dev_test[0].indices)
    return SplitFeatures(*(Features.of(rows[:, used]) for rows in train_dev_test)) if len(used) else features


def _folds(train: Split) -> npt.NDArray[np.int64]:
    """The fold of each training row (n,): whole target forms together, if there are enough of them."""
    folds = FOLDS if train.labels.max(initial=0) < MANY_CLASSES else FEW_FOLDS
    groups, fold = assign_groups(train, 1, folds), np.empty(len(train), np.int64)
    if isinstance(groups, str):  # too few forms, or a class with a single one: rows of each class in turn
        fold[np.argsort(train.labels, kind="stable")] = np.arange(len(train)) % folds
    else:
        fold[:] = groups[0]
    return fold


def _dev_clusters(splits: Splits) -> list[str] | None:
    """The clusters of the dev rows whose label is in train, if there are at least two."""
    clusters = clusters_of(splits.dev)
    labelled = [] if clusters is None else [clusters[i] for i in np.flatnonzero(splits.dev.labels >= 0).tolist()]
    return labelled if len(set(labelled)) > 1 else None


def conditional_on(encoder: str) -> Measure:
    """The measure of what an encoder adds to another one, given by name."""
    return _measure(encoder, encoder, f"those of {encoder}")


def _measure(
    name: str, encoder: str | tuple[str, ...], what: str, order: int = 1000, explanation: Explanation | None = None
) -> Measure:
    return Measure(
        name=f"{GIVEN}{name}",
        order=order,
        version=2,
        interpretation=f"Bits about the label that the vectors add to {what}; if not above 0, they add nothing.",
        columns=(VariantColumn(("adds to", name, "bits"), bits),),
        applies_to=classifies_sentences,
        compute=compute,
        over_folds="rows",
        given=encoder,
        objection=adds_nothing(explanation, what) if explanation else None,
        support=adds_bits(what) if explanation else None,
    )


measures = (
    _measure("length", "baseline:length", "the number of tokens", 30, "length"),
    _measure("words", (BAG_OF_WORDS, "baseline:length"), "a bag of words and its length", 40, "words"),
)
