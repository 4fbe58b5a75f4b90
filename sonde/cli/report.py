"""`sonde report`: a run as a page to share, and as tables to paste."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

order = 100


def report(
    run: Path,
    /,
    *more: Path,
    out: Annotated[tuple[Path, ...], Parameter(("--out", "-o"))] = (),
    open: bool = False,
    title: str | None = None,
    adjust: Literal["holm", "bonferroni", "bh", "none"] | None = None,
    published: bool = False,
) -> int:
    """Write the results of a run as one self-contained page: tables, charts, errors, and what to be careful about.

    Parameters
    ----------
    run: Path
        A folder that `sonde run` wrote.
    more: Path
        Further runs, to be shown together with the first.
    out: tuple[Path, ...]
        The file to write; may be repeated. The suffix sets the format: .html (the page), .json (all of it as data),
        .md or .tex (tables), .csv (one line per result). Default: report.html and summary.json in the run.
    open: bool
        Open the page in the browser.
    title: str
        The heading. Default: the name of the folder.
    adjust: str
        For correlations: how p-values are adjusted for multiple testing, holm, bonferroni, bh (Benjamini and Hochberg's
        false discovery rate) or none. Default: holm.
    published: bool
        Also show published results on other sets of the same tasks. Default: only those on exactly these sets.
    """
    from sonde.cli._warnings import printed_warnings
    from sonde.errors import UsageError
    from sonde.report.notebook import Report, check_report_suffix
    from sonde.report.published_results import check_published
    from sonde.run import Run, join

    if more and not out:
        raise UsageError("Several runs have no folder in common; choose a file to write: -o report.html.")
    files = out or (run / "report.html", run / "summary.json")
    for path in files:
        check_report_suffix(path)
    pages = [path for path in files if path.suffix.lower() == ".html"]
    if open and not pages:
        raise UsageError("--open opens a page, and none is written: add -o report.html.")
    with printed_warnings():
        runs = [Run.load(folder) for folder in (run, *more)]
    found = Report.of(join(runs), title=title, adjust=adjust or "holm", published=published)
    if adjust and found.summary.correlations is None:
        raise UsageError("--adjust is for correlations of probing and transfer tasks, and this run has none.")
    check_published(found.summary, published)
    for path in files:
        sys.stdout.write(f"{found.save(path)}\n")
    if open:
        import webbrowser

        webbrowser.open(pages[0].resolve().as_uri())
    return 0
