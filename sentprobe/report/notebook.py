"""A report as a value: a table in a notebook, and files in several formats."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sentprobe.core.arguments import StrOrPath
from sentprobe.core.files import write_atomically
from sentprobe.core.table import plain
from sentprobe.errors import UsageError
from sentprobe.report.figure import FigureOptions, draw
from sentprobe.report.page import fragment, render
from sentprobe.report.page.section import Section
from sentprobe.report.published import choose_published
from sentprobe.report.summary import full_summary
from sentprobe.report.tables import csv_text, json_text, latex, markdown
from sentprobe.report.titles import renamed
from sentprobe.report.types import Summary
from sentprobe.results.metric import DEFAULT_METRIC
from sentprobe.results.run import Run

if TYPE_CHECKING:
    import altair

    from sentprobe.report.correlations import Adjustment

REPORT_SUFFIXES = (".html", ".json", ".md", ".tex", ".csv")
"""Formats of reports."""


@dataclass(frozen=True, repr=False)
class Report:
    """The report on a run: its summary, and ways to show it.

    As the last expression of a notebook's cell it shows the table of results.

    Parameters
    ----------
    run
        The run.
    summary
        Everything that is shown of it, from which pages, tables and files are written. ``Report.of`` computes it.
    title
        The title of the page; None: the name of the run's folder.
    further
        More sections of the page, about what is not in the run.

    Examples
    --------
    >>> import tempfile
    >>> from sentprobe import Dataset, Example, Report, evaluate
    >>> texts = [("one", "a cat sat"), ("many", "cats sat")] * 20
    >>> rows = [Example(label, tuple(text.split()), text) for label, text in texts]
    >>> data = Dataset("number", "number", 1, "en", ("many", "one"), {"tr": rows, "va": rows, "te": rows})
    >>> folder = tempfile.TemporaryDirectory()
    >>> run = evaluate("baseline:words", data, folder.name, baselines=(), resample=0)
    >>> report = Report.of(run, title="Number")
    >>> report
    <Report 'Number': 1 encoder on 1 set>
    >>> report.summary.sets[0].cells[0].accuracy
    1.0
    >>> report.save(f"{folder.name}/report.md").name
    'report.md'
    >>> folder.cleanup()
    """

    run: Run
    summary: Summary
    title: str | None = None
    further: tuple[Section, ...] = ()

    @classmethod
    def of(
        cls,
        run: Run,
        *,
        title: str | None = None,
        metric: str = DEFAULT_METRIC,
        adjust: Adjustment = "holm",
        published: bool = False,
        against: str | None = None,
        names: StrOrPath | None = None,
        margin: float | None = None,
    ) -> Report:
        """Summarise a run, or several that ``sentprobe.results.run`` joined.

        Parameters
        ----------
        run
            The run.
        title
            The title of the page. Default: the name of the run's folder.
        metric
            What every set is scored by, such as balanced_accuracy. Default: by what its manifest or its results name.
        adjust
            How the p-values of correlations are adjusted: holm, bonferroni, bh (Benjamini and Hochberg's false
            discovery rate) or none.
        published
            Also show results that papers printed for other sets of the same tasks.
        against
            The published model that differences are from. Default: the best one of each set.
        names
            A TOML file of what tasks, sets and encoders are called.
        margin
            For two encoders: the difference that does not count, as a share, such as 0.02 for two points. The page says
            where they are equivalent within it. Choose it before you see the results.
        """
        summary = full_summary(run, metric=metric, adjust=adjust, published=published)
        if margin is not None:
            summary = replace(summary, margin=checked_margin(margin, summary))
        summary = summary if against is None else choose_published(summary, against)
        return cls(run, renamed(summary, names), title)

    def __repr__(self) -> str:
        encoders, sets = len(self.summary.columns), len(self.summary.sets)
        name = self.title if self.title is not None else Path(self.summary.folder).name
        counts = f"{encoders} encoder{'s' * (encoders != 1)} on {sets} set{'s' * (sets != 1)}"
        return f"<Report {plain(name)!r}: {counts}>"

    def html(self) -> str:
        """The page as one HTML text, which loads nothing."""
        return render(self.summary, title=self.title, further=self.further)

    def chart(self, kind: str, **options: Any) -> altair.TopLevelMixin:
        """A figure of the run as a chart of Altair, which notebooks show.

        Parameters
        ----------
        kind
            The name of a chart: heatmap, intervals, profiles, … (`sentprobe ls charts`).
        options
            As for ``write_figure``: ``width``, ``sets``, ``encoders``, ``mode``, ``lines``, ``names``.

        Raises
        ------
        NotInstalled
            If Altair is not installed.
        """
        return draw(self.summary, kind, FigureOptions(**options)).altair()

    def save(self, path: Path | str) -> Path:
        """Write the report to a file, in the format that its suffix names.

        Parameters
        ----------
        path
            A page (.html), the summary (.json), tables (.md, .tex), or a line per result (.csv).

        Returns
        -------
        Path
            The file.

        Raises
        ------
        UsageError
            If the suffix is none of these.
        """
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
                raise UsageError(f"{path}: a report cannot be written as {other}.")
        write_atomically(path, text.encode(errors="backslashreplace"))
        return path

    def _repr_html_(self) -> str:
        return fragment(self.summary, title=self.title)


def check_report_suffix(path: Path) -> None:
    """Raise UsageError if a report cannot be written in the format that a file's suffix names."""
    if path.suffix.lower() not in REPORT_SUFFIXES:
        raise UsageError(
            f"{path}: expected one of the suffixes {', '.join(REPORT_SUFFIXES)}, which name the format, got "
            f"{path.suffix or 'none'}."
        )


def checked_margin(margin: float, summary: Summary) -> float:
    """The margin; UsageError if it cannot be one, or if there are no two encoders that it could be about."""
    if not 0 < margin < 1:
        raise UsageError(f"A margin of {margin:g}: expected a share above 0 and below 1, such as 0.02 for two points.")
    if not any(s.pair for s in summary.sets):
        raise UsageError(
            "A margin is for two encoders that are compared with each other; this run has "
            f"{len({column.encoder for column in summary.columns})}. `sentprobe compare` takes any two of a run."
        )
    return margin
