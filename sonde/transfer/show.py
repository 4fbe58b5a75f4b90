"""Checked sets and places on the console, and as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from sonde import __version__
from sonde.console import err, out, visible
from sonde.transfer.check import Report
from sonde.transfer.get import is_there
from sonde.transfer.places import Place


def as_json(reports: Sequence[Report], absent: Sequence[str]) -> str:
    """Everything that was found out."""
    found = {
        "format": "sonde.data.v1",
        "sets": [{**asdict(report), "sound": report.sound} for report in reports],
        "absent": list(absent),
        "versions": {"sonde": __version__},
    }
    return json.dumps(found, indent=2, ensure_ascii=False) + "\n"


def print_reports(reports: Sequence[Report], absent: Sequence[str]) -> None:
    """A table, then what is wrong or worth knowing of each set, then what is not there."""
    from rich.table import Table

    console = out()
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("set", "state", "rows", "published"):
        table.add_column(column, overflow="fold")
    table.add_column("labels", justify="right")
    for report in reports:
        state = "[green]sound[/green]" if report.sound else "[red]not sound[/red]"
        same = report.sound and set(report.rows) <= set(report.published)
        published = "the same" if same else _sizes(report.published)
        table.add_row(visible(report.name), state, _sizes(report.rows), published, f"{report.labels:,}")
    console.print(table)
    for report in reports:
        remarks = [("error", said) for said in report.errors] + [("note ", said) for said in report.notes]
        if remarks:
            console.print(f"\n{visible(report.name)}", style="bold", markup=False)
        for severity, said in remarks:
            console.print(f"  {severity}  {visible(said)}", markup=False, soft_wrap=True)
    if absent:
        console.print(f"\nnot there: {', '.join(absent)}", markup=False, soft_wrap=True)


def print_places(places: Iterable[Place], data: Path) -> None:
    """What may be fetched, and whether it is there."""
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("set", "state", "checksum", "licence"):
        table.add_column(column, overflow="fold")
    for place in places:
        state = "there" if is_there(place, data) else "by hand" if place.by_hand else "to be fetched"
        known = "" if place.by_hand else "known" if all(file.sha256 for file in place.files) else "not known"
        table.add_row(place.key, state, known, place.licence)
    out().print(table)


def print_licence(place: Place) -> None:
    """What one agrees to."""
    err().print(f"{place.key}: {place.licence}\n  {place.page}", markup=False, soft_wrap=True)


def print_by_hand(place: Place, data: Path) -> None:
    """What to do where nothing can be fetched."""
    lines = "".join(f"  {line}\n" for line in place.by_hand.strip().splitlines())
    err().print(
        f"{place.key} must be fetched by hand: {place.licence}\n  {place.page}\n{lines}  {place.folder(data)}",
        markup=False, soft_wrap=True,
    )  # fmt: skip


def _sizes(rows: Mapping[str, int]) -> str:
    return ", ".join(f"{part} {n:,}" for part, n in rows.items())
