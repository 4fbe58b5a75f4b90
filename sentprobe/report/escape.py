"""Escapes names and labels, which may contain any character, for formats in which some have a meaning."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Sequence

from sentprobe.console import printable
from sentprobe.core.markdown import in_markdown, plain

__all__ = ["csv_text", "in_csv", "in_latex", "in_markdown", "plain"]

_LATEX = {
    "\\": "\\textbackslash{}", "{": "\\{", "}": "\\}", "$": "\\$", "&": "\\&", "#": "\\#", "%": "\\%", "_": "\\_",
    "^": "\\textasciicircum{}", "~": "\\textasciitilde{}", "<": "\\textless{}", ">": "\\textgreater{}",
    "|": "\\textbar{}", "[": "{[}", "*": "{*}", "`": "{`}", '"': "{\\char34}", "±": "$\\pm$", "†": "\\dag{}",
}  # fmt: skip
"""After the end of a row a bracket or an asterisk would belong to that; babel makes quotation marks active."""


_FORMULA = tuple("=+-@\t\r＝＋－＠")
"""What a formula in a spreadsheet begins with; some programs also accept the full-width forms."""
_NUMBER = re.compile(r"[+-]?(\d[\d,]*\.?\d*|\.\d+)([eE][+-]?\d+)?")


def in_latex(text: str) -> str:
    """Text escaped for LaTeX, in which hyphens do not become dashes."""
    return "".join(_LATEX.get(c, c) for c in plain(text)).replace("--", "-{}-").replace("--", "-{}-")


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
