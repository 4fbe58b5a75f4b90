"""Everything that the page of a run needs: its summary, and the analyses that follow from it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sentprobe.report.curves import curves
from sentprobe.report.error_analysis import error_analysis
from sentprobe.report.reproduction import reproduction
from sentprobe.report.summary import summarise
from sentprobe.report.types import Summary
from sentprobe.run.folder import Run

if TYPE_CHECKING:
    from sentprobe.report.correlations import Adjustment


def full_summary(run: Run, *, adjust: Adjustment = "holm", published: bool = False) -> Summary:
    """Summarise a run, with error analysis, curves, correlations, languages, word spaces, reproduction and checks.

    Parameters
    ----------
    run
        The run, or several joined by ``sentprobe.run.join``.
    adjust
        How the p-values of the correlation matrix are adjusted: holm, bonferroni, bh (Benjamini and Hochberg's false
        discovery rate) or none.
    published
        Also include results that papers printed for other sets.
    """
    from sentprobe.report.checks import checks
    from sentprobe.report.correlations import correlations
    from sentprobe.report.languages import languages
    from sentprobe.report.word_spaces import word_spaces

    summary = summarise(run, published=published)
    errors, notes = error_analysis(run, summary)
    words, word_notes = word_spaces(run, summary)
    summary = replace(
        summary,
        notes=tuple(dict.fromkeys((*summary.notes, *notes, *word_notes))),
        errors=errors,
        curves=curves(summary),
        correlations=correlations(summary, adjust),
        languages=languages(summary),
        word_spaces=words,
        reproduction=reproduction(run, summary.versions),
    )
    return replace(summary, checks=checks(summary))
