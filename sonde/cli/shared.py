"""What the verbs have in common on the command line."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from sonde.data.records import Columns
    from sonde.encoders.store import Store

STDIN = "<standard input>"
"""What a lone dash becomes before cyclopts sees it, which would take it for an option."""


def parse_columns(
    text: tuple[str, ...], label: str | None, split: str | None, target: str | None, no_header: bool
) -> Columns | None:
    """Which columns of a table are meant, if a table is."""
    from sonde.data.records import Columns
    from sonde.errors import UsageError

    if (split or target or no_header) and not (text and label):
        raise UsageError("--split, --target and --no-header are about tables: give --text and --label too.")
    if bool(text) != bool(label):
        raise UsageError("A table needs both --text and --label.")
    return Columns(text, label, split, target, not no_header) if text and label else None


def open_store(no_store: bool, limit: float | None) -> Store | None:
    """The store, of at most so many gigabytes, or none."""
    from sonde.encoders.store import Store, default_root
    from sonde.errors import UsageError

    if no_store and limit is not None:
        raise UsageError(f"--store-limit {limit:g} has no effect together with --no-store: leave one of them out.")
    if limit is not None and limit < 0:
        raise UsageError(f"--store-limit {limit:g}: expected a number of gigabytes, 0 or more.")
    return None if no_store else Store(default_root(), limit=None if limit is None else int(limit * 1e9))


@contextmanager
def printed_warnings(damage: bool = True) -> Iterator[None]:
    """Print our warnings, a line each; those about damaged runs only if what is shown does not have them anyway."""
    from sonde.errors import CorruptionWarning, SondeWarning

    told: dict[str, None] = {}
    before = warnings.showwarning

    def show(
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: TextIO | None = None,
        line: str | None = None,
    ) -> None:
        if not issubclass(category, SondeWarning):
            before(message, category, filename, lineno, file, line)
        elif (damage or not issubclass(category, CorruptionWarning)) and str(message) not in told:
            from sonde.console import err, printable

            told[str(message)] = None
            err().print(printable(f"warning: {message}"), style="yellow", markup=False, soft_wrap=True)

    with warnings.catch_warnings():
        warnings.simplefilter("always", SondeWarning)
        warnings.showwarning = show
        yield
