"""Everything that the page of a run needs: its summary, and the analyses that follow from it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sonde.report.curves import curves
from sonde.report.error_analysis import error_analysis
from sonde.report.reproduction import reproduction
from sonde.report.summary import summarise
from sonde.report.types import Summary
from sonde.run.folder import Run

if TYPE_CHECKING:
    from sonde.report.correlations import Adjustment


def full_summary(run: Run, *, adjust: Adjustment = "holm", published: bool = False) -> Summary:
    """Summarise a run, with error analysis, curves, correlations, languages, word spaces, reproduction and checks.

    Parameters
    ----------
    run
        The run, or several joined by ``sonde.run.join``.
    adjust
        How the p-values of the correlation matrix are adjusted: holm, bonferroni, bh (Benjamini and Hochberg's false
        discovery rate) or none.
    published
        Also include results that papers printed for other sets.
    """
    from sonde.report.checks import checks
    from sonde.report.correlations import correlations
    from sonde.report.languages import languages
    from sonde.report.word_spaces import word_spaces

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
