"""Warnings on the command line: a line each."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO


@contextmanager
def printed_warnings(damage: bool = True) -> Iterator[None]:
    """Print sentprobe's warnings, a line each; those about damaged runs only if ``damage``: tables list them anyway."""
    from sentprobe.errors import CorruptionWarning, SentProbeWarning

    printed: dict[str, None] = {}
    before = warnings.showwarning

    def show(
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: TextIO | None = None,
        line: str | None = None,
    ) -> None:
        if not issubclass(category, SentProbeWarning):
            before(message, category, filename, lineno, file, line)
        elif (damage or not issubclass(category, CorruptionWarning)) and str(message) not in printed:
            from sentprobe.console import err
            from sentprobe.core.formatting import printable

            printed[str(message)] = None
            err().print(printable(f"warning: {message}"), style="yellow", markup=False, soft_wrap=True)

    with warnings.catch_warnings():
        warnings.simplefilter("always", SentProbeWarning)
        warnings.showwarning = show
        yield
