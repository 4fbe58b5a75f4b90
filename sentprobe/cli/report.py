"""`sentprobe report`: a run, or sets alone, as a page to share, and a run as tables to paste."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Group, Parameter

from sentprobe.cli._options import OUTPUT, TABLES, Jobs, TableOptions, with_options

if TYPE_CHECKING:
    from sentprobe.data.rows import Columns

order = 100
group = "Read"

RUN = Group("For a run", sort_key=10)
SETS = Group("For sets", sort_key=20)

examples = """
The page of a run, in its folder, opened in the browser:
  sentprobe report my-run/ --open
Tables for a paper:
  sentprobe report my-run/ -o table.tex -o table.md
The page of sets, without a run:
  sentprobe report probes/ -o sets.html
"""


@with_options(TableOptions, (TABLES,), before="jobs", leave_out=("target",))
def report(
    path: Path,
    /,
    *further: Path,
    metric: Annotated[str, Parameter(group=RUN)] = "accuracy",
    adjust: Annotated[Literal["holm", "bonferroni", "bh", "none"] | None, Parameter(group=RUN)] = None,
    published: Annotated[bool, Parameter(group=RUN)] = False,
    against: Annotated[str | None, Parameter(group=RUN)] = None,
    margin: Annotated[float | None, Parameter(group=RUN)] = None,
    names: Annotated[Path | None, Parameter(group=RUN)] = None,
    per_class: Annotated[int, Parameter(group=SETS)] = 2,
    seed: Annotated[int, Parameter(group=SETS)] = 0,
    jobs: Jobs = 0,
    out: Annotated[tuple[Path, ...], Parameter(("--out", "-o"), group=OUTPUT)] = (),
    open: Annotated[bool, Parameter(group=OUTPUT)] = False,
    title: Annotated[str | None, Parameter(group=OUTPUT)] = None,
    **options: Any,
) -> int:
    """Write a run, or sets alone, as one self-contained page: tables, charts, errors, and what to be careful about.

    Parameters
    ----------
    path: Path
        A folder that `sentprobe run` wrote; or sets, as for `sentprobe run` (a table may name its columns, as in
        reviews.csv:text=review,label=mood): their sizes, examples, audits and how they were made.
    further: Path
        Further runs, or sets, to be shown together with the first; after runs, folders of MTEB's results on their sets,
        which the page shows beside them.
    metric: str
        What sets are scored by: another metric of predicted classes, in points, that `sentprobe ls metrics` lists, such
        as balanced_accuracy; controls are left out. Default: accuracy, or what the manifest of a set names.
    adjust: str
        For correlations: how p-values are adjusted for multiple testing, holm, bonferroni, bh (Benjamini and Hochberg's
        false discovery rate) or none. Default: holm.
    published: bool
        Also show published results on other sets of the same tasks. Default: only those on exactly these sets.
    against: str
        The published model that differences are from: its name, or a part of it. Default: the best one of each set.
    margin: float
        Of a run of two encoders: the difference in points that does not count; the page says where they are equivalent
        within it. Choose it before you see the results.
    names: Path
        A TOML file of what tasks, sets and encoders are called.
    per_class: int
        Examples of each label. Default: 2.
    seed: int
        Another seed samples other examples. Default: 0.
    jobs: int
        For sets: worker processes; 0 means one per core. Default: 0.
    out: tuple[Path, ...]
        The file to write; may be repeated. The suffix sets the format: .html (the page), .json (all of it as data), and
        of a run .md or .tex (tables), .csv (one line per result). Default: report.html in the folder, and of a run
        summary.json; of a single file, its name with .html, in the current folder.
    open: bool
        Open the page in the browser.
    title: str
        The heading. Default: the name of the folder.
    """
    from sentprobe.cli._options import is_run
    from sentprobe.data.sources import split_columns
    from sentprobe.errors import UsageError
    from sentprobe.exchange.mteb_results import is_mteb_folder
    from sentprobe.results.metric import DEFAULT_METRIC

    mteb = tuple(folder for folder in further if is_mteb_folder(folder))
    further = tuple(folder for folder in further if folder not in mteb)
    runs = [*map(is_run, (path, *further))]
    if any(runs) != all(runs):
        raise UsageError("Name either runs or sets: a page shows the one or the other.")
    columns = TableOptions.taken_from(options)
    if any(runs) or not Path(split_columns(str(path))[0]).exists():
        if columns or per_class != 2 or seed:
            raise UsageError(f"--text, --label, --per-class and --seed are for sets; {path} is a run.")
        return _report_run(path, further, mteb, out, open, title, metric, adjust, published, against, margin, names)
    if adjust or published or against or margin or names or metric != DEFAULT_METRIC:
        raise UsageError(
            f"--metric, --adjust, --published, --against, --margin and --names are for runs; {path} has no run.json. "
            "Leave them out."
        )
    return _report_sets((path, *further), columns, per_class, seed, jobs, out, open, title)


def _report_run(
    run: Path,
    further: tuple[Path, ...],
    mteb: tuple[Path, ...],
    out: tuple[Path, ...],
    open: bool,
    title: str | None,
    metric: str,
    adjust: Literal["holm", "bonferroni", "bh", "none"] | None,
    published: bool,
    against: str | None,
    margin: float | None,
    names: Path | None,
) -> int:
    from dataclasses import replace

    from sentprobe.cli._names import with_names
    from sentprobe.cli._printing import printed_warnings
    from sentprobe.errors import UsageError
    from sentprobe.exchange.mteb_results import mteb_section
    from sentprobe.report.notebook import Report, check_report_suffix
    from sentprobe.report.published import check_published
    from sentprobe.run import Run, join

    if further and not out:
        raise UsageError("Several runs have no folder in common; choose a file to write: -o report.html.")
    files = out or (run / "report.html", run / "summary.json")
    for path in files:
        check_report_suffix(path)
    pages = _pages(files, open)
    if mteb and not pages:
        raise UsageError(f"MTEB's results in {mteb[0]} are shown on the page: add -o report.html.")
    with printed_warnings():
        runs = [Run.load(folder) for folder in (run, *further)]
    report = Report.of(
        join(runs),
        title=title,
        metric=metric,
        adjust=adjust or "holm",
        published=published,
        against=against,
        margin=None if margin is None else margin / 100,
    )
    if mteb:
        report = replace(report, further=(mteb_section(report.summary, mteb),))
    if adjust and report.summary.correlations is None:
        raise UsageError("--adjust is for correlations of probing and transfer tasks, and this run has none.")
    check_published(report.summary, published)
    report = replace(report, summary=with_names(report.summary, names))
    for path in files:
        sys.stdout.write(f"{report.save(path)}\n")
    if open:
        _open(pages[0])
    return 0


def _report_sets(
    paths: tuple[Path, ...],
    columns: Columns | None,
    per_class: int,
    seed: int,
    jobs: int,
    out: tuple[Path, ...],
    open: bool,
    title: str | None,
) -> int:
    """Write the page of sets; one that cannot be read is reported, and named on the page."""
    from sentprobe.console import announce, warn
    from sentprobe.core.arguments import resolve_jobs
    from sentprobe.core.files import write_atomically
    from sentprobe.core.formatting import count_of
    from sentprobe.data.sources import find_sets, split_columns
    from sentprobe.errors import DataError, UsageError
    from sentprobe.report.described_sets import describe_sets
    from sentprobe.report.page.sets import render_sets
    from sentprobe.report.tables import json_of

    if not out and len(paths) > 1:
        raise UsageError("There is no single folder to write to; choose a file: -o sets.html.")
    first = Path(split_columns(str(paths[0]))[0])
    files = out or ((first / "report.html") if first.is_dir() else Path(first.name).with_suffix(".html"),)
    if odd := [path for path in files if path.suffix.lower() not in (".html", ".json")]:
        raise UsageError(f"{odd[0]}: expected the suffix .html or .json; tables are of runs.")
    pages = _pages(files, open)
    try:
        sources = find_sets([str(path) for path in paths], columns, guess=announce)
    except DataError as e:
        raise DataError(f"{paths[0]} is not a run, which would have a run.json; and {e}") from e
    workers = resolve_jobs(jobs)
    announce(f"Reading and auditing {count_of(len(sources), 'set')}; {count_of(workers, 'job')}")
    described = describe_sets(sources, [str(path) for path in paths], examples=per_class, seed=seed, jobs=workers)
    for name, why in described.unread:
        warn(f"not read: {name}: {why}")
    if not described.sets:
        return 1
    for path in files:
        text = render_sets(described, title=title) if path.suffix.lower() == ".html" else json_of(described)
        write_atomically(path, text.encode(errors="backslashreplace"))
        sys.stdout.write(f"{path}\n")
    if open:
        _open(pages[0])
    return 2 if described.unread else 0


def _pages(files: tuple[Path, ...], open: bool) -> list[Path]:
    from sentprobe.errors import UsageError

    pages = [path for path in files if path.suffix.lower() == ".html"]
    if open and not pages:
        raise UsageError("--open opens a page, and none is written: add -o report.html.")
    return pages


def _open(page: Path) -> None:
    import webbrowser

    webbrowser.open(page.resolve().as_uri())
