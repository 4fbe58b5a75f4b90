"""`sentprobe show`: the results of a run, probing sets, a trained encoder, or an alignment."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Group, Parameter

if TYPE_CHECKING:
    from sentprobe.report.filters import Filter

order = 80
group = "Read"

RUN = Group("For a run", sort_key=10)
PAPER = Group("For the table of a paper", sort_key=15)
SETS = Group("For sets", sort_key=20)


def show(
    path: Path,
    /,
    *,
    format: Annotated[Literal["table", "md", "tex", "csv", "json"], Parameter(group=RUN)] = "table",
    metric: Annotated[str, Parameter(group=RUN)] = "accuracy",
    encoder: Annotated[tuple[str, ...], Parameter(("--encoder", "-e"), group=RUN)] = (),
    on: Annotated[tuple[str, ...], Parameter(group=RUN)] = (),
    above: Annotated[bool, Parameter(group=RUN)] = False,
    means: Annotated[bool, Parameter(group=RUN)] = False,
    signatures: Annotated[bool, Parameter(group=RUN)] = False,
    names: Annotated[Path | None, Parameter(group=RUN)] = None,
    paper: Annotated[bool, Parameter(group=PAPER)] = False,
    rows: Annotated[tuple[str, ...], Parameter(group=PAPER)] = (),
    columns: Annotated[tuple[str, ...], Parameter(group=PAPER)] = (),
    width: Annotated[Literal["one", "two"] | None, Parameter(group=PAPER)] = None,
    examples: Annotated[int, Parameter(group=SETS)] = 0,
    baselines: Annotated[bool, Parameter(group=SETS)] = False,
    features: Annotated[int, Parameter(group=SETS)] = 0,
    published: bool = False,
    against: str | None = None,
    task: Annotated[tuple[str, ...], Parameter(("--task", "-t"))] = (),
    language: tuple[str, ...] = (),
    seed: Annotated[int, Parameter(group=SETS)] = 0,
) -> int:
    """Show the results of a run; the sizes or rows of probing sets; the scores of an encoder or alignment by epoch.

    Parameters
    ----------
    path: Path
        A folder that `sentprobe run`, `sentprobe make`, `sentprobe train` or `sentprobe align` wrote.
    format: str
        For an encoder or an alignment, too: table, md (Markdown), tex (LaTeX, with booktabs), csv (one line per
        result or epoch) or json. Default: table.
    metric: str
        accuracy, balanced_accuracy, macro_f1, log2_loss (bits, with calibrated values), log2_loss_calibrated, or
        another metric of predicted classes that `sentprobe ls metrics` lists. Default: accuracy.
    encoder: tuple[str, ...]
        Only the encoders whose name contains this, or matches it as a glob; may be repeated.
    on: tuple[str, ...]
        Only the sets whose name contains this, or matches it as a glob; may be repeated.
    above: bool
        Only the sets on which an encoder is significantly better than the best baseline, and the encoders
        that are so on one of them.
    means: bool
        Print means and standard deviations of tasks over encoders and languages, and how often each encoder is best,
        and nothing else.
    signatures: bool
        Print the signature of every result, for `sentprobe repeat`, and nothing else.
    names: Path
        A TOML file of what tasks, sets and encoders are called.
    paper: bool
        With --format tex: one table with caption, label and legend, and names in words; of the baselines the best one.
    rows: tuple[str, ...]
        The rows of this table, in this order: encoders or sets, by their names or parts of them, or `encoders` or
        `sets` for all; may be repeated. Default: all encoders, if they fit.
    columns: tuple[str, ...]
        The columns of this table, in this order: sets, or encoders where rows are sets; may be repeated.
    width: str
        one or two: this table is as wide as one column of a two-column paper, or as both. Default: the first that it
        fits.
    examples: int
        Random rows to print per class; target or changed words are marked.
    baselines: bool
        Train the baselines and show their scores.
    features: int
        Words to print per class: those that naive Bayes associates most with it.
    published: bool
        Also show published results on other sets of the same tasks. Default: only those on exactly these sets.
    against: str
        Of a run: the published model that differences are from, its name or a part of it. Default: the best one of each
        set.
    task: tuple[str, ...]
        Only the sets of this task; may be repeated.
    language: tuple[str, ...]
        Only the sets in this language, such as fr; may be repeated.
    seed: int
        Another seed samples other rows.
    """
    from sentprobe.cli._options import is_run
    from sentprobe.cli._sets import show_sets
    from sentprobe.core.folders import folder_type_of
    from sentprobe.errors import UsageError
    from sentprobe.report.filters import Filter
    from sentprobe.results.metric import DEFAULT_METRIC

    _check_typed(path, examples, features)
    for_sets = (examples, baselines, features, seed)
    if is_run(path):
        if any(for_sets):
            raise UsageError(f"--examples, --baselines, --features and --seed are for sets; {path} is a run.")
        row_filter = Filter(encoder, on, above, task, language)
        if _is_for_paper(
            paper, format, signatures or means or published or bool(against), bool(rows or columns or width)
        ):
            _show_paper(path, metric, row_filter, names, rows, columns, width)
        else:
            _show_run(path, format, metric, signatures, published, means, against, row_filter, names)
        return 0
    if encoder or on or above or means or against or names or paper:
        raise UsageError(
            f"--encoder, --on, --above, --means, --against, --names and --paper are for runs; {path} has no run.json. "
            "Leave them out."
        )
    folder_type = folder_type_of(path)
    if folder_type is not None and folder_type.show is not None:
        if any((*for_sets, published, task, language, signatures, metric != DEFAULT_METRIC)):
            raise UsageError(f"{path} is {folder_type.title}: the only option for it is --format.")
        folder_type.show(path, format)
        return 0
    if format != "table" or metric != DEFAULT_METRIC or signatures:
        raise UsageError(f"--format, --metric and --signatures are for runs; {path} has no run.json. Leave them out.")
    return show_sets(path, examples, baselines, features, task, language, seed, published)


def _check_typed(path: Path, examples: int, features: int) -> None:
    """Raise UsageError if there is nothing to show, or a number below 0."""
    from sentprobe.errors import UsageError

    for option, count in (("examples", examples), ("features", features)):
        if count < 0:
            raise UsageError(f"--{option} {count}: expected 0 or more.")
    if not path.exists():
        raise UsageError(
            f"There is no file or folder {str(path)!r}; expected what `sentprobe run`, `sentprobe make`, `sentprobe "
            "train` or `sentprobe align` wrote."
        )


def _is_for_paper(paper: bool, format: str, other_options: bool, layout_options: bool) -> bool:
    """Whether the table for a paper is wanted; UsageError if an option has no effect together with another one."""
    from sentprobe.errors import UsageError

    if paper and (format != "tex" or other_options):
        raise UsageError("--paper needs --format tex, without --signatures, --means, --published and --against.")
    if layout_options and not paper:
        raise UsageError("--rows, --columns and --width are for the table of a paper: add --format tex --paper.")
    return paper


def _check_run_options(
    format: str, metric: str, with_signatures: bool, published: bool, means: bool, against: str | None
) -> None:
    """Raise UsageError if an option has no effect together with another one."""
    from sentprobe.errors import UsageError
    from sentprobe.results.metric import DEFAULT_METRIC

    if with_signatures and (format != "table" or metric != DEFAULT_METRIC):
        raise UsageError("--signatures prints signatures and nothing else: leave out --format and --metric.")
    if means and (with_signatures or published or against or format in ("csv", "json")):
        raise UsageError("--means prints two tables (--format table, md or tex), and nothing else.")
    if format == "csv" and metric != DEFAULT_METRIC:
        raise UsageError("--metric is for tables; --format csv has a column for each metric: leave it out.")
    if (published or against) and (format == "csv" or metric != DEFAULT_METRIC or with_signatures):
        option = "--published" if published else "--against"
        raise UsageError(f"{option} is for tables of accuracy: leave out --format csv, --metric and --signatures.")


def _show_run(
    path: Path,
    format: str,
    metric: str,
    with_signatures: bool,
    published: bool,
    means: bool,
    against: str | None,
    row_filter: Filter,
    names: Path | None,
) -> None:
    from sentprobe.cli._names import with_names
    from sentprobe.cli._printing import printed_warnings
    from sentprobe.errors import UsageError
    from sentprobe.report.filters import apply
    from sentprobe.report.overview import overview_tables
    from sentprobe.report.published import check_published, choose_published
    from sentprobe.report.summary import summarise
    from sentprobe.report.tables import (
        csv_text,
        json_text,
        latex,
        markdown,
        print_data_errors,
        print_table,
        signatures,
    )
    from sentprobe.run import Run

    _check_run_options(format, metric, with_signatures, published, means, against)
    as_table = format == "table" and not with_signatures  # the notes below the table list all damage
    with printed_warnings(damage=not as_table):
        run = Run.load(path)
    summary = with_names(apply(summarise(run, metric=metric, published=published), row_filter), names)
    check_published(summary, published)
    if against is not None:
        summary = choose_published(summary, against)
    if with_signatures:
        sys.stdout.write("".join(f"{line}\n" for line in signatures(summary)))
    elif means:
        if not (tables := list(overview_tables(summary))):
            raise UsageError(f"--means needs the results of two encoders or more; {path} has {len(summary.columns)}.")
        if format == "table":
            print_data_errors(summary)
            for table in tables:
                table.print(blank_line=True)
        else:
            sys.stdout.write({"md": markdown, "tex": latex}[format](summary, tables))
    elif format == "table":
        print_table(summary)
    elif format == "csv":
        sys.stdout.write(csv_text(run, summary))
    else:
        sys.stdout.write({"md": markdown, "tex": latex, "json": json_text}[format](summary))


def _show_paper(
    path: Path,
    metric: str,
    row_filter: Filter,
    names: Path | None,
    rows: tuple[str, ...],
    columns: tuple[str, ...],
    width: Literal["one", "two"] | None,
) -> None:
    from sentprobe.cli._names import read_names
    from sentprobe.cli._printing import printed_warnings
    from sentprobe.report.filters import apply
    from sentprobe.report.paper import paper_latex
    from sentprobe.report.summary import summarise
    from sentprobe.run import Run

    with printed_warnings():
        run = Run.load(path)
    summary = apply(summarise(run, metric=metric), row_filter)
    table = paper_latex(summary, read_names(names, summary), rows=rows, columns=columns, width=width)
    sys.stdout.write(table)
