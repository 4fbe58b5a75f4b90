"""Printing on the command line: one place for colour, width and progress."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from math import nan
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from sonde.make import Progress
    from sonde.task import Example


def out(piped_width: int = 160) -> Console:
    """Standard output; in a pipe it is plain and has this width."""
    from rich.console import Console

    class Plain(Console):
        """A console that leaves a closed pipe to ``main``, which exits without an error."""

        def on_broken_pipe(self) -> None:
            raise BrokenPipeError

    return Plain(highlight=False, width=None if sys.stdout.isatty() else piped_width)


def err() -> Console:
    """Standard error, for progress and messages."""
    from rich.console import Console

    return Console(stderr=True, highlight=False)


@contextmanager
def progress_bar() -> Iterator[Progress]:
    """One progress display on standard error; silent if that is not a terminal."""
    if not sys.stderr.isatty():
        yield lambda stage, done, of: None
        return
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    class Rate(TextColumn):
        """Items per second."""

        def render(self, task: Any) -> Any:
            self.text_format = f"{task.speed:,.0f}/s" if task.speed else ""
            return super().render(task)

    columns = (
        TextColumn("{task.description:8}"), BarColumn(), MofNCompleteColumn(), Rate(""), TimeElapsedColumn(),
        TextColumn("left"), TimeRemainingColumn(),
    )  # fmt: skip
    with Progress(*columns, console=err(), transient=True) as bar:
        rows: dict[str, Any] = {}

        def progress(stage: str, done: int, of: int | None) -> None:
            if stage not in rows:
                rows[stage] = bar.add_task(stage, total=of)
            bar.update(rows[stage], completed=done, total=of)

        yield progress


def print_symptoms(encoder: str, symptoms: Sequence[tuple[str, str]]) -> None:
    """Print what is wrong with an encoder, or not verified, by code and message, on standard error."""
    for code, message in symptoms:
        err().print(
            f"{'note' if code == 'trust' else 'warning'}: {printable(encoder)}: {printable(message)}", markup=False
        )


def print_sets(manifests: Sequence[Mapping[str, Any]]) -> None:
    """Print a table of probing sets, one row each; a narrow terminal gets fewer columns, never truncated numbers."""
    from rich.table import Table

    console = out()
    rows = [_facts(m) for m in manifests]
    columns = list(rows[0])
    for spare in ("requested", "reading", "r(length)", "audit", "majority", "classes"):
        width = sum(2 + max(len(c), *(len(row[c]) for row in rows)) for c in columns) - 2
        if width > console.width:
            columns.remove(spare)
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in columns:
        table.add_column(name, justify="left" if name in ("set", "reading", "audit") else "right", no_wrap=True)
    for row in rows:
        table.add_row(*(row[c] for c in columns))
    console.print(table)


def _facts(m: Mapping[str, Any]) -> dict[str, str]:
    """Column → cell for one set."""
    return {
        "set": m["name"],
        "reading": str(m["reading"].get("name", "")),
        "classes": str(len(m["labels"])),
        **{split: f"{m['sizes'].get('made', {}).get(split, 0):,}" for split in ("tr", "va", "te")},
        "requested": f"{sum(m['sizes'].get('requested', {}).values()):,}",
        "majority": f"{100 * m['majority'].get('te', nan):.1f}",
        "r(length)": f"{m['label_length_correlation'].get('te', nan):+.2f}",
        "audit": ", ".join(sorted({f["code"] for f in m["audit"]})) or "clean",
    }


def printable(text: str) -> str:
    """The text with unprintable characters escaped, so that it cannot move the cursor or set colours."""
    return text if text.isprintable() else "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in text)


def example_line(row: Example, colour: bool) -> Text:
    """A row's tokens with the target or changed words marked, in colour or in brackets."""
    from rich.text import Text

    line = Text()
    for i, token in enumerate(row.tokens):
        if i:
            line.append(" ")
        if i in row.marks:
            line.append(token if colour else f"[{token}]", style="bold reverse" if colour else "")
        else:
            line.append(token)
    if row.extra:
        line.append("  (" + ", ".join(f"{name}: {value}" for name, value in row.extra) + ")", style="dim")
    return line
