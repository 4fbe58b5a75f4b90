"""What `sentprobe show` prints of a folder with a card: facts, then tables of text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from sentprobe.console import out
from sentprobe.core.table import CellText, Table, TableColumn, plain


def print_facts(facts: Mapping[str, str]) -> None:
    """Print facts with their names."""
    names = TableColumn([""], [CellText(name, style="bold") for name in facts], "left")
    Table([names, TableColumn([""], list(facts.values()), "left")]).print(out(), show_header=False)


def print_rows(texts: Iterable[Sequence[str]], blank_line: bool = False) -> None:
    """Print rows as a table with the first one as its header, after a blank line; nothing if there is only a header."""
    header, *rows = texts
    if not rows:
        return
    if blank_line:
        out().print()
    Table.of_rows(header, rows).print(out())


def latex_rows(facts: Mapping[str, str], texts: Iterable[Sequence[str]]) -> str:
    """Rows as a LaTeX table, with the facts as comments."""
    header, *rows = texts
    lines = ["% \\usepackage{booktabs}", *(f"% {plain(name)}: {plain(text)}" for name, text in facts.items())]
    return "\n".join([*lines, *Table.of_rows(header, rows).latex()]) + "\n"
