"""Printing on the command line, and how long work reports its progress: one place for colour, width and pace."""

from __future__ import annotations

import os
import sys
import textwrap
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from sentprobe.core.arguments import Progress
from sentprobe.core.formatting import duration, printable

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from sentprobe.tasks import Example

MIN_DONE_SHARE = 0.1
"""The share of the work that must be done before it is estimated how long the rest takes."""
WHOLE_RUN = "cells"
"""The stage that shows how much of a run is done."""
PIPED_WIDTH = 80
"""Characters of a line that is not printed on a terminal, so that it can be pasted anywhere."""


def announce(text: str) -> None:
    """Say on standard error, in a line, what a command is about to do."""
    say(printable(text), "dim")


def say(text: str, style: str | None = None) -> None:
    """Print a message on standard error as it is: nothing in it is taken for markup, and no line is broken."""
    err().print(text, style=style, markup=False, soft_wrap=True)


def warn(text: str) -> None:
    """Say on standard error, in a line, what the user should know or has to do something about."""
    say(printable(text), "yellow")


def out(piped_width: int = 160) -> Console:
    """Standard output; in a pipe it is plain and has this width."""
    from rich.console import Console

    class PlainConsole(Console):
        """A console that leaves a closed pipe to ``main``, which exits without an error."""

        def on_broken_pipe(self) -> None:
            raise BrokenPipeError

    return PlainConsole(highlight=False, width=None if sys.stdout.isatty() else piped_width)


def narrow_out() -> Console:
    """Standard output for tables that are laid out by width; in a pipe the width is what ``COLUMNS`` says, or 80."""
    typed = os.environ.get("COLUMNS", "")
    return out(int(typed) if typed.isdecimal() else PIPED_WIDTH)


def print_wrapped(console: Console, text: str, style: str | None = None) -> None:
    """Print a paragraph, broken between words only, and not before a per cent sign."""
    joined = text.replace(" %", "\u00a0%")
    for part in textwrap.wrap(joined, console.width, break_long_words=False, break_on_hyphens=False):
        console.print(part.replace("\u00a0", " "), style=style, markup=False, soft_wrap=True)


def err() -> Console:
    """Standard error, for progress and messages."""
    from rich.console import Console

    return Console(stderr=True, highlight=False)


def split_stage(stage: str) -> tuple[str, str]:
    """A stage, and what of it is in work, if it says so.

    >>> split_stage("cells: st:a on bigram_shift")
    ('cells', 'st:a on bigram_shift')
    >>> split_stage("encode")
    ('encode', '')
    """
    name, _, now = stage.partition(": ")
    return name, now


def remaining_seconds(elapsed: float, done: int, remaining: int) -> float | None:
    """How long the rest takes if it goes on like this; None where too little is done to say.

    ``done`` is what was done in the time that elapsed, without what had been finished before.

    >>> remaining_seconds(30.0, 3, 6)
    60.0
    >>> remaining_seconds(30.0, 1, 99)
    >>> remaining_seconds(30.0, 0, 0)
    """
    if done <= 0 or done / (done + remaining) < MIN_DONE_SHARE:
        return None
    return elapsed * remaining / done


@contextmanager
def progress_bar() -> Iterator[Progress]:
    """One progress display on standard error: what is in work, and a bar per stage; silent if there is no terminal."""
    if not sys.stderr.isatty():
        yield lambda stage, done, of: None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
    from rich.progress import Progress as Bars

    class Named(Bars):
        """Bars below a line that says what is in work."""

        now = ""

        def get_renderables(self) -> Iterator[Any]:
            from rich.text import Text

            if self.now:
                yield Text(printable(self.now), no_wrap=True, overflow="ellipsis")
            yield from super().get_renderables()

    columns = (TextColumn("{task.description:8}"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[pace]}"))
    begun = time.monotonic()
    with Named(*columns, console=err(), transient=True) as bars:
        clocks: dict[str, _Clock] = {}
        rows: dict[str, Any] = {}

        def progress(stage: str, done: int, of: int | None) -> None:
            name, now = split_stage(stage)
            bars.now = now or bars.now
            if name not in clocks or done < clocks[name].done:  # a stage begins anew for another encoder
                clocks[name] = _Clock(time.monotonic(), done, done)
            clocks[name] = clock = replace(clocks[name], done=done)
            whole = name == WHOLE_RUN
            pace = _pace(clock, time.monotonic(), of, begun if whole else None)
            if name not in rows:
                rows[name] = bars.add_task(name, total=of, pace="")
            # a stage that is over makes room, unless it is the run as a whole
            bars.update(rows[name], completed=done, total=of, pace=pace, visible=whole or done != of)

        yield progress


@dataclass(frozen=True)
class _Clock:
    """When a stage began, with how much done, and how much is done now."""

    started: float
    first: int
    done: int


def _pace(clock: _Clock, now: float, of: int | None, begun: float | None = None) -> str:
    """How fast it is, how long it has taken, and about how long the rest takes, once there is a basis for that.

    ``begun``: when the command began, for the run as a whole, whose cells are too different for a rate: what is left of
    it is said with what is in work.
    """
    elapsed, done = now - clock.started, clock.done - clock.first
    rate = f"{done / elapsed:,.0f}/s, " if begun is None and elapsed >= 1 and done / elapsed >= 1 else ""
    remaining = None if of is None or begun is not None else remaining_seconds(elapsed, done, of - clock.done)
    about = f", about {duration(remaining)} left" if remaining is not None and of != clock.done else ""
    return f"{rate}{duration(elapsed if begun is None else now - begun)}{about}"


def print_symptoms(encoder: str, symptoms: Sequence[tuple[str, str]]) -> None:
    """Print what is wrong with an encoder, or not verified, by code and message, on standard error."""
    for code, message in symptoms:
        err().print(
            f"{'note' if code == 'trust' else 'warning'}: {printable(encoder.removesuffix(':'))}: {printable(message)}",
            markup=False,
        )


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
