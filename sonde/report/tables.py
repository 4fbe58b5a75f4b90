"""The summary of a run as tables on the console, in Markdown and LaTeX, and as JSON; and its results as CSV."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from shlex import quote
from typing import TYPE_CHECKING, Any

import msgspec

from sonde.console import out
from sonde.report.columns import Column, MainTable, layer_columns, main_columns
from sonde.report.escape import csv_text as as_csv
from sonde.report.escape import in_latex, in_markdown, plain
from sonde.report.legend import failures, legend
from sonde.report.types import BaselineComparison, Cell, Summary
from sonde.report.variant_tables import variant_tables
from sonde.report.verdict import MARK, NOT_SIGNIFICANT
from sonde.report.word_tables import word_tables
from sonde.run.folder import Run, to_row
from sonde.run.variant import CellText

if TYPE_CHECKING:
    from rich.console import Console

MAX_HEADING_WIDTH = 16
"""Characters of a heading in one line, unless the numbers below it take more."""
MIN_NAME_WIDTH = 12
"""Characters of a name in one line, at least."""
NO_RESULTS = "There are no results."


def signatures(summary: Summary) -> list[str]:
    """The signature of every result: encoders, then their other layers, then baselines."""
    cells: list[Cell | None] = [cell for s in summary.sets for cell in s.cells]
    cells += [cell for table in summary.layers for row in table.cells for cell in row]
    cells += [cell for s in summary.sets for cell in s.baselines]
    return list(dict.fromkeys(line for cell in cells if cell is not None for line in cell.signatures))


def json_text(summary: Summary) -> str:
    """The full summary, as ``docs/summary.schema.json`` describes it."""
    # not msgspec's own encoder, which fails on lone surrogates and writes null for NaN
    return json.dumps(msgspec.to_builtins(summary, str_keys=True), indent=2, allow_nan=False) + "\n"


def csv_text(run: Run, summary: Summary) -> str:
    """One line per result, with every layer, seed, control and measure, the signature last.

    The best baseline and the verdict are given for the results in the table of sets: those of the layer that dev chose,
    all seeds together.
    """
    cells = [cell for s in summary.sets for cell in s.cells if cell is not None]
    against = {line: cell.against for cell in cells for line in cell.signatures}
    rows = [_with_verdict(to_row(result), against) for result in (*run.results, *run.extras)]
    return as_csv([list(rows[0]), *(list(row.values()) for row in rows)]) if rows else ""


def _with_verdict(row: dict[str, Any], against: Mapping[str, BaselineComparison | None]) -> dict[str, Any]:
    signature = row.pop("signature")
    found = against.get(signature)
    return {
        **row,
        "best_baseline": found and found.baseline,
        "best_baseline_score": found and found.value,
        "verdict": found and found.verdict,
        "verdict_p": found and found.p,
        "signature": signature,
    }


def markdown(summary: Summary) -> str:
    """Tables to paste, followed by their legend. The best results of a set are bold."""

    def cell(words: CellText) -> str:
        text = in_markdown(words.text)
        parts = (f"**{text}**" if words.best else text, words.margin, in_markdown(words.mark), in_markdown(words.note))
        return " ".join(part for part in parts if part)

    lines: list[str] = []
    for title, (head, *rows) in _texts(summary, in_markdown, cell):
        lines += [title, ""] if title else []
        rule = ["---", *("---:" for _ in head[1:])]
        lines += [f"| {' | '.join(row)} |" for row in (head, rule, *rows)]
        lines.append("")
    lines += [f"- {in_markdown(line)}" for line in _notes(summary)]
    return "\n".join(lines) + "\n"


def latex(summary: Summary) -> str:
    """Tables for a paper that uses booktabs, with a footnote on the mark; the legend follows as comments."""

    def cell(words: CellText) -> str:
        text = in_latex(words.text)
        mark = f"\\textsuperscript{{{in_latex(words.mark)}}}" if words.mark else ""
        parts = (f"\\textbf{{{text}}}" if words.best else text, in_latex(words.margin) + mark, in_latex(words.note))
        return " ".join(part for part in parts if part)

    lines = ["% \\usepackage{booktabs}"]
    for title, (head, *rows) in _texts(summary, in_latex, cell):
        lines += [f"% {title}"] if title else []
        first, *others = (f"{' & '.join(row)} \\\\" for row in (head, *rows))
        lines += [f"\\begin{{tabular}}{{l{'r' * (len(head) - 1)}}}", "\\toprule", first, "\\midrule", *others]
        lines += ["\\bottomrule", "\\end{tabular}"]
        if any(in_latex(MARK) in text for row in rows for text in row):
            lines.append(f"\\par{{\\footnotesize\\textsuperscript{{{in_latex(MARK)}}} {NOT_SIGNIFICANT}\\par}}")
        lines.append("")
    lines += [f"% {plain(line)}" for line in _notes(summary)]
    return "\n".join(lines) + "\n"


def _notes(summary: Summary) -> list[str]:
    """The legend of a table and what failed, in a line each."""
    return [*(legend(summary) or [NO_RESULTS]), *failures(summary)]


def _texts(
    summary: Summary, escape: Callable[[str], str], cell: Callable[[CellText], str]
) -> Iterator[tuple[str, list[list[str]]]]:
    """Each table with its title: a heading, and rows of texts."""
    if not summary.sets:
        return
    tables = [("", main_columns(summary).all())]
    tables += [(f"{title}:", columns) for title, columns in _more_tables(summary)]
    for title, columns in tables:
        head = [escape(", ".join(column.head)) for column in columns]
        rows = zip(*(map(cell, column.cells) for column in columns), strict=True)
        yield escape(title), [head, *map(list, rows)]


def _more_tables(summary: Summary) -> Iterator[tuple[str, list[Column]]]:
    """The tables that follow the one of results, with their titles."""
    yield from word_tables(summary)
    yield from _layer_tables(summary)
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
    """Print the table of results, those of layers, controls and measures, and the legend.

    A narrow terminal gets fewer columns, then several tables, but never a part of a number.
    """
    console = out()

    def say(line: str, style: str = "dim") -> None:
        console.print(plain(line), style=style, markup=False, soft_wrap=True)

    if not summary.sets:
        say(NO_RESULTS, "")
    main = main_columns(summary)
    blocks, complete = _main_blocks(main, console.width) if summary.sets else ([], True)
    for block in blocks:
        _print_columns(console, block)
    for title, (names, *columns) in _more_tables(summary):
        say(title, "bold")
        for block in _blocks(names, columns, [], console.width):
            _print_columns(console, block)
    for line in legend(summary, human=any(column in block for block in blocks for column in main.human)):
        say(line)
    if not complete:
        say("Not all columns fit; --format md has them.")
    for line in failures(summary):
        say(line, "yellow")
    if summary.sets:
        say(f"Signatures: sonde show {quote(summary.folder)} --signatures")


def _main_blocks(main: MainTable, width: int) -> tuple[list[list[Column]], bool]:
    """Tables that fit, and whether they have everything."""
    bare = [column.without_margin() for column in main.baselines]
    few = ([*main.baselines, *main.human], main.baselines, bare, [*main.best_baseline, *main.human], main.best_baseline)
    for i, baselines in enumerate(few):
        columns = [main.names, main.test_size, *main.encoders, *baselines]
        if sum(_widths(columns)) <= width:
            return [columns], i == 0
    apart = any(_folded_width([main.names, column, *main.best_baseline], width) > width for column in main.encoders)
    if apart:
        return list(_blocks(main.names, [*main.encoders, *main.best_baseline], [], width)), False
    return list(_blocks(main.names, main.encoders, main.best_baseline, width)), False


def _blocks(names: Column, columns: Sequence[Column], last: Sequence[Column], width: int) -> Iterator[list[Column]]:
    """As many columns at a time as fit, each time with the names and the last columns."""
    block: list[Column] = []
    for column in columns:
        if block and _folded_width([names, *block, column, *last], width) > width:
            yield [names, *block, *last]
            block = []
        block.append(column)
    yield [names, *block, *last]


def _folded_width(columns: Sequence[Column], width: int) -> int:
    """The width of columns side by side if long names are folded."""
    names, *others = _widths(columns)
    return min(names, max(MIN_NAME_WIDTH, width // 3)) + sum(others)


def _print_columns(console: Console, columns: Sequence[Column]) -> None:
    """One table and an empty line. Where there is no room, names are folded; numbers are never cut."""
    from rich.table import Table
    from rich.text import Text

    names, *others = _widths(columns)
    names = min(names, max(MIN_NAME_WIDTH, console.width - sum(others)))
    table = Table(box=None, pad_edge=False, header_style="bold", width=names + sum(others))
    for i, column in enumerate(columns):
        head = Text("\n".join(_heading(column)))
        table.add_column(head, justify="right" if i else "left", no_wrap=i > 0, overflow="fold", vertical="bottom")
    styled = [
        [Text(text, "bold" if words.best else "") for text, words in zip(_aligned(column), column.cells, strict=True)]
        for column in columns
    ]
    for row in zip(*styled, strict=True):
        table.add_row(*row)
    console.print(table, crop=False)
    console.print()


def _widths(columns: Sequence[Column]) -> list[int]:
    """Characters that each column takes, with the two between it and the one before."""
    from rich.cells import cell_len

    own = (max(map(cell_len, (*_heading(column), *_aligned(column)))) for column in columns)
    return [width + 2 * (i > 0) for i, width in enumerate(own)]


def _aligned(column: Column) -> list[str]:
    """The cells of a column, with numbers and marks aligned."""
    from rich.cells import cell_len, set_cell_size

    rows = [[plain(part) for part in words[:4]] for words in column.cells]
    widths = [max(map(cell_len, parts)) for parts in zip(*rows, strict=True)]
    if not any(widths[1:]):
        return [row[0] for row in rows]
    lines = []
    for row in rows:
        numbers = [part.rjust(width) for part, width in zip(row[:2], widths[:2], strict=True) if width]
        marks = [set_cell_size(part, width) for part, width in zip(row[2:], widths[2:], strict=True) if width]
        lines.append(" ".join((*numbers, *marks)))
    return lines


def _heading(column: Column) -> list[str]:
    """The lines of a heading: each part on its own, those that are too long broken after a sign such as / or -."""
    from rich.cells import cell_len, chop_cells

    room = max(MAX_HEADING_WIDTH, *map(cell_len, _aligned(column)))
    lines: list[str] = []
    for part in map(plain, column.head):
        lines.append("")
        for piece in re.findall(r"[^/\-_:?&,@ ]*[/\-_:?&,@ ]|[^/\-_:?&,@ ]+", part):
            for bit in chop_cells(piece, room):
                if lines[-1] and cell_len(lines[-1] + bit) > room:
                    lines.append("")
                lines[-1] += bit
    return [line.rstrip() for line in lines]
