"""One table for every format: columns of values, written to the console, as Markdown, LaTeX, CSV and HTML.

table = Table.of_rows(("encoder", "texts"), [("static:", 1200)], title="Encoded")
table.print()       on the console, no wider than the terminal; a number is never cut
table.markdown()    to paste
table.latex()       for a paper that uses booktabs
table.csv()         keys and values, for other programs
table.html()        for a notebook

Names and labels may contain any character: whatever has a meaning in a format is escaped here, and nowhere else.
"""

from __future__ import annotations

import csv
import html
import io
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from sentprobe.console import narrow_out, print_wrapped
from sentprobe.core.formatting import ABSENT, printable

if TYPE_CHECKING:
    from rich.console import Console

MAX_HEADING_WIDTH = 16
"""Characters of a heading in one line, unless the cells below it take more."""
MIN_TEXT_WIDTH = 12
"""Characters of a text that is folded, at least."""
GAP = 2
"""Characters between columns on the console."""

Align = Literal["left", "right"]


class CellText(NamedTuple):
    """A cell of a table as it is printed."""

    text: str
    """The number; or a name, or why there is no number."""
    margin: str = ""
    """± and half the width of the interval."""
    mark: str = ""
    """Letters of what is not significantly different, † where the number is not significantly better than the best
    baseline, and an asterisk where it is partial."""
    note: str = ""
    """What follows in small print: a layer, the name of a baseline, a number to compare with."""
    best: bool = False
    """Whether it is set in bold."""
    style: str = ""
    """How it is printed on the console, as rich names styles."""


def cell_text(value: Any) -> CellText:
    """The text of a value that has no format of its own: a dash for None, integers with separators."""
    if isinstance(value, CellText):
        return value
    if value is None:
        return CellText(ABSENT)
    return CellText(f"{value:,}" if isinstance(value, int) else str(value))


@dataclass(frozen=True, eq=False)
class TableColumn:
    """A heading, in parts that may be on lines of their own, and a value per row.

    Numbers are aligned to the right and printed in one line. Texts are aligned to the left, and may be folded.
    """

    heading: Sequence[str]
    values: Sequence[Any]
    align: Align = "right"
    format: Callable[[Any], CellText] = cell_text
    """The text of a value."""
    key: str = ""
    """The name of the column in CSV; its heading if empty."""

    @cached_property
    def cells(self) -> list[CellText]:
        """The text of every value."""
        return [self.format(value) for value in self.values]

    @property
    def title(self) -> str:
        """The heading in one line."""
        return ", ".join(self.heading)

    def without_margin(self) -> TableColumn:
        """The numbers without their intervals."""
        return TableColumn(self.heading, [cell._replace(margin="") for cell in self.cells], self.align)

    def without_notes(self) -> TableColumn:
        """The numbers without what follows them in small print."""
        return TableColumn(self.heading, [cell._replace(note="") for cell in self.cells], self.align)

    # On the console

    @cached_property
    def lines(self) -> list[str]:
        """The cells as they are printed, with numbers, intervals and marks aligned."""
        from rich.cells import cell_len, set_cell_size

        rows = [[plain(part) for part in cell[:4]] for cell in self.cells]
        sizes = [max(map(cell_len, parts)) for parts in zip(*rows, strict=True)]
        if not any(sizes[1:]):
            return [row[0] for row in rows]
        lines = []
        for row in rows:
            numbers = [part.rjust(size) for part, size in zip(row[:2], sizes[:2], strict=True) if size]
            marks = [set_cell_size(part, size) for part, size in zip(row[2:], sizes[2:], strict=True) if size]
            lines.append(" ".join((*numbers, *marks)))
        return lines

    @cached_property
    def heading_lines(self) -> list[str]:
        """The lines of the heading: each part on its own, long ones broken after a sign such as / or -."""
        from rich.cells import cell_len, chop_cells

        room = max(MAX_HEADING_WIDTH, *map(cell_len, self.lines), 0)
        lines: list[str] = []
        for part in map(plain, self.heading):
            lines.append("")
            for piece in re.findall(r"[^/\-_:?&,@ ]*[/\-_:?&,@ ]|[^/\-_:?&,@ ]+", part):
                for bit in chop_cells(piece, room):
                    if lines[-1] and cell_len(lines[-1] + bit) > room:
                        lines.append("")
                    lines[-1] += bit
        return [line.rstrip() for line in lines]

    @cached_property
    def width(self) -> int:
        """Characters of the longest line."""
        from rich.cells import cell_len

        return max(map(cell_len, (*self.heading_lines, *self.lines)))

    @property
    def min_width(self) -> int:
        """Characters it needs at least: texts can be folded, numbers cannot."""
        return min(self.width, MIN_TEXT_WIDTH) if self.align == "left" else self.width


@dataclass(frozen=True)
class Table:
    """Columns of equal length, the first of which names the rows; a title; and notes below."""

    columns: Sequence[TableColumn]
    title: str = ""
    notes: Sequence[str] = ()

    @classmethod
    def of_rows(
        cls,
        headings: Sequence[str],
        rows: Iterable[Sequence[Any]],
        *,
        texts: Collection[str] = (),
        title: str = "",
        notes: Sequence[str] = (),
    ) -> Table:
        """A table from its rows; ``texts``: headings of columns of text, besides the first one."""
        values = list(zip(*rows, strict=True)) or [()] * len(headings)
        columns = [
            TableColumn([heading], column, "left" if i == 0 or heading in texts else "right")
            for i, (heading, column) in enumerate(zip(headings, values, strict=True))
        ]
        return cls(columns, title, notes)

    @property
    def rows(self) -> list[tuple[CellText, ...]]:
        """The texts of the cells, row by row."""
        return list(zip(*(column.cells for column in self.columns), strict=True))

    def print(self, console: Console | None = None, *, show_header: bool = True, blank_line: bool = False) -> None:
        """Print the table with its title and notes, in blocks of columns if it is wider than the console.

        ``blank_line``: print an empty line after the columns, and after the notes.
        """
        console = console or narrow_out()
        if self.title:
            print_wrapped(console, plain(self.title), "bold")
        for i, block in enumerate(self.blocks(console.width)):
            if i and not blank_line:
                console.print()
            print_columns(console, block, show_header=show_header)
            if blank_line:
                console.print()
        for note in self.notes:
            print_wrapped(console, plain(note), "dim")
        if self.notes and blank_line:
            console.print()

    def blocks(self, width: int) -> Iterator[list[TableColumn]]:
        """Columns that fit side by side, the first one always among them."""
        has_texts = any(column.align == "left" for column in self.columns[1:])
        if has_texts and table_width(self.columns, min_width=True) <= width:
            yield list(self.columns)
        else:
            yield from in_blocks(self.columns[:1], self.columns[1:], [], width)

    def markdown(self) -> list[str]:
        """The lines of a Markdown table; bold numbers are the best ones."""

        def text(cell: CellText) -> str:
            number, margin, mark, note = map(in_markdown, cell[:4])
            return " ".join(filter(None, (f"**{number}**" if cell.best else number, margin, mark, note)))

        return list(
            markdown_table(
                [in_markdown(column.title) for column in self.columns],
                (list(map(text, row)) for row in self.rows),
                [column.align for column in self.columns],
            )
        )

    def latex(self) -> list[str]:
        """The lines of a tabular that needs booktabs."""

        def text(cell: CellText) -> str:
            number, mark = in_latex(cell.text), in_latex(cell.mark)
            margin = in_latex(cell.margin) + (f"\\textsuperscript{{{mark}}}" if mark else "")
            parts = (f"\\textbf{{{number}}}" if cell.best else number, margin, in_latex(cell.note))
            return " ".join(filter(None, parts))

        head, *rows = (
            f"{' & '.join(cells)} \\\\"
            for cells in ([in_latex(column.title) for column in self.columns], *(map(text, row) for row in self.rows))
        )
        alignment = "".join(column.align[0] for column in self.columns)
        begin, end = f"\\begin{{tabular}}{{{alignment}}}", "\\end{tabular}"
        return [begin, "\\toprule", head, "\\midrule", *rows, "\\bottomrule", end]

    def csv(self) -> str:
        """Keys and values, unformatted."""
        rows = zip(*(column.values for column in self.columns), strict=True)
        return csv_text([[column.key or column.title for column in self.columns], *rows])

    def html(self) -> str:
        """An HTML table without any style, for a notebook; the title is its caption."""
        caption = f"<caption>{in_html(self.title)}</caption>" if self.title else ""
        head = "".join(f"<th>{in_html(column.title)}</th>" for column in self.columns)
        texts = ([" ".join(filter(None, cell[:4])) for cell in row] for row in self.rows)
        body = "".join(f"<tr>{''.join(f'<td>{in_html(text)}</td>' for text in row)}</tr>" for row in texts)
        return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


# On the console


def table_width(columns: Sequence[TableColumn], *, min_width: bool = False) -> int:
    """Characters that columns take side by side; ``min_width``: if texts are folded."""
    widths = [column.min_width if min_width else column.width for column in columns]
    return sum(widths) + GAP * (len(widths) - 1)


def in_blocks(
    first: Sequence[TableColumn], columns: Sequence[TableColumn], last: Sequence[TableColumn], width: int
) -> Iterator[list[TableColumn]]:
    """As many columns at a time as fit, each time with the first and the last ones."""
    block: list[TableColumn] = []
    for column in columns:
        if block and folded_width([*first, *block, column, *last], width) > width:
            yield [*first, *block, *last]
            block = []
        block.append(column)
    yield [*first, *block, *last]


def folded_width(columns: Sequence[TableColumn], width: int) -> int:
    """Characters that columns take side by side if long names of rows are folded, to a third of the width."""
    names = columns[0]
    return table_width(columns) - names.width + min(names.width, max(MIN_TEXT_WIDTH, width // 3))


def print_columns(console: Console, columns: Sequence[TableColumn], *, show_header: bool = True) -> None:
    """Print columns side by side; where there is no room, texts are folded, and numbers never cut."""
    from rich.table import Table as RichTable
    from rich.text import Text

    least = table_width(columns, min_width=True)
    width = max(least, min(table_width(columns), console.width))
    table = RichTable(box=None, pad_edge=False, header_style="bold", width=width, show_header=show_header)
    # beside folded names, numbers are on the line where the name ends; folded texts begin on the same line
    vertical: Literal["top", "bottom"] = "top" if any(column.align == "left" for column in columns[1:]) else "bottom"
    for column in columns:
        head = Text("\n".join(column.heading_lines))
        is_number = column.align == "right"
        table.add_column(head, justify=column.align, no_wrap=is_number, overflow="fold", vertical=vertical)
    styled = [
        [
            Text(text, cell.style or ("bold" if cell.best else ""))
            for text, cell in zip(column.lines, column.cells, strict=True)
        ]
        for column in columns
    ]
    for row in zip(*styled, strict=True):
        table.add_row(*row)
    if console.is_terminal or columns[-1].align == "right":
        console.print(table, crop=False)
        return
    with console.capture() as captured:
        console.print(table, crop=False)
    for line in captured.get().splitlines():  # rich pads the last column, which is noise in a file
        console.print(line.rstrip(), markup=False, soft_wrap=True)


# Escaping

LATEX_ESCAPES = {
    "\\": "\\textbackslash{}", "{": "\\{", "}": "\\}", "$": "\\$", "&": "\\&", "#": "\\#", "%": "\\%", "_": "\\_",
    "^": "\\textasciicircum{}", "~": "\\textasciitilde{}", "<": "\\textless{}", ">": "\\textgreater{}",
    "|": "\\textbar{}", "[": "{[}", "*": "{*}", "`": "{`}", '"': "{\\char34}", "±": "$\\pm$", "†": "\\dag{}",
    "×": "$\\times$", "↓": "$\\downarrow$", "↑": "$\\uparrow$",
}  # fmt: skip
"""After the end of a row a bracket or an asterisk would belong to that; babel makes quotation marks active."""
MARKDOWN_SPECIAL = "\\`*_[]<>|&~$@#"
_FORMULA = tuple("=+-@\t\r＝＋－＠")
"""What a formula in a spreadsheet begins with; some programs also accept the full-width forms."""
_NUMBER = re.compile(r"[+-]?(\d[\d,]*\.?\d*|\.\d+)([eE][+-]?\d+)?")
_INVISIBLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufeff]"
)
"""Bidirectional and other controls, and lone surrogates; joiners stay, since words and emoji need them."""


def plain(text: str) -> str:
    """One line of text without control characters."""
    return printable(" ".join(text.split()))


def readable(text: str) -> str:
    """The text, with invisible characters and bidirectional controls shown as escapes."""
    return _INVISIBLE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def in_html(text: str) -> str:
    """Text escaped for HTML, with invisible characters shown."""
    return html.escape(readable(text))


def in_markdown(text: str) -> str:
    """Text escaped for Markdown, inside a table and elsewhere."""
    return "".join(f"&#{ord(c)};" if c in MARKDOWN_SPECIAL else c for c in plain(text))


def markdown_table(
    headings: Sequence[str], rows: Iterable[Sequence[str]], align: Sequence[Align] = ("left",)
) -> Iterator[str]:
    """The lines of a Markdown table whose cells are escaped already; columns without an alignment are numbers."""
    rule = ["---" if side == "left" else "---:" for side in align]
    rule += ["---:"] * (len(headings) - len(rule))
    yield from (f"| {' | '.join(cells)} |" for cells in (headings, rule, *rows))


def in_latex(text: str) -> str:
    """Text escaped for LaTeX, in which hyphens do not become dashes."""
    return "".join(LATEX_ESCAPES.get(c, c) for c in plain(text)).replace("--", "-{}-").replace("--", "-{}-")


def csv_text(rows: Iterable[Sequence[object]]) -> str:
    """Rows as comma-separated values that a spreadsheet does not evaluate; numbers stay numbers."""
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\n").writerows([in_csv(cell) for cell in row] for row in rows)
    return buffer.getvalue()


def in_csv(cell: object) -> object:
    """A cell of a CSV file: a text that a spreadsheet would take for a formula gets an apostrophe in front.

    Characters that cannot be printed are shown by their numbers, as on the terminal.
    """
    if not isinstance(cell, str) or _NUMBER.fullmatch(cell):
        return cell
    text = printable(cell)
    return f"'{text}" if cell.lstrip(" ").startswith(_FORMULA) else text
