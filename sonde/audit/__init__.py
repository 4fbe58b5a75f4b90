"""What is wrong with a probing set, as coded findings."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from sonde.dataset import Dataset
from sonde.sketch import near_key
from sonde.task import SPLITS

EXAMPLES = 3


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing found: a code, how bad it is, what was seen, and what to do about it."""

    code: str
    severity: Literal["error", "warning", "note"]
    message: str
    advice: str
    split: str | None = None
    count: int = 0
    examples: tuple[str, ...] = ()


def audit_set(dataset: Dataset, *, disjoint: bool = False) -> tuple[Finding, ...]:
    """Everything that is wrong with the rows themselves; ``disjoint`` says that target forms must not be shared."""
    found = [*_labels(dataset), *_copies(dataset), *_targets(dataset, disjoint), *_size(dataset)]
    return tuple(sorted(found, key=lambda f: (("error", "warning", "note").index(f.severity), f.code, f.split or "")))


def _labels(dataset: Dataset) -> Iterator[Finding]:
    for split in SPLITS:
        counts = Counter(row.label for row in dataset.rows.get(split, ()))
        if not counts:
            yield Finding("empty-split", "error", f"{split} has no rows", "Give a larger corpus.", split)
        elif len(counts) == 1:
            label = next(iter(counts))
            message = f"{split} has one class only, {label}"
            yield Finding(
                "one-class", "error", message, "Every split needs every class.", split, counts[label], (label,)
            )
        elif missing := sorted(set(dataset.labels) - set(counts)):
            message = f"{split} lacks {len(missing)} of {len(dataset.labels)} classes"
            advice = "Scores of the missing classes cannot be told; drop them or give more data."
            yield Finding("missing-class", "error", message, advice, split, len(missing), tuple(missing[:EXAMPLES]))


def _copies(dataset: Dataset) -> Iterator[Finding]:
    where: defaultdict[tuple[int, tuple[tuple[str, str], ...]], set[str]] = defaultdict(set)
    labels: defaultdict[tuple[str, tuple[tuple[str, str], ...]], set[str]] = defaultdict(set)
    for split, row in dataset:
        where[near_key(row.text), row.extra].add(split)
        labels[row.text, row.extra].add(row.label)
    shared = sum(len(splits) > 1 for splits in where.values())
    if shared:
        message = f"{shared} sentences stand in several splits, up to case, digits and punctuation"
        yield Finding(
            "copies-across-splits", "error", message, "Remove near-duplicates before splitting.", None, shared
        )
    torn = [text for (text, _), found in labels.items() if len(found) > 1]
    if torn:
        message = f"{len(torn)} sentences have two labels"
        evidence = tuple(t[:40] for t in torn[:EXAMPLES])
        yield Finding("two-labels", "error", message, "Keep one form of each sentence.", None, len(torn), evidence)


def _targets(dataset: Dataset, disjoint: bool) -> Iterator[Finding]:
    if not disjoint:
        return
    homes: defaultdict[str, set[str]] = defaultdict(set)
    for split, row in dataset:
        if row.key is not None:
            homes[row.key].add(split)
    shared = sorted(key for key, splits in homes.items() if len(splits) > 1)
    if shared:
        message = f"{len(shared)} target forms stand in several splits"
        advice = "Keep each form in one split, or the probe can memorise it."
        yield Finding("shared-targets", "error", message, advice, None, len(shared), tuple(shared[:EXAMPLES]))


def _size(dataset: Dataset) -> Iterator[Finding]:
    counts = Counter(row.label for row in dataset.rows.get("te", ()))
    n = sum(counts.values())
    if n and n < 400:
        # twice the standard error of a proportion at one half
        width = 100 / n**0.5
        message = f"te has {n} rows: an accuracy is known to about ±{width:.1f} points"
        yield Finding("small-test", "note", message, "Give a larger corpus or a larger share to te.", "te", n)
