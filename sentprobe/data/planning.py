"""What a set can show before anything is probed: the difference of two encoders that a test detects on its rows."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sentprobe.corpus.folding import fold
from sentprobe.data.dataset import Dataset
from sentprobe.data.folds import DEFAULT_FOLDS, ENOUGH_TEST_ROWS, probing_folds
from sentprobe.data.splits import cluster_ids
from sentprobe.errors import DataError, UsageError
from sentprobe.stats.planning import Variation, design_effect
from sentprobe.tasks import Example


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What a set can show, and how many rows smaller differences need; differences are shares of one."""

    dataset: str
    pilot: str = ""
    """The systems that the variation was observed of; empty if it is assumed."""
    rows: int
    """All rows of the set, each of which is tested in folds."""
    train: int
    test: int | None
    """Training and test rows of one split; None if they are not known."""
    classes: int
    accuracy: float
    """Of both systems: expected, or the mean of the pilot."""
    can_fold: bool
    """Whether the set can be tested in folds."""
    by_default: bool
    """Whether ``run`` tests it in folds by default."""
    variation: Variation
    seeds: int = 1

    @property
    def in_folds(self) -> float | None:
        """The difference that is detected in folds, four times out of five."""
        return self.variation.in_folds(self.rows, self.seeds) if self.can_fold else None

    @property
    def in_split(self) -> float | None:
        """The difference that is detected on the test split."""
        return None if self.test is None else self.variation.in_split(self.test, self.train, self.seeds)

    def rows_in_folds(self, difference: float) -> int | None:
        """How many rows are needed to detect a difference in folds; None if no number is enough."""
        return _count(self.variation.rows_in_folds(difference, self.seeds)) if self.can_fold else None

    def test_rows(self, difference: float) -> int | None:
        """How many test rows are needed on one split, if training rows grow with them."""
        if self.test is None:
            return None
        return _count(self.variation.test_rows_in_split(difference, self.train / self.test, self.seeds))


def _count(rows: float) -> int | None:
    return math.ceil(rows) if math.isfinite(rows) else None


def plan_set(dataset: Dataset, accuracy: float | None = None) -> Plan:
    """What a set can show of two encoders with an accuracy, by default half-way between the majority and 100 %.

    DataError if its rows are not classified, or none are test rows.
    """
    if dataset.manifest.get("protocol", "split") != "split":
        raise DataError(f"{dataset.name} is not scored by accuracy on a test split.")
    tests = dataset.rows.get("te", ())
    rows = [row for _, row in dataset]
    labels = Counter(row.label for row in rows)
    if not tests or len(labels) < 2 or len(rows) == len(tests):
        raise DataError(
            f"{dataset.name} has {len(tests)} test rows of {len(rows)}, with {len(labels)} labels; expected train and "
            "test rows with two labels or more."
        )
    majority = max(labels.values()) / len(rows)
    expected = (1 + majority) / 2 if accuracy is None else accuracy
    if not 0 < expected < 1:
        raise UsageError(f"Expected an accuracy between 0 and 1, got {expected}.")
    try:
        can_fold = probing_folds(dataset, DEFAULT_FOLDS) is not None
    except DataError:
        can_fold = False
    return Plan(
        dataset=dataset.name,
        rows=len(rows),
        train=len(dataset.rows.get("tr", ())) or len(rows) - len(tests),
        test=len(tests),
        classes=len(labels),
        accuracy=expected,
        can_fold=can_fold,
        by_default=can_fold and probing_folds(dataset, None) is not None,
        variation=Variation.assumed(expected, design_effect(_cluster_sizes(rows, dataset.language))),
    )


def _cluster_sizes(rows: Sequence[Example], language: str | None) -> list[int]:
    keys = [fold(row.key, language) if row.key else None for row in rows]
    clusters = cluster_ids(keys, [row.text for row in rows])
    return [1] * len(rows) if clusters is None else list(Counter(clusters).values())


# In manifests


def differences_of(dataset: Dataset) -> dict[str, float]:
    """For the manifest of a made set: the differences that are detected in folds and on its test split."""
    plan = plan_set(dataset)
    assert plan.in_folds is not None
    assert plan.in_split is not None
    return {"folds": round(plan.in_folds, 4), "split": round(plan.in_split, 4)}


def default_difference(manifest: Mapping[str, Any]) -> float | None:
    """What ``run`` detects on a made set by default; None for a set that was made without that field."""
    in_folds = manifest["sizes"].get("made", {}).get("te", 0) < ENOUGH_TEST_ROWS
    differences: Mapping[str, float] = manifest.get("detects", {})
    return differences.get("folds" if in_folds else "split")
