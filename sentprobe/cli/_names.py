"""The option --names: a file of what tasks, sets and encoders are called."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sentprobe.report.titles import Names
    from sentprobe.report.types import Summary


def read_names(path: Path | None, summary: Summary) -> Names | None:
    """The names of a file, with a warning for each that names nothing in this summary; None: there is no file."""
    if path is None:
        return None
    from sentprobe.console import warn
    from sentprobe.report.titles import Names, unused_names

    names = Names.read(path)
    for line in unused_names(summary, names):
        warn(line)
    return names


def with_names(summary: Summary, path: Path | None) -> Summary:
    """The summary with the names of a file, if there is one."""
    if path is None:
        return summary
    from sentprobe.report.titles import renamed

    return renamed(summary, read_names(path, summary))
