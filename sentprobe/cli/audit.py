"""`sentprobe audit`: what is wrong with datasets."""

from __future__ import annotations

import sys
from typing import Annotated, Any, Literal

from cyclopts import Parameter

from sentprobe.cli._options import OUTPUT, STDIN, TABLES, ClusterName, Jobs, TableOptions, with_options

order = 30


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
    cluster: str
        Work on a cluster: ray or dask to start one on this machine; ray:auto, ray:HOST:PORT, dask:tcp://HOST:PORT or
        dask:FILE, the file of its scheduler, to join one. Results are those of --jobs 1.
    explain: str
        Say what this code means, and nothing else; all: every code, as a Markdown page.
    """
    from sentprobe.audit import explain as explain_code
    from sentprobe.audit.show import (
        as_json,
        codes_page,
        count_findings,
        markdown,
        print_audit,
        print_code,
        print_collection_findings,
    )
    from sentprobe.console import announce, err
    from sentprobe.core.formatting import count_of, printable
    from sentprobe.errors import UsageError

    if explain == "all":
        sys.stdout.write(codes_page())
        return 0
    if explain is not None:
        print_code(explain_code(explain))
        return 0
    if not paths:
        raise UsageError("Name a set to audit, or a code to explain: sentprobe audit --explain CODE.")
    from sentprobe.audit.audit import UnreadableSet, audit_collection, audit_sources
    from sentprobe.audit.check import SEVERITIES
    from sentprobe.cli._options import workers_of
    from sentprobe.data.sources import find_sets
    from sentprobe.tasks import load_task

    columns = TableOptions.taken_from(options)
    format = "json" if json else format
    shown = SEVERITIES[: SEVERITIES.index(min_severity) + 1]
    audits, sentences, unreadable = [], [], []
    typed = [load_task(name) for name in (*task, *([as_task] if as_task else ()))]
    sources = find_sets(
        ["-" if p == STDIN else p for p in paths], columns, task=[each.name for each in typed[: len(task)]],
        language=language, as_task=typed[-1].name if as_task else None, as_language=as_language,
    )  # fmt: skip
    reads = [path for source in sources for path in source.paths]
    with workers_of(jobs, cluster, reads=reads) as workers:
        announce(f"Auditing {count_of(len(sources), 'set')}; {count_of(workers, 'job')}")
        disjoint = columns.has_targets if columns else None
        for found in audit_sources(sources, jobs=workers, tasks=typed, disjoint=disjoint):
            if isinstance(found, UnreadableSet):
                unreadable.append(found)
                reason = printable(f"not read: {found.name}: {found.reason}")
                err().print(reason, style="yellow", markup=False, soft_wrap=True)
                continue
            audits.append(found[0])
            sentences.append(found[1])
            if format == "table":
                print_audit(found[0], shown)
    collection_findings = audit_collection(sentences)
    if format == "json":
        sys.stdout.write(as_json(audits, collection_findings, unreadable))
    elif format == "md":
        sys.stdout.write(markdown(audits, collection_findings, unreadable, shown))
    else:
        print_collection_findings(collection_findings, shown)
        err().print(
            f"\n{count_findings(audits, collection_findings)}. "
            "`sentprobe audit --explain CODE` says what a code means.",
            markup=False,
        )
    if strict and any(audit.errors for audit in audits):
        return 1
    return 0 if not unreadable else 2 if audits else 1
