"""The audit of several datasets: each by itself, and what they should not have in common."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from sentprobe.audit.check import AUDIT_CHECKS, SentenceKeys
from sentprobe.audit.finding import Finding
from sentprobe.audit.one_set import Audit, audit_rows
from sentprobe.core.arguments import as_list
from sentprobe.core.workers import map_largest_first
from sentprobe.data.expectations import expectations_for
from sentprobe.data.sources import Source
from sentprobe.data.splits import Split
from sentprobe.errors import SentProbeError
from sentprobe.tasks import Task


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
    yield from map_largest_first(_audit_one, calls, [source.size_bytes for source in sources], jobs)


def _audit_one(source: Source, task: Task | None, disjoint: bool | None) -> tuple[Audit, SentenceKeys] | UnreadableSet:
    try:
        dataset = source.load()
        expectations = expectations_for(dataset, task)
    except SentProbeError as e:
        return UnreadableSet(source.name, str(e))
    if disjoint is not None:
        expectations = replace(expectations, disjoint=disjoint)
    rows = Split.of_set(dataset, expectations.inputs)
    return audit_rows(dataset, rows, expectations), SentenceKeys.of(source.name, rows)
