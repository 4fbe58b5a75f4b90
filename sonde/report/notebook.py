"""A report as a value: a table in a notebook, and files of several kinds.

from sonde.report import Report
Report.of(run)                            # the last line of a notebook's cell: shows the table
Report.of(run).save("report.html")        # the whole page; also .json, .md, .tex and .csv
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sonde.data.dataset import write_atomically
from sonde.errors import UsageError
from sonde.report.full_summary import full_summary
from sonde.report.page import fragment, render
from sonde.report.tables import csv_text, json_text, latex, markdown
from sonde.report.types import Summary
from sonde.run.folder import Run

if TYPE_CHECKING:
    from sonde.report.correlations import Adjustment

REPORT_SUFFIXES = (".html", ".json", ".md", ".tex", ".csv")
"""Kinds of files that a report can be saved as."""


@dataclass(frozen=True)
class Report:
    """All there is to say about a run, and ways to say it."""

    run: Run
    summary: Summary
    """Plain data: what every page, table and text is made from."""
    title: str | None = None
    """What stands at the top of the page; None: the name of the run's folder."""

    @classmethod
    def of(cls, run: Run, *, title: str | None = None, adjust: Adjustment = "holm", published: bool = False) -> Report:
        """The report on a run, or on several that ``sonde.run.join`` made one.

        ``adjust`` and ``published`` are those of ``sonde.report.full_summary.whole``.
        """
        return cls(run, full_summary(run, adjust=adjust, published=published), title)

    def html(self) -> str:
        """The whole page as one text, which loads nothing."""
        return render(self.summary, title=self.title)

    def save(self, path: Path | str) -> Path:
        """Write a page (.html), the summary (.json), tables (.md, .tex), or a line per result (.csv)."""
        path = Path(path)
        check_report_suffix(path)
        match path.suffix.lower():
            case ".html":
                text = self.html()
            case ".json":
                text = json_text(self.summary)
            case ".md":
                text = markdown(self.summary)
            case ".tex":
                text = latex(self.summary)
            case ".csv":
                text = csv_text(self.run, self.summary)
            case other:
                raise UsageError(f"{path}: nothing is written as {other}.")
        write_atomically(path, text.encode(errors="backslashreplace"))
        return path

    def _repr_html_(self) -> str:
        return fragment(self.summary, title=self.title)


def check_report_suffix(path: Path) -> None:
    """Say so if a file's ending is none that a report can be saved as."""
    if path.suffix.lower() not in REPORT_SUFFIXES:
        raise UsageError(
            f"{path} has {f'the ending {path.suffix}' if path.suffix else 'no ending'}; expected one of "
            f"{', '.join(REPORT_SUFFIXES)}, which says what to write."
        )
