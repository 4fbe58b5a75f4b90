"""Names and labels may hold any character: how to write them where some have a meaning."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Sequence

from sonde.console import printable

_LATEX = {
    "\\": "\\textbackslash{}", "{": "\\{", "}": "\\}", "$": "\\$", "&": "\\&", "#": "\\#", "%": "\\%", "_": "\\_",
    "^": "\\textasciicircum{}", "~": "\\textasciitilde{}", "<": "\\textless{}", ">": "\\textgreater{}",
    "|": "\\textbar{}", "[": "{[}", "*": "{*}", "`": "{`}", '"': "{\\char34}", "±": "$\\pm$", "†": "\\dag{}",
}  # fmt: skip
"""After the end of a row a bracket or an asterisk would belong to that; babel makes quotation marks active."""


_FORMULA = tuple("=+-@\t\r＝＋－＠")
"""What a cell of a spreadsheet begins with if it is to be worked out; some take the wide forms for the others."""
_NUMBER = re.compile(r"[+-]?(\d[\d,]*\.?\d*|\.\d+)([eE][+-]?\d+)?")


def plain(text: str) -> str:
    """One line of text that moves no cursor."""
    return printable(" ".join(text.split()))


def in_markdown(text: str) -> str:
    """Text that is plain text in Markdown, inside a table and elsewhere."""
    return "".join(f"&#{ord(c)};" if c in "\\`*_[]<>|&~$@#" else c for c in plain(text))


def in_latex(text: str) -> str:
    """Text that is plain text in LaTeX, and whose hyphens make no dash."""
    return "".join(_LATEX.get(c, c) for c in plain(text)).replace("--", "-{}-").replace("--", "-{}-")


def csv_text(rows: Iterable[Sequence[object]]) -> str:
    """Rows as comma-separated values that a spreadsheet shows and does not work out; numbers stay numbers."""
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
