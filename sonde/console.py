"""What the command line prints: one place for colour, width and progress."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from sonde.make import Progress
    from sonde.task import Example


def out() -> Console:
    """Standard output; plain and unwrapped in a pipe."""
    from rich.console import Console

    class Plain(Console):
        """A console that leaves a closed pipe to ``main``, which ends without an error."""

        def on_broken_pipe(self) -> None:
            raise BrokenPipeError

    return Plain(highlight=False, width=None if sys.stdout.isatty() else 160)


def err() -> Console:
    """Standard error, for progress and messages."""
    from rich.console import Console

    return Console(stderr=True, highlight=False)


@contextmanager
def progress() -> Iterator[Progress]:
    """One progress display on standard error; silent when that is no terminal."""
    if not sys.stderr.isatty():
        yield lambda stage, done, of: None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description:8}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=err(), transient=True) as bar:
        rows: dict[str, Any] = {}

        def tell(stage: str, done: int, of: int | None) -> None:
            if stage not in rows:
                rows[stage] = bar.add_task(stage, total=of)
            bar.update(rows[stage], completed=done, total=of)

        yield tell


def print_sets(manifests: Sequence[Mapping[str, Any]]) -> None:
    """A table of probing sets, one row each."""
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    for name, right in (
        ("set", False), ("reading", False), ("classes", True), ("tr", True), ("va", True), ("te", True),
        ("asked", True), ("majority", True), ("r(length)", True), ("audit", False),
    ):  # fmt: skip
        table.add_column(name, justify="right" if right else "left", no_wrap=True)
    for m in manifests:
        made, asked = m["sizes"]["made"], m["sizes"]["asked"]
        codes = sorted({f["code"] for f in m["audit"]})
        table.add_row(
            m["name"],
            m["reading"]["name"],
            str(len(m["labels"])),
            *(f"{made[s]:,}" for s in ("tr", "va", "te")),
            f"{sum(asked.values()):,}",
            f"{100 * m['majority']['te']:.1f}",
            f"{m['label_length_correlation']['te']:+.2f}",
            ", ".join(codes) or "sound",
        )
    out().print(table)


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
