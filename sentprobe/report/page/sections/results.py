"""Results: the table of sets and encoders, and the heat map."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from sentprobe.report.legend import failures, legend
from sentprobe.report.page.html_table import table, table_csv
from sentprobe.report.page.section import PageData, Section, sibling_file
from sentprobe.report.tables import latex, markdown
from sentprobe.report.verdict import BOLD_NOTE

RESULTS_INTRO = (
    "Rows are sets, columns are systems and how neighbours are retrieved. Colours show how far a score is above (blue) "
    "or below (orange) the baseline copy, which leaves words as they are, if significantly; † and no colour: not "
    "significantly better."
)


def data(page: PageData) -> Mapping[str, object]:
    """The table and its legend; how to read controls is said in their own section."""
    without_controls = replace(page.brief, interpretations={})
    return {"table": table(page.brief), "legend": legend(without_controls), "failures": failures(page.brief)}


def script_data(page: PageData) -> object:
    """The table in the formats that it can be copied in."""
    sets = tuple(replace(s, variants=()) for s in page.summary.sets)
    summary = replace(page.summary, sets=sets, interpretations={})
    return {"copies": {"markdown": markdown(summary), "latex": latex(summary), "csv": table_csv(summary)}}


section = Section(
    name="results",
    order=10,
    title="Results",
    intro="Scores are not comparable across rows, as chance levels differ. Colours show how far a score is above "
    "(blue) or below (orange) the best baseline of its set. No colour: not significant; †: not significantly better. "
    f"{BOLD_NOTE}",
    words_intro=RESULTS_INTRO,
    template=sibling_file(__package__, "results.html"),
    data=data,
    script=sibling_file(__package__, "results.js"),
    script_data=script_data,
)
