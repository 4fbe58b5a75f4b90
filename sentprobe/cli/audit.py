"""`sentprobe audit`: what is wrong with datasets."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from sentprobe.cli._options import OUTPUT, TABLES, ClusterName, Jobs, TableOptions, with_options

if TYPE_CHECKING:
    from sentprobe.audit import Audit
    from sentprobe.audit.audit import UnreadableSet
    from sentprobe.audit.check import Severity
    from sentprobe.data.sources import Source
    from sentprobe.tasks import Task

order = 30
group = "Sets"


@with_options(TableOptions, (TABLES,), before="task")
def audit(
    *paths: str,
    task: Annotated[tuple[str, ...], Parameter(("--task", "-t"))] = (),
    language: tuple[str, ...] = (),
    as_task: str | None = None,
    as_language: str | None = None,
    format: Annotated[Literal["table", "md", "json"], Parameter(group=OUTPUT)] = "table",
    json: Annotated[bool, Parameter(group=OUTPUT)] = False,
    min_severity: Annotated[Literal["error", "warning", "note"], Parameter(group=OUTPUT)] = "note",
    strict: Annotated[bool, Parameter(group=OUTPUT)] = False,
    jobs: Jobs = 0,
    cluster: ClusterName = None,
    explain: Annotated[str | None, Parameter(group=OUTPUT)] = None,
    **options: Any,
) -> int:
    """Find what is wrong with probing sets, whoever made them.

    Parameters
    ----------
    paths: str
        Folders that `sentprobe make` wrote, SentEval files, X-Probe folders, SentEval's transfer folders, or folders of
        these; or tables (TSV, CSV, JSONL, Parquet, also compressed) with --text and --label.
    task: tuple[str, ...]
        Only the sets of this task: a name, package.module:attribute, or a path to a Python file; may be repeated.
        Default: all.
    language: tuple[str, ...]
        Only the sets in this language, such as fr; may be repeated. Default: all.
    as_task: str
        The task of files that do not say it (SentEval's, X-Probe's, tables), which says what to expect of them; as for
        --task. Default: the task named as the file or folder is.
    as_language: str
        The language that the text of files should be in that do not say it. Default: from the folder.
    format: str
        table, md (Markdown) or json. Default: table.
    json: bool
        The same as --format json.
    min_severity: str
        The least severe findings to show: error, warning or note. Default: note.
    strict: bool
        Exit with code 1 if there is an error.
    jobs: int
        Worker processes; 0 means one per core. Default: 0.
    explain: str
        Say what this code means, and nothing else; all: every code, as a Markdown page.
    """
    from sentprobe.cli._options import typed_paths
    from sentprobe.console import announce
    from sentprobe.data.sources import find_sets
    from sentprobe.errors import UsageError
    from sentprobe.tasks import load_task

    if explain is not None:
        return _explain(explain)
    if not paths:
        raise UsageError("Name a set to audit, or a code to explain: sentprobe audit --explain CODE.")
    columns = TableOptions.taken_from(options)
    format = "json" if json else format
    tasks = [load_task(name) for name in (*task, *([as_task] if as_task else ()))]
    sources = find_sets(
        typed_paths(paths), columns, task=[selected.name for selected in tasks[: len(task)]], language=language,
        as_task=tasks[-1].name if as_task else None, as_language=as_language,
        guess=announce,
    )  # fmt: skip
    disjoint = columns.has_targets if columns else None
    audits, unreadable = _audit_sets(sources, tasks, disjoint, jobs, cluster, format, min_severity)
    if strict and any(audit.errors for audit in audits):
        return 1
    return 0 if not unreadable else 2 if audits else 1


def _explain(code: str) -> int:
    """Print what a code means, or with ``all`` the page of all codes."""
    from sentprobe.audit import explain
    from sentprobe.audit.show import codes_page, print_code

    if code == "all":
        sys.stdout.write(codes_page())
    else:
        print_code(explain(code))
    return 0


def _audit_sets(
    sources: Sequence[Source],
    tasks: Sequence[Task],
    disjoint: bool | None,
    jobs: int,
    cluster: str | None,
    format: str,
    min_severity: Severity,
) -> tuple[list[Audit], list[UnreadableSet]]:
    """Audit sets and print what is wrong with them, the totals first."""
    from sentprobe.audit.audit import UnreadableSet, audit_collection, audit_sources
    from sentprobe.audit.check import SEVERITIES
    from sentprobe.audit.show import as_json, count_findings, markdown, print_audit, print_collection_findings
    from sentprobe.cli._options import workers_of
    from sentprobe.console import announce, err, warn
    from sentprobe.core.formatting import count_of

    severities = SEVERITIES[: SEVERITIES.index(min_severity) + 1]
    audits, sentences, unreadable = [], [], []
    with workers_of(jobs, cluster, reads=[path for source in sources for path in source.paths]) as workers:
        announce(f"Auditing {count_of(len(sources), 'set')}; {count_of(workers, 'job')}")
        for result in audit_sources(sources, jobs=workers, tasks=tasks, disjoint=disjoint):
            if isinstance(result, UnreadableSet):
                unreadable.append(result)
                warn(f"not read: {result.name}: {result.reason}")
                continue
            audit, sentence_keys = result
            audits.append(audit)
            sentences.append(sentence_keys)
    collection_findings = audit_collection(sentences)
    if format == "json":
        sys.stdout.write(as_json(audits, collection_findings, unreadable))
    elif format == "md":
        sys.stdout.write(markdown(audits, collection_findings, unreadable, severities))
    else:
        counts = count_findings(audits, collection_findings)
        err().print(f"{counts}. `sentprobe audit --explain CODE` says what a code means.", markup=False)
        for audit in audits:
            print_audit(audit, severities)
        print_collection_findings(collection_findings, severities)
    return audits, unreadable
