"""The summary of a run as tables on the console, in Markdown and LaTeX, and as JSON; and its results as CSV."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from shlex import quote
from typing import TYPE_CHECKING, Any

import msgspec

from sentprobe.console import narrow_out, print_wrapped
from sentprobe.report.answer import answer, answer_note
from sentprobe.report.columns import Column, layer_columns, main_columns
from sentprobe.report.data_errors import data_errors, error_codes
from sentprobe.report.differences import difference_tables
from sentprobe.report.escape import csv_text as as_csv
from sentprobe.report.escape import in_latex, in_markdown, plain
from sentprobe.report.extension import SUMMARY_EXTENSIONS
from sentprobe.report.filters import keeps
from sentprobe.report.human_results import human_tables
from sentprobe.report.layout import Layout, Names, aligned, heading, in_blocks, lay_out, name_width, widths
from sentprobe.report.legend import Seen, failures, legend
from sentprobe.report.missing import missing_line
from sentprobe.report.names import set_names, short_names
from sentprobe.report.types import BaselineComparison, Cell, Summary
from sentprobe.report.variant_tables import variant_tables
from sentprobe.report.verdict import MARK, NOT_SIGNIFICANT
from sentprobe.report.wording import listed
from sentprobe.results.run import Run, to_row
from sentprobe.run.variant import CellText

if TYPE_CHECKING:
    from rich.console import Console

Tables = Sequence[tuple[str, list[Column]]]
"""Tables with their titles."""
NO_RESULTS = "There are no results."


def signatures(summary: Summary) -> list[str]:
    """The signature of every result: encoders, then their other layers, then baselines."""
    cells: list[Cell | None] = [cell for s in summary.sets for cell in s.cells]
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
    shown = [result for result in (*run.results, *run.extras) if keeps(summary, result.cell)]
    rows = [
        _with_verdict(to_row(result), against, codes.get((result.cell.dataset, result.cell.data), ""))
        for result in shown
    ]
    return as_csv([list(rows[0]), *(list(row.values()) for row in rows)]) if rows else ""


def _with_verdict(
    row: dict[str, Any], against: Mapping[str, BaselineComparison | None], audit_errors: str
) -> dict[str, Any]:
    signature = row.pop("signature")
    found = against.get(signature)
    return {
        **row,
        "best_baseline": found and found.baseline,
        "best_baseline_score": found and found.value,
        "verdict": found and found.verdict,
        "verdict_p": found and found.p,
        "audit_errors": audit_errors,
        "signature": signature,
    }


def markdown(summary: Summary, tables: Tables | None = None) -> str:
    """Tables to paste, followed by their legend. The best results of a set are bold; ``tables``: others than these."""

    def cell(words: CellText) -> str:
        text = in_markdown(words.text)
        parts = (f"**{text}**" if words.best else text, words.margin, in_markdown(words.mark), in_markdown(words.note))
        return " ".join(part for part in parts if part)

    lines: list[str] = []
    if errors := data_errors(summary):
        heading, *findings = map(in_markdown, errors)
        lines += [f"**{heading}**", "", *(f"- {line}" for line in findings), ""]
    for title, (head, *rows) in _texts(summary, in_markdown, cell, tables):
        lines += [title, ""] if title else []
        rule = ["---", *("---:" for _ in head[1:])]
        lines += [f"| {' | '.join(row)} |" for row in (head, rule, *rows)]
        lines.append("")
    lines += [f"- {in_markdown(line)}" for line in (_notes(summary) if tables is None else ())]
    return "\n".join(lines) + "\n"


def latex(summary: Summary, tables: Tables | None = None) -> str:
    """Tables for a paper that uses booktabs, with a footnote on the mark; the legend follows as comments."""

    def cell(words: CellText) -> str:
        text = in_latex(words.text)
        mark = f"\\textsuperscript{{{in_latex(words.mark)}}}" if words.mark else ""
        parts = (f"\\textbf{{{text}}}" if words.best else text, in_latex(words.margin) + mark, in_latex(words.note))
        return " ".join(part for part in parts if part)

    lines = ["% \\usepackage{booktabs}"]
    if errors := data_errors(summary):
        heading, *findings = map(in_latex, errors)
        # not a comment, which would be lost in the paper
        lines += [f"\\par{{\\footnotesize\\textbf{{{heading}}} {' '.join(findings)}\\par}}", ""]
    for title, (head, *rows) in _texts(summary, in_latex, cell, tables):
        lines += [f"% {title}"] if title else []
        first, *others = (f"{' & '.join(row)} \\\\" for row in (head, *rows))
        lines += [f"\\begin{{tabular}}{{l{'r' * (len(head) - 1)}}}", "\\toprule", first, "\\midrule", *others]
        lines += ["\\bottomrule", "\\end{tabular}"]
        if any(in_latex(MARK) in text for row in rows for text in row):
            lines.append(f"\\par{{\\footnotesize\\textsuperscript{{{in_latex(MARK)}}} {NOT_SIGNIFICANT}\\par}}")
        lines.append("")
    lines += [f"% {plain(line)}" for line in (_notes(summary) if tables is None else ())]
    return "\n".join(lines) + "\n"


def _notes(summary: Summary) -> list[str]:
    """The legend of a table and what failed, in a line each."""
    return [*(legend(summary) or [NO_RESULTS]), *failures(summary)]


def _texts(
    summary: Summary, escape: Callable[[str], str], cell: Callable[[CellText], str], tables: Tables | None
) -> Iterator[tuple[str, list[list[str]]]]:
    """Each table with its title: a heading, and rows of texts."""
    if not summary.sets:
        return
    own = [("", main_columns(summary).all()), *_more_tables(summary)] if tables is None else tables
    for title, columns in ((f"{title}:" if title else "", columns) for title, columns in own):
        head = [escape(", ".join(column.head)) for column in columns]
        rows = zip(*(map(cell, column.cells) for column in columns), strict=True)
        yield escape(title), [head, *map(list, rows)]


def _more_tables(summary: Summary) -> Iterator[tuple[str, list[Column]]]:
    """The tables that follow the one of results, with their titles."""
    for extension in SUMMARY_EXTENSIONS.parts().values():
        yield from extension.tables(summary)
    yield from difference_tables(summary)
    yield from _layer_tables(summary)
    yield from human_tables(summary)
    if summary.metric == "accuracy":  # which controls and measures are scored by
        yield from variant_tables(summary)


def _layer_tables(summary: Summary) -> Iterator[tuple[str, list[Column]]]:
    for table in summary.layers:
        name = summary.columns[table.column].name
        yield (
            f"Layers of {name} (dev: the one that was best there, and is compared with the baselines)",
            layer_columns(summary, table),
        )


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
    main = main_columns(summary)
    layout = lay_out(main, _short_names(summary), console.width) if summary.sets else Layout([])
    for page in layout.pages:
        if page.title:
            say(page.title, "bold")
        print_columns(console, page.columns)
    for title, (names, *columns) in _more_tables(summary):
        say(title, "bold")
        for block in in_blocks([names], columns, [], console.width):
            print_columns(console, block)
    texts = _texts_of(layout)
    there = {c.encoder for c in summary.baselines if c.encoder in texts}
    seen = Seen(human="human" in texts, bold=console.is_terminal, baselines=frozenset(there))
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


def print_tables(tables: Tables) -> None:
    """Print tables with their titles, no wider than the terminal."""
    console = narrow_out()
    for title, (names, *columns) in tables:
        print_wrapped(console, plain(title), "bold")
        for block in in_blocks([names], columns, [], console.width):
            print_columns(console, block)


def _texts_of(layout: Layout) -> set[str]:
    """The names in headings, in the first column, and beside numbers."""
    columns = [column for page in layout.pages for column in page.columns]
    cells = [text for column in columns for cell in column.cells for text in (cell.text, cell.note)]
    return {*(part for column in columns for part in column.head), *cells}


def _short_names(summary: Summary) -> Names:
    """Names for a narrow table: those of the tasks, where that is enough to tell sets apart."""
    suites = {s.name.rpartition("/")[0] for s in summary.sets}
    names = set_names(summary.sets)
    bare = not any("/" in name for name in names)
    head = f"set of {suites.pop()}" if bare and len(suites) == 1 and "" not in suites else "set"
    return Names(Column([head], [CellText(name) for name in names]), short_names([c.name for c in summary.columns]))


def print_columns(console: Console, columns: Sequence[Column]) -> None:
    """One table and an empty line. Where there is no room, names are folded; numbers are never cut."""
    from rich.table import Table
    from rich.text import Text

    names = name_width(columns, console.width)
    table = Table(box=None, pad_edge=False, header_style="bold", width=names + sum(widths(columns)[1:]))
    for i, column in enumerate(columns):
        head = Text("\n".join(heading(column)))
        table.add_column(head, justify="right" if i else "left", no_wrap=i > 0, overflow="fold", vertical="bottom")
    styled = [
        [Text(text, "bold" if words.best else "") for text, words in zip(aligned(column), column.cells, strict=True)]
        for column in columns
    ]
    for row in zip(*styled, strict=True):
        table.add_row(*row)
    console.print(table, crop=False)
    console.print()
