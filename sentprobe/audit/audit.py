"""Running the checks over one dataset, and over several: each by itself, and what they should not have in common."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from sentprobe.audit.check import AUDIT_CHECKS, SEVERITIES, AuditCheck, Finding, SentenceKeys, ShortcutScore
from sentprobe.core.arguments import as_list
from sentprobe.core.formatting import count_of
from sentprobe.core.table import Table, in_html
from sentprobe.core.workers import map_largest_first
from sentprobe.data.dataset import Dataset
from sentprobe.data.expectations import Expectations, expectations_for
from sentprobe.data.sources import Source
from sentprobe.data.splits import Split
from sentprobe.errors import SentProbeError, UsageError
from sentprobe.tasks import Task


@dataclass(frozen=True, slots=True)
class Audit:
    """What is wrong with one dataset, most severe first, and how far shallow cues alone predict its labels.

    ``audit_set`` makes one.

    Parameters
    ----------
    name: str
        The name of the set.
    task: str
        The task it is for.
    language: str | None
        Its language code, if known.
    digest: str
        The digest of its content.
    sizes: dict[str, int]
        Rows per split: ``tr``, ``va`` and ``te``.
    classes: int
        How many labels it has.
    findings: tuple[Finding, ...]
        What was found, most severe first.
    measures: tuple[ShortcutScore, ...]
        The accuracies of classifiers that see a shallow cue only, whether they are a finding or not.

    Examples
    --------
    >>> from sentprobe import Dataset, Example, audit_set
    >>> rows = {"te": [Example("A", ("a", "red", "kite"), "a red kite")] * 30}
    >>> audit = audit_set(Dataset("own/kites", "kites", 1, "en", ("A",), rows))
    >>> audit
    <Audit own/kites: 30 rows, 1 error, 2 warnings, 2 notes>
    >>> audit.errors[0].code
    'one-class'
    """

    name: str
    task: str
    language: str | None
    digest: str
    sizes: dict[str, int]
    classes: int
    findings: tuple[Finding, ...]
    measures: tuple[ShortcutScore, ...] = ()

    @property
    def errors(self) -> tuple[Finding, ...]:
        """The findings that make scores on the set mean something other than they seem to."""
        return tuple(f for f in self.findings if f.severity == "error")

    def to_dict(self) -> dict[str, Any]:
        """Plain data, for JSON and manifests."""
        return asdict(self)

    def __repr__(self) -> str:
        return f"<Audit {self.name}: {sum(self.sizes.values()):,} rows, {count_severities(self.findings)}>"

    def _repr_html_(self) -> str:
        """A table of the findings, for notebooks."""
        rows = [(f.severity, f.code, f.split or "", f.count, f.message) for f in self.findings]
        table = Table.of_rows(("severity", "code", "split", "count", "message"), rows).html() if rows else ""
        return f"<p><b>{in_html(self.name)}</b>: {count_severities(self.findings)}</p>{table}"


def count_severities(findings: Iterable[Finding]) -> str:
    """How many findings of each severity there are: ``1 error, 0 warnings, 2 notes``."""
    counts = Counter(f.severity for f in findings)
    return ", ".join(count_of(counts[s], s) for s in SEVERITIES)


def audit_set(dataset: Dataset | Source, expected: Expectations | None = None) -> Audit:
    """Look for everything that is known to go wrong with probing sets.

    Parameters
    ----------
    dataset: Dataset | Source
        The set: made by sentprobe, or read from other files; what ``find_sets`` returns is loaded.
    expected: Expectations | None
        What the set should look like. Default: what its manifest and the task of its name say.

    Returns
    -------
    Audit
        The findings, most severe first.

    Raises
    ------
    DataError
        If the manifest of the set was altered.
    UsageError
        If it is something else, such as a path.

    Examples
    --------
    >>> from sentprobe import Corpus, audit_set, make_sets, select_tasks
    >>> (dataset,) = make_sets(Corpus.synthetic(1500), select_tasks((), "sentence_length", sizes="60/12/12"))
    >>> audit_set(dataset).errors
    ()
    """
    dataset = dataset.load() if isinstance(dataset, Source) else dataset
    if not isinstance(dataset, Dataset):
        raise UsageError(f"Expected a set, got {dataset!r:.80} of type {type(dataset).__name__}; find_sets finds sets.")
    expectations = expected or expectations_for(dataset)
    return audit_rows(dataset, Split.of_set(dataset, expectations.inputs), expectations)


def audit_rows(dataset: Dataset, rows: Split, expectations: Expectations) -> Audit:
    """The same for a set whose rows are already in columns."""
    findings: list[Finding] = []
    measures: list[ShortcutScore] = []
    for check in _applicable(expectations):
        for result in _run(check, rows, expectations):
            if isinstance(result, Finding):
                findings.append(result)
            else:
                measures.append(result)
    return Audit(
        dataset.name,
        dataset.task,
        dataset.language,
        dataset.digest,
        {split: rows.split_sizes[split] for split in rows.split_names},
        len(rows.classes),
        _sorted(findings),
        tuple(measures),
    )


def audit_quickly(dataset: Dataset, expected: Expectations) -> tuple[Finding, ...]:
    """The findings of the quick checks only."""
    rows = Split.of_set(dataset, expected.inputs)
    quick = (check for check in _applicable(expected) if check.quick)
    return _sorted(f for check in quick for f in _run(check, rows, expected) if isinstance(f, Finding))


def _applicable(expectations: Expectations) -> list[AuditCheck]:
    return [c for c in AUDIT_CHECKS.parts().values() if expectations.classes or not c.needs_classes]


def _run(check: AuditCheck, rows: Split, expectations: Expectations) -> Iterator[Finding | ShortcutScore]:
    if check.in_set:
        yield from check.in_set(rows, expectations)
    if check.in_sentences:
        yield from check.in_sentences(rows, expectations)
        for column, sentences in rows.further_sentences():
            for finding in check.in_sentences(sentences, expectations):
                yield replace(finding, message=f"{column}: {finding.message}")


def _sorted(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    return tuple(sorted(findings, key=lambda f: (SEVERITIES.index(f.severity), f.code, f.split or "", f.message)))


# Several sets


def audit_collection(sets: Sequence[SentenceKeys]) -> tuple[Finding, ...]:
    """What several sets have in common that they should not; nothing if there is only one."""
    if len(sets) < 2:
        return ()
    checks = (check.in_collection for check in AUDIT_CHECKS.parts().values() if check.in_collection)
    return tuple(finding for check in checks for finding in check(sets))


@dataclass(frozen=True, slots=True)
class UnreadableSet:
    """A set that could not be read, and why."""

    name: str
    reason: str


def audit_sources(
    sources: Source | Iterable[Source], *, jobs: int = 1, tasks: Sequence[Task] = (), disjoint: bool | None = None
) -> Iterator[tuple[Audit, SentenceKeys] | UnreadableSet]:
    """Audit sets one after the other, or in worker processes, in the order given; a worker holds one at a time.

    ``tasks`` are those that are not found by name; ``disjoint`` says that splits must not share target forms.
    """
    sources = as_list(sources, Source, "a set")
    by_name = {task.name: task for task in tasks}
    calls = [(source, by_name.get(source.task), disjoint) for source in sources]
    yield from map_largest_first(_audit_source, calls, [source.size_bytes for source in sources], jobs)


def _audit_source(
    source: Source, task: Task | None, disjoint: bool | None
) -> tuple[Audit, SentenceKeys] | UnreadableSet:
    try:
        dataset = source.load()
        expectations = expectations_for(dataset, task)
    except SentProbeError as e:
        return UnreadableSet(source.name, str(e))
    if disjoint is not None:
        expectations = replace(expectations, disjoint=disjoint)
    rows = Split.of_set(dataset, expectations.inputs)
    return audit_rows(dataset, rows, expectations), SentenceKeys.of(source.name, rows)
