"""The manifest of a set: everything needed to make it again, and what its rows are like."""

from __future__ import annotations

import math
import platform
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from statistics import correlation, fmean
from typing import Any

from sentprobe import __version__
from sentprobe.audit import Finding
from sentprobe.corpus.corpus import Corpus
from sentprobe.corpus.folding import fold
from sentprobe.corpus.provenance import read_provenances
from sentprobe.corpus.treebanks.metadata import describe_treebanks
from sentprobe.data.dataset import MANIFEST_FORMAT, Dataset
from sentprobe.data.planning import differences_of
from sentprobe.make.candidates import Candidate, Cells, Pool
from sentprobe.make.job import Job
from sentprobe.make.passes import ReadLog
from sentprobe.make.selection import Selection
from sentprobe.tasks import SPLITS, Counts, Example, Policy, effective_fields

ALWAYS_RECORDED = frozenset({"sizes", "length", "balance", "strata", "disjoint"})
"""Fields of the policy that the manifest has even if they are the default."""
NOTE_PREFIX = "#"
"""Extra columns whose names begin with it are a task's notes: the manifest counts them, the rows drop them."""


def build_manifest(
    job: Job,
    pool: Pool,
    cells: Cells,
    selection: Selection,
    dataset: Dataset,
    facts: Mapping[str, Any],
    findings: Iterable[Finding],
    errors: Mapping[str, Any] | str | None = None,
) -> dict[str, Any]:
    """The manifest as plain data."""
    task, policy = job.task, job.policy
    effective = effective_fields(task, policy, {job.reading})
    return {
        "format": MANIFEST_FORMAT,
        "name": job.name,
        "suite": job.suite,
        "task": task.name,
        "version": task.version,
        "question": task.question,
        "paper": task.paper,
        "solved_by": sorted(task.solved_by),
        "inputs": list(task.inputs),
        "language": dataset.language,
        "labels": list(selection.labels),
        "corpus": dict(facts),
        **({} if errors is None else {"label_errors": errors}),
        "reading": {"name": job.reading, "columns": sorted(task.readings[job.reading])},
        "seed": job.seed,
        "policy": {
            k: v
            for k, v in asdict(policy).items()
            if k in ALWAYS_RECORDED or (v != getattr(Policy(), k) and k in effective)
        },
        "sizes": {
            "requested": dict(zip(SPLITS, policy.sizes, strict=True)),
            "drawn": _row_counts(selection.splits),
            "made": _row_counts(dataset.rows),
        },
        "stages": {
            "proposed": dict(sorted(pool.proposed.items())),
            "rejected": dict(sorted(pool.rejected.items(), key=lambda p: (-p[1], p[0]))),
            "kept in the pool": dict(sorted(_per_class(cells).items())),
            "near-duplicates of these": sum(c.times - 1 for items in cells.values() for c in items),
            "cells cut to their limit": sum(len(items) == pool.limit for items in pool.cells.values()),
            "cap per target form": selection.cap,
        },
        **describe(dataset),
        **_note_shares(selection.splits),
        "detects": differences_of(dataset),
        "audit": [asdict(f) for f in findings],
        "versions": {"sentprobe": __version__, "python": platform.python_version()},
    }


def corpus_facts(corpus: Corpus, counts: Counts, log: ReadLog) -> dict[str, Any]:
    """What the manifest says of the corpus."""
    return {
        "name": corpus.name,
        "language": corpus.language,
        "synthetic": corpus.is_synthetic,
        "digest": f"{log.digest:032x}"[:16],
        "sentences": counts.sentences,
        "words": counts.tokens,
        "columns": dict(sorted(counts.columns.items())),
        "bigrams_thinned": counts.level,
        "files": [f.rsplit("/", 1)[-1] for f in (*corpus.files, *corpus.trees)],
        **({"treebanks": treebanks} if (treebanks := describe_treebanks(corpus.files)) else {}),
        **({"annotation": annotation} if (annotation := read_provenances(corpus.files)) else {}),
        "skipped": {"sentences": log.malformed, "listed": log.messages, "incomplete files": log.incomplete},
    }


def describe(dataset: Dataset) -> dict[str, Any]:
    """What a reader wants to know about the rows: balance, lengths, correlation, overlap of targets."""
    counts = {split: Counter(row.label for row in dataset.rows[split]) for split in SPLITS}
    histogram: defaultdict[str, Counter[int]] = defaultdict(Counter)
    for _, row in dataset:
        histogram[row.label][len(row.tokens)] += 1
    keys = {split: {fold(row.key, dataset.language) for row in dataset.rows[split] if row.key} for split in SPLITS}
    return {
        "counts": {split: dict(sorted(c.items())) for split, c in counts.items()},
        "majority": {split: round(max(c.values()) / sum(c.values()), 4) for split, c in counts.items()},
        "lengths": {label: {str(n): k for n, k in sorted(c.items())} for label, c in sorted(histogram.items())},
        "label_length_correlation": {split: length_correlation(dataset, split) for split in SPLITS},
        "targets": {
            "forms": {split: len(keys[split]) for split in SPLITS},
            "shared": len(keys["tr"] & keys["va"] | keys["tr"] & keys["te"] | keys["va"] & keys["te"]),
        },
    }


def length_correlation(dataset: Dataset, split: str) -> float:
    """How strongly label and length are related: Pearson's r for numbers and two labels, else the correlation ratio.

    The ratio is corrected for the number of classes (the root of epsilon squared); otherwise many small classes would
    always seem to be related to length.
    """
    rows = dataset.rows[split]
    lengths = [float(len(row.tokens)) for row in rows]
    if len(set(lengths)) < 2:
        return 0.0
    if len(dataset.labels) == 2 or all(label.isdigit() for label in dataset.labels):
        order = {label: i for i, label in enumerate(dataset.labels)}
        values = [float(row.label) if row.label.isdigit() else float(order[row.label]) for row in rows]
        return round(correlation(values, lengths), 4) if len(set(values)) > 1 else 0.0
    groups: defaultdict[str, list[float]] = defaultdict(list)
    for row, n in zip(rows, lengths, strict=True):
        groups[row.label].append(n)
    mean = fmean(lengths)
    total = sum((n - mean) ** 2 for n in lengths)
    within = sum((n - mean) ** 2 for g in groups.values() for mean in [fmean(g)] for n in g)
    if len(rows) == len(groups):
        return 0.0
    chance = (len(groups) - 1) * within / (len(rows) - len(groups))
    return round(math.sqrt(max(0.0, (total - within - chance) / total)), 4)


def without_notes(e: Example) -> Example:
    """The example without a task's notes."""
    return e._replace(extra=tuple(c for c in e.extra if not c[0].startswith(NOTE_PREFIX))) if e.extra else e


def _note_shares(splits: Mapping[str, Sequence[Candidate]]) -> dict[str, dict[str, dict[str, float]]]:
    """For every note, by name and split, the share of examples with each value."""
    shares: defaultdict[str, dict[str, dict[str, float]]] = defaultdict(dict)
    for split, items in splits.items():
        seen: defaultdict[str, Counter[str]] = defaultdict(Counter)
        for name, value in (c for item in items for c in item.example.extra if c[0].startswith(NOTE_PREFIX)):
            seen[name.removeprefix(NOTE_PREFIX)][value] += 1
        for name, counts in seen.items():
            shares[name][split] = {value: round(n / len(items), 4) for value, n in sorted(counts.items())}
    return dict(shares)


def _per_class(cells: Cells) -> Counter[str]:
    out: Counter[str] = Counter()
    for (label, _), items in cells.items():
        out[label] += len(items)
    return out


def _row_counts(splits: Mapping[str, Sequence[object]]) -> dict[str, int]:
    return {split: len(rows) for split, rows in splits.items()}
