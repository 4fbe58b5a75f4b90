"""Everything that the page of a run needs: its summary, and the analyses that follow from it."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from sentprobe.report.attempt import attempt
from sentprobe.report.curves import curves
from sentprobe.report.error_analysis import error_analysis
from sentprobe.report.extension import SUMMARY_EXTENSIONS
from sentprobe.report.reproduction import reproduction
from sentprobe.report.summary import summarise
from sentprobe.report.types import Summary
from sentprobe.results.run import Run

if TYPE_CHECKING:
    from sentprobe.report.correlations import Adjustment


def full_summary(run: Run, *, adjust: Adjustment = "holm", published: bool = False) -> Summary:
    """Summarise a run, with error analysis, curves, correlations, languages, reproduction, extensions and checks.

    Parameters
    ----------
    run
        The run, or several joined by ``sentprobe.results.run``.
    adjust
        How the p-values of the correlation matrix are adjusted: holm, bonferroni, bh (Benjamini and Hochberg's false
        discovery rate) or none.
    published
        Also include results that papers printed for other sets.
    """
    from sentprobe.report.checks import checks
    from sentprobe.report.correlations import correlations
    from sentprobe.report.languages import languages

    summary = summarise(run, published=published)
    errors, notes = error_analysis(run, summary)
    summary = replace(
        summary,
        notes=tuple(dict.fromkeys((*summary.notes, *notes))),
        errors=errors,
        curves=curves(summary),
        correlations=correlations(summary, adjust),
        languages=languages(summary),
        reproduction=reproduction(run, summary.versions),
    )
    for extension in SUMMARY_EXTENSIONS.parts().values():
        summary = attempt(f"The extension {extension.name}", partial(extension.analyse, run, summary)) or summary
    return replace(summary, checks=checks(summary))
