"""Checked sets and downloads on the console, and as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from sentprobe import __version__
from sentprobe.console import err, out
from sentprobe.core.formatting import printable
from sentprobe.core.table import CellText, Table
from sentprobe.transfer.check import SetReport
from sentprobe.transfer.remote_sets import RemoteSet, is_downloaded


def as_json(reports: Sequence[SetReport], absent: Sequence[str]) -> str:
    """All reports as JSON."""
    document = {
        "format": "sentprobe.data.v1",
        "sets": [{**asdict(report), "valid": report.is_valid} for report in reports],
        "absent": list(absent),
        "versions": {"sentprobe": __version__},
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def print_reports(reports: Sequence[SetReport], absent: Sequence[str]) -> None:
    """Print a table, then errors and notes of each set, then the sets that were not found."""
    console = out()
    rows = []
    for report in reports:
        state = CellText("valid", style="green") if report.is_valid else CellText("invalid", style="red")
        same = report.is_valid and set(report.rows) <= set(report.published)
        rows.append(
            (report.name, state, _sizes(report.rows), "same" if same else _sizes(report.published), report.labels)
        )
    headings = ("set", "state", "rows", "published", "labels")
    Table.of_rows(headings, rows, texts=headings[:-1]).print(console)
    for report in reports:
        remarks = [("error", text) for text in report.errors] + [("note ", text) for text in report.notes]
        if remarks:
            console.print(f"\n{printable(report.name)}", style="bold", markup=False)
        for severity, text in remarks:
            console.print(f"  {severity}  {printable(text)}", markup=False, soft_wrap=True)
    if absent:
        console.print(f"\nnot found: {', '.join(absent)}", markup=False, soft_wrap=True)


def print_remote_sets(remote_sets: Iterable[RemoteSet], data: Path) -> None:
    """Print what can be downloaded, and whether it has been."""
    rows = []
    for remote in remote_sets:
        state = "present" if is_downloaded(remote, data) else "by hand" if remote.manual_steps else "to download"
        checksum = "known" if all(file.has_checksum for file in remote.files) else "unknown"
        rows.append((remote.key, state, "" if remote.manual_steps else checksum, remote.licence))
    headings = ("set", "state", "checksum", "licence")
    Table.of_rows(headings, rows, texts=headings).print(out())


def print_licence(remote: RemoteSet) -> None:
    """Print the licence that the user accepts."""
    err().print(f"{remote.key}: {remote.licence}\n  {remote.page}", markup=False, soft_wrap=True)


def print_manual_steps(remote: RemoteSet, data: Path) -> None:
    """Print what to do for a set that cannot be downloaded."""
    lines = "".join(f"  {line}\n" for line in remote.manual_steps.strip().splitlines())
    err().print(
        f"{remote.key} must be downloaded by hand: {remote.licence}\n  {remote.page}\n{lines}  {remote.folder(data)}",
        markup=False,
        soft_wrap=True,
    )


def _sizes(rows: Mapping[str, int]) -> str:
    return ", ".join(f"{part} {n:,}" for part, n in rows.items())
