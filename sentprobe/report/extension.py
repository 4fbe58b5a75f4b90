"""What other packages, or the lab, add to the summary of a run; a part that fails is left out, with a warning."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeVar

from sentprobe.core.plugins import Kind, part_repr
from sentprobe.core.table import Table
from sentprobe.errors import SentProbeWarning, describe_error, error_location
from sentprobe.report.result_grid import Grid, SetKey
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

    Examples
    --------
    >>> from sentprobe.extend import SummaryExtension
    >>> SummaryExtension(
    ...     name="nothing", summary="adds nothing", analyse=lambda run, summary: summary, tables=lambda summary: (),
    ...     set_errors=lambda run, grid, key, own, notes: None,
    ... )
    SummaryExtension('nothing')
    """

    name: str
    summary: str
    analyse: Callable[[Run, Summary], Summary]
    tables: Callable[[Summary], Iterable[Table]]
    set_errors: Callable[[Run, Grid, SetKey, SetSummary, dict[str, None]], SetErrors | None]
    order: int = 1000

    __repr__ = part_repr


SUMMARY_EXTENSIONS = Kind("summary extension", "sentprobe.report.extensions", SummaryExtension)
"""All extensions, also those that other packages offer as entry points of ``sentprobe.summary_extensions``."""

T = TypeVar("T")


def attempt(what: str, make: Callable[[], T]) -> T | None:
    """What the function returns; None, with a warning, if it fails."""
    try:
        return make()
    except Exception as e:
        warnings.warn(
            SentProbeWarning(f"{what} is left out of the report: {describe_error(e)}{error_location(e)}"), stacklevel=3
        )
        return None
