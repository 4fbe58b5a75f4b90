"""What another package, or the lab, adds to the summary of a run of its own: analyses, tables and errors."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from sentprobe.core.plugins import Kind
from sentprobe.core.table import Table
from sentprobe.report.grid import Grid, SetKey
from sentprobe.report.types import SetErrors, SetSummary, Summary
from sentprobe.results.run import Run


@dataclass(frozen=True, kw_only=True)
class SummaryExtension:
    """One extension: one object in one file. Each function gives nothing for runs that it is not about.

    Parameters
    ----------
    name
        What it is about, in a word.
    summary
        The same in a line.
    analyse
        The summary of the page, with the analyses that it adds, and notes on what cannot be read.
    tables
        Tables that follow the one of results.
    set_errors
        The errors on a set that is not scored by accuracy; called with the run, its grid, the set in both, and a
        mapping whose keys are notes on what cannot be read.
    order
        The order of extensions, and of their tables.
    """

    name: str
    summary: str
    analyse: Callable[[Run, Summary], Summary]
    tables: Callable[[Summary], Iterable[Table]]
    set_errors: Callable[[Run, Grid, SetKey, SetSummary, dict[str, None]], SetErrors | None]
    order: int = 1000


SUMMARY_EXTENSIONS = Kind("summary extension", "sentprobe.report.extensions", SummaryExtension)
"""All extensions, also those that other packages offer as entry points of ``sentprobe.summary_extensions``."""
