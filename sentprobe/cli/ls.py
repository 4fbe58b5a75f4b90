"""`sentprobe ls`: what there is, by kind."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Annotated

from cyclopts import Parameter

from sentprobe.cli.listings import LISTINGS, Row

order = 160
group = "Start"

NUMBERS = ("numbers", "vectors", "dimension", "MB", "last written", "sentences", "words")
"""Columns that are aligned to the right."""
HELP = f"What to list: {', '.join(LISTINGS).replace('store', 'store (the vectors kept on this machine)')}."


def ls(what: Annotated[str | None, Parameter(help=HELP)] = None, /) -> int:
    """List the tasks, suites, encoders, probes and other parts there are; without WHAT, the kinds.

    Parts that installed packages offer as entry points are among them.
    """
    print_table(_kinds() if what is None else LISTINGS.get(what).table())
    return 0


def _kinds() -> Iterator[Row]:
    """The lists there are. Rows are not counted: that would load every part, which takes seconds."""
    yield "list", "what is listed"
    for listing in sorted(LISTINGS.parts().values(), key=lambda listing: listing.order):
        yield listing.name, listing.summary


def print_table(texts: Iterable[Row]) -> None:
    """Print a table; the first row is its header."""
    from sentprobe.console import out
    from sentprobe.core.table import Table

    header, *rows = texts
    Table.of_rows(header, rows, texts=[name for name in header if name not in NUMBERS]).print(out())
