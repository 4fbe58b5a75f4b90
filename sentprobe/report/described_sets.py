"""What is shown of sets without a run: sizes, classes and examples, what an audit finds, and how they were made."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from sentprobe.audit.audit import audit_collection, audit_rows
from sentprobe.audit.check import Finding, SentenceKeys, ShortcutScore
from sentprobe.core.arguments import check_options
from sentprobe.core.formatting import count_of
from sentprobe.core.hashing import digest, hash_64
from sentprobe.core.workers import map_largest_first
from sentprobe.corpus.provenance import describe_provenance
from sentprobe.data.dataset import Dataset
from sentprobe.data.expectations import expectations_for
from sentprobe.data.random_split import split_name
from sentprobe.data.sources import Source
from sentprobe.data.splits import Split
from sentprobe.errors import SentProbeError
from sentprobe.probes.baselines.naive_bayes import top_features
from sentprobe.report.error_analysis import shown_row
from sentprobe.report.set_summary import SOURCE_KINDS, label_names_of, path_end
from sentprobe.report.types import ShownRow
from sentprobe.tasks import SPLITS, Example

MAX_CLASSES = 24
"""Classes that are shown of a set, the largest first."""
MAX_HASHED_BYTES = 1 << 28
"""Files up to this size are read once more for their digests."""
MAX_FEATURES = 12
"""Words that are shown of a class."""
SCORED_PROTOCOLS = ("retrieval", "relatedness", "similarity")
"""Of sets whose rows have scores, or images, instead of labels."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DescribedClass:
    """A label, how many rows of each split have it, and some of them."""

    label: str
    name: str
    """What a label that is a code means; empty if it is none."""
    counts: Mapping[str, int]
    examples: tuple[ShownRow, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DescribedSet:
    """A set as it is shown without any score."""

    name: str
    task: str
    question: str
    language: str | None
    synthetic: bool
    n: Mapping[str, int]
    """Rows by split."""
    classes: tuple[DescribedClass, ...]
    """The largest ones."""
    labels: int
    """How many there are; none if rows have scores instead."""
    majority: float | None
    """The share of the most frequent label in test; None without test rows or labels."""
    forms: int
    """Target forms of the test rows."""
    features: Mapping[str, tuple[tuple[str, float], ...]]
    """The words that naive Bayes associates most with each of the classes, with their log-odds."""
    redundancy: Mapping[str, float]
    """Shares of the test rows by what other words say about the target's value, where the manifest has them."""
    findings: tuple[Finding, ...]
    shortcuts: tuple[ShortcutScore, ...]
    source: str
    digest: str
    facts: tuple[tuple[str, str], ...]
    """How it was made, by name."""
    rejected: tuple[tuple[str, int], ...]
    """Why sentences were left out, and how many, the most frequent reason first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DescribedSets:
    """Sets, what they have in common that they should not, and what could not be read."""

    sets: tuple[DescribedSet, ...]
    shared: tuple[Finding, ...]
    unread: tuple[tuple[str, str], ...]
    """Names and reasons."""
    paths: tuple[str, ...]


def describe_sets(
    sources: Iterable[Source], paths: Sequence[str] = (), *, examples: int = 2, seed: int = 0, jobs: int = 1
) -> DescribedSets:
    """Read and audit sets, in worker processes if there are several jobs.

    Parameters
    ----------
    sources
        The sets, as ``find_sets`` finds them.
    paths
        Where they were found, to be named.
    examples
        Rows to show of each class, sampled by a hash of the seed.
    """
    check_options(0, per_class=examples)
    sources = list(sources)
    call = partial(_describe_source, examples=examples, seed=seed)
    outcomes = list(map_largest_first(call, [(s,) for s in sources], [s.size_bytes for s in sources], jobs))
    read = [outcome for outcome in outcomes if not isinstance(outcome, str)]
    return DescribedSets(
        sets=tuple(described for described, _ in read),
        shared=audit_collection([keys for _, keys in read]),
        unread=tuple(
            (s.name, outcome) for s, outcome in zip(sources, outcomes, strict=True) if isinstance(outcome, str)
        ),
        paths=tuple(paths),
    )


def _describe_source(source: Source, *, examples: int, seed: int) -> tuple[DescribedSet, SentenceKeys] | str:
    try:
        dataset = source.load()
        expectations = expectations_for(dataset)
    except SentProbeError as e:
        return str(e)
    rows = Split.of_set(dataset, expectations.inputs)
    audit = audit_rows(dataset, rows, expectations)
    manifest = dataset.manifest
    test = [row.label for row in dataset.rows.get("te", ())]
    scores = manifest.get("protocol", "split") in SCORED_PROTOCOLS
    classes = () if scores else tuple(_classes(dataset, expectations.inputs, examples, seed))
    kind = SOURCE_KINDS.get(source.kind, source.kind)
    return (
        DescribedSet(
            name=dataset.name,
            task=dataset.task,
            question=str(manifest.get("question") or ""),
            language=dataset.language,
            synthetic=bool(manifest.get("corpus", {}).get("synthetic")),
            n={split: len(dataset.rows.get(split, ())) for split in SPLITS},
            classes=classes,
            labels=0 if scores else len(dataset.labels),
            majority=max(Counter(test).values()) / len(test) if test and not scores else None,
            forms=len({row.key for row in dataset.rows.get("te", ()) if row.key is not None}),
            features=_features(dataset, [described_class.label for described_class in classes]),
            redundancy=_mapping(_mapping(manifest.get("redundancy")).get("te")),
            findings=audit.findings,
            shortcuts=audit.measures,
            source=f"{kind}: {', '.join(path_end(Path(path)) for path in source.paths)}",
            digest=dataset.digest,
            facts=tuple(_facts(dataset, source)),
            rejected=tuple(_rejected(manifest)),
        ),
        SentenceKeys.of(source.name, rows),
    )


def _classes(dataset: Dataset, inputs: Sequence[str], examples: int, seed: int) -> Iterator[DescribedClass]:
    counts = {split: Counter(row.label for row in rows) for split, rows in dataset.rows.items()}
    total = sum(counts.values(), Counter())
    by_label: dict[str, list[Example]] = {}
    names = label_names_of(dataset.task, dataset.labels)
    largest = sorted(dataset.labels, key=lambda label: -total[label])[:MAX_CLASSES]  # stable: in their own order
    for _, row in dataset:
        by_label.setdefault(row.label, []).append(row)
    for label in sorted(largest, key=dataset.labels.index):
        sampled = sorted(by_label.get(label, ()), key=lambda row: hash_64(f"{seed} {row.text}"))[:examples]
        yield DescribedClass(
            label=label,
            name=names.get(label, ""),
            counts={split: counts.get(split, Counter())[label] for split in SPLITS},
            examples=tuple(shown_row(row, inputs) for row in sampled),
        )


def _features(dataset: Dataset, labels: Sequence[str]) -> dict[str, tuple[tuple[str, float], ...]]:
    """None for sets that naive Bayes cannot be trained on."""
    if len(labels) < 2:
        return {}
    try:
        features = top_features(dataset, top=MAX_FEATURES)
    except SentProbeError:
        return {}
    return {label: tuple(features[label]) for label in labels if features.get(label)}


# How a set was made


def _label_errors(errors: object) -> str:
    """How many labels of each class gold contradicts, as a line."""
    if not isinstance(errors, Mapping):
        return str(errors)
    counts_by_label = {label: _mapping(counts) for label, counts in _mapping(errors.get("labels")).items()}
    clauses = (
        f"{label}: another label for {n.get('other')} and none for {n.get('none')} of {n.get('sentences')}"
        for label, n in counts_by_label.items()
    )
    return f"gold of {errors.get('treebank')} has {'; '.join(clauses)}"


def _facts(dataset: Dataset, source: Source) -> Iterator[tuple[str, str]]:
    manifest = dataset.manifest
    corpus = _mapping(manifest.get("corpus"))
    if corpus:
        size = f"{count_of(corpus.get('sentences', 0), 'sentence')}, {count_of(corpus.get('words', 0), 'word')}"
        yield "Corpus", f"{corpus.get('name')}{' (synthetic)' if corpus.get('synthetic') else ''}: {size}"
        yield "Digest of the corpus", str(corpus.get("digest", ""))
        if files := corpus.get("files"):
            yield "Files", ", ".join(path_end(Path(str(file))) for file in files)
        for annotation in corpus.get("annotation", ()):
            yield "Annotated by", describe_provenance(annotation)
        if errors := manifest.get("label_errors"):
            yield "Errors of the annotator's labels", _label_errors(errors)
        if skipped := _mapping(corpus.get("skipped")).get("sentences"):
            yield "Malformed sentences skipped", f"{skipped:,}"
    if reading := _mapping(manifest.get("reading")):
        yield "Annotation used", f"{reading.get('name')} ({', '.join(map(str, reading.get('columns', ())))})"
    sizes = _mapping(manifest.get("sizes"))
    for key, title in (("requested", "Rows requested"), ("made", "Rows made")):
        if split_sizes := _mapping(sizes.get(key)):
            yield title, " / ".join(f"{split_sizes.get(split, 0):,}" for split in SPLITS) + " (train / dev / test)"
    if split := split_name(manifest.get("split")):
        yield "Split", split
    for key, title in (("suite", "Suite"), ("seed", "Seed")):
        if manifest.get(key) is not None:
            yield title, str(manifest[key])
    for key, value in _mapping(manifest.get("policy")).items():
        yield f"Setting {key}", _value(value)
    if relaxed := manifest.get("relaxed"):
        yield "Relaxed", ", ".join(map(str, relaxed))
    if targets := _mapping(manifest.get("targets")):
        yield "Target forms shared by splits", f"{targets.get('shared', 0):,}"
    yield "Digest of the set", dataset.digest
    yield from _file_digests(manifest, source)
    if versions := _mapping(manifest.get("versions")):
        yield "Made with", ", ".join(f"{name} {version}" for name, version in versions.items())


def _file_digests(manifest: Mapping[str, Any], source: Source) -> Iterator[tuple[str, str]]:
    files = _mapping(manifest.get("files"))
    for name, value in files.items():
        yield f"Digest of {name}", str(value)
    if files or source.size_bytes > MAX_HASHED_BYTES:
        return
    for path in map(Path, source.paths):
        if path.is_file():
            yield f"Digest of {path.name}", digest(path.read_bytes())


def _rejected(manifest: Mapping[str, Any]) -> Iterator[tuple[str, int]]:
    reasons = _mapping(_mapping(manifest.get("stages")).get("rejected"))
    yield from sorted(((str(name), int(n)) for name, n in reasons.items()), key=lambda pair: (-pair[1], pair[0]))


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _value(value: Any) -> str:
    """A setting as it is typed: 5-28, 400/100/200, equal."""
    if isinstance(value, list | tuple):
        if value and all(isinstance(item, list | tuple) for item in value):
            return ", ".join("–".join(map(str, item)) for item in value)
        return ", ".join(map(str, value))
    return str(value)
