"""Results: the table of sets and encoders, and the heat map."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from sentprobe.core.table import LATEX_ESCAPES, MARKDOWN_SPECIAL
from sentprobe.report.legend import failures, legend
from sentprobe.report.page.html_table import table
from sentprobe.report.page.section import PageData, Section, sibling_file

RESULTS_INTRO = (
    "Rows are sets, columns are systems and how their vectors are compared. Colours show how far a score is above "
    "(blue) or below (orange) the best baseline, if significantly; † and no colour: not significantly better."
)


LEAST_FILTERED = 6
"""Sets or encoders from which on a field filters them: fewer are seen at a glance."""


def data(page: PageData) -> Mapping[str, object]:
    """The table and its legend; how to read controls is said in their own section."""
    without_controls = replace(page.brief, interpretations={})
    cells = [cell for s in page.brief.sets for cell in s.cells if cell is not None]
    return {
        "table": table(page.brief),
        "legend": legend(without_controls),
        "failures": failures(page.brief),
        "coded": any(cell.letters or cell.best for cell in cells),
        "least_filtered": LEAST_FILTERED,
    }


def script_data(page: PageData) -> object:
    """What has a meaning in the formats that the table can be copied in."""
    return {"escapes": {"latex": LATEX_ESCAPES, "markdown": MARKDOWN_SPECIAL}}


section = Section(
    name="results",
    order=10,
    title="Results",
    intro="Colours show how far a score is above (blue) or below (orange) the best baseline of its set, since chance "
    "levels differ. No colour: not significant; †: not significantly better.",
    words_intro=RESULTS_INTRO,
    template=sibling_file(__package__, "results.html"),
    data=data,
    script="".join(sibling_file(__package__, name) for name in ("results.js", "copies.js")),
    script_data=script_data,
)
