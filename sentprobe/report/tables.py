"""The summary of a run as tables on the console, in Markdown and LaTeX, and as JSON; and its results as CSV."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from shlex import quote
from typing import Any

import msgspec

from sentprobe.console import narrow_out, print_wrapped
from sentprobe.core.table import Table, TableColumn, in_latex, in_markdown, plain
from sentprobe.core.table import csv_text as as_csv
from sentprobe.errors import SentProbeError
from sentprobe.report.answer import answer, answer_note
from sentprobe.report.extension import SUMMARY_EXTENSIONS
from sentprobe.report.filters import keeps
from sentprobe.report.human_results import human_tables
from sentprobe.report.legend import Seen, failures, legend
from sentprobe.report.names import listed, set_names, short_names
from sentprobe.report.published import difference_table
from sentprobe.report.recipes import recipe_tables
from sentprobe.report.result_grid import missing_line
from sentprobe.report.score_table import ShortNames, TableLayout, lay_out, layer_table, score_table
from sentprobe.report.set_summary import data_errors, error_codes
from sentprobe.report.types import BaselineComparison, CellSummary, Summary
from sentprobe.report.variants import variant_tables
from sentprobe.report.verdict import MARK, NOT_SIGNIFICANT
from sentprobe.results.metric import DEFAULT_METRIC, metric_named, table_metrics
from sentprobe.results.result import Result
from sentprobe.results.run import SCORES, Run, to_row
from sentprobe.results.scores import applies, class_score

NO_RESULTS = "There are no results."


def signatures(summary: Summary) -> list[str]:
    """The signature of every result: encoders, then their other layers, then baselines."""
    cells: list[CellSummary | None] = [cell for s in summary.sets for cell in s.cells]
    cells += [cell for table in summary.layers for row in table.cells for cell in row]
    cells += [cell for s in summary.sets for cell in s.baselines]
    return list(dict.fromkeys(line for cell in cells if cell is not None for line in cell.signatures))


def json_text(summary: Summary) -> str:
    """The full summary, as ``docs/summary.schema.json`` describes it."""
    return json_of(summary)


def json_of(value: object) -> str:
    """A frozen value as JSON."""
    # not msgspec's own encoder, which fails on lone surrogates and writes null for NaN
    return json.dumps(msgspec.to_builtins(value, str_keys=True), indent=2, allow_nan=False) + "\n"


def csv_text(run: Run, summary: Summary) -> str:
    """One line per result of what the summary shows, with every layer, seed, control and measure, the signature last.

    The best baseline and the verdict are given for the results in the table of sets: those of the layer that dev chose,
    all seeds together. ``audit_errors`` has the codes of the errors in the set.
    """
    cells = [cell for s in summary.sets for cell in s.cells if cell is not None]
    against = {line: cell.against for cell in cells for line in cell.signatures}
    codes = {(s.name, s.data): error_codes(s) for s in summary.sets}
    results = [result for result in (*run.results, *run.extras) if keeps(summary, result.cell)]
    rows = [
        _with_verdict(
            to_row(result, run.recipes) | _class_scores(run, result),
            against,
            codes.get((result.cell.dataset, result.cell.data), ""),
        )
        for result in results
    ]
    return as_csv([list(rows[0]), *(list(row.values()) for row in rows)]) if rows else ""


def _class_scores(run: Run, result: Result) -> dict[str, float | None]:
    """The scores by metrics of predicted classes that results do not record; None for controls and measures."""
    scores: dict[str, float | None] = {}
    for name in table_metrics():
        metric = metric_named(name)
        if name in (DEFAULT_METRIC, *SCORES) or not {"predicted", "truth"}.issuperset(metric.needs):
            continue
        scores[name] = None
        with suppress(SentProbeError):  # predictions that cannot be read
            if result.cell.variant is None and applies(metric, result):
                scores[name] = class_score(run, result, metric)
    return scores


def _with_verdict(
    row: dict[str, Any], against: Mapping[str, BaselineComparison | None], audit_errors: str
) -> dict[str, Any]:
    signature = row.pop("signature")
    comparison = against.get(signature)
    return {
        **row,
        "best_baseline": comparison and comparison.baseline,
        "best_baseline_score": comparison and comparison.value,
        "verdict": comparison and comparison.verdict,
        "verdict_p": comparison and comparison.p,
        "audit_errors": audit_errors,
        "signature": signature,
    }


def markdown(summary: Summary, tables: Iterable[Table] | None = None) -> str:
    """Tables to paste, followed by their legend. The best results of a set are bold; ``tables``: others than these."""
    lines: list[str] = []
    if errors := data_errors(summary):
        heading, *findings = map(in_markdown, errors)
        lines += [f"**{heading}**", "", *(f"- {line}" for line in findings), ""]
    for table in all_tables(summary) if tables is None else tables:
        lines += [f"{in_markdown(table.title)}:", ""] if table.title else []
        lines += [*table.markdown(), ""]
    lines += [f"- {in_markdown(line)}" for line in (_notes(summary) if tables is None else ())]
    return "\n".join(lines) + "\n"


def latex(summary: Summary, tables: Iterable[Table] | None = None) -> str:
    """Tables for a paper that uses booktabs, with a footnote on the mark; the legend follows as comments."""
    lines = ["% \\usepackage{booktabs}"]
    if errors := data_errors(summary):
        heading, *findings = map(in_latex, errors)
        # not a comment, which would be lost in the paper
        lines += [f"\\par{{\\footnotesize\\textbf{{{heading}}} {' '.join(findings)}\\par}}", ""]
    for table in all_tables(summary) if tables is None else tables:
        lines += [f"% {in_latex(table.title)}:"] if table.title else []
        lines += table.latex()
        if any(MARK in "".join(cell[:4]) for row in table.rows for cell in row):
            lines.append(f"\\par{{\\footnotesize\\textsuperscript{{{in_latex(MARK)}}} {NOT_SIGNIFICANT}\\par}}")
        lines.append("")
    lines += [f"% {plain(line)}" for line in (_notes(summary) if tables is None else ())]
    return "\n".join(lines) + "\n"


def _notes(summary: Summary) -> list[str]:
    """The legend of a table and what failed, in a line each."""
    return [*(legend(summary) or [NO_RESULTS]), *failures(summary)]


def all_tables(summary: Summary) -> Iterator[Table]:
    """The table of results, and those that follow it; none without sets."""
    if summary.sets:
        yield score_table(summary).table()
        yield from _further_tables(summary)


def _further_tables(summary: Summary) -> Iterator[Table]:
    """The tables that follow the one of results."""
    for extension in SUMMARY_EXTENSIONS.parts().values():
        yield from extension.tables(summary)
    if (differences := difference_table(summary)) is not None:
        yield differences
    yield from recipe_tables(summary)
    yield from (layer_table(summary, layers) for layers in summary.layers)
    yield from human_tables(summary)
    if summary.by_set_metric:  # which controls and measures are scored by
        yield from variant_tables(summary)


# On the console


def print_table(summary: Summary) -> None:
    """Print what a run says in a sentence or two, its tables, and their legend, no wider than the terminal.

    In a pipe the width is what ``COLUMNS`` says, or 80. Where there is no room for all encoders, there are several
    tables, of encoders or of sets, but never a part of a number.
    """
    console = narrow_out()

    def say(line: str, style: str = "dim") -> None:
        print_wrapped(console, plain(line), style)

    if not summary.sets and not summary.notes:
        say(NO_RESULTS, "")
    if line := missing_line(summary):
        say(f"Incomplete: {line}", "yellow")
    print_data_errors(summary)
    if sentences := answer(summary):
        for sentence in sentences:
            say(sentence, "")
        say(answer_note(summary))
        console.print()
    main = score_table(summary)
    layout = lay_out(main, _short_names(summary), console.width) if summary.sets else TableLayout([])
    for table in layout.tables:
        table.print(console, blank_line=True)
    for table in _further_tables(summary):
        table.print(console, blank_line=True)
    texts = _texts_of(layout)
    baselines = {c.encoder for c in summary.baselines if c.encoder in texts}
    seen = Seen(human="human" in texts, bold=console.is_terminal, baselines=frozenset(baselines))
    for line in legend(summary, seen):
        say(line)
    if layout.dropped:
        say(f"There is no room for {listed(layout.dropped)}: --format md shows everything.")
    for line in failures(summary):
        say(line, "yellow")
    if summary.sets:
        console.print(
            f"Signatures: sentprobe show {plain(quote(summary.folder))} --signatures", style="dim", soft_wrap=True
        )


def print_data_errors(summary: Summary) -> None:
    """Print the errors that audits found in the sets, above their scores; nothing if there are none."""
    if errors := data_errors(summary):
        console = narrow_out()
        heading, *findings = errors
        print_wrapped(console, plain(heading), "bold red")
        for line in findings:
            print_wrapped(console, plain(f"  {line}"), "red")
        console.print()


def _texts_of(layout: TableLayout) -> set[str]:
    """The names in headings, in the first column, and beside numbers."""
    columns = [column for table in layout.tables for column in table.columns]
    cells = [text for column in columns for cell in column.cells for text in (cell.text, cell.note)]
    return {*(part for column in columns for part in column.heading), *cells}


def _short_names(summary: Summary) -> ShortNames:
    """Names for a narrow table: those of the tasks, where that is enough to tell sets apart."""
    suites = {s.name.rpartition("/")[0] for s in summary.sets}
    names = set_names(summary.sets)
    bare = not any("/" in name for name in names)
    head = f"set of {suites.pop()}" if bare and len(suites) == 1 and "" not in suites else "set"
    return ShortNames(TableColumn([head], names, "left"), short_names([c.name for c in summary.columns]))
