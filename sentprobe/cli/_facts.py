"""What `sentprobe show` prints of a folder with a card: facts, then tables of text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence


def print_facts(facts: Mapping[str, str]) -> None:
    """Print facts with their names."""
    from rich.table import Table
    from rich.text import Text

    from sentprobe.console import out
    from sentprobe.core.formatting import printable

    table = Table(box=None, pad_edge=False, show_header=False)
    for name, text in facts.items():
        table.add_row(Text(name, style="bold"), Text(printable(text)))
    out().print(table)


def print_rows(texts: Iterable[Sequence[str]], blank_line: bool = False) -> None:
    """Print rows as a table with the first one as its header, after a blank line; nothing if there is only a header."""
    from rich.table import Table
    from rich.text import Text

    from sentprobe.console import out
    from sentprobe.core.formatting import printable

    header, *rows = texts
    if not rows:
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    for place, name in enumerate(header):
        table.add_column(Text(printable(name)), justify="right" if place else "left", no_wrap=True)
    for row in rows:
        table.add_row(*map(Text, row))
    if blank_line:
        out().print()
    out().print(table)


def latex_rows(facts: Mapping[str, str], texts: Iterable[Sequence[str]]) -> str:
    """Rows as a LaTeX table, with the facts as comments."""
    from sentprobe.core.table import in_latex

    header, *rows = ([in_latex(cell) for cell in row] for row in texts)
    first, *others = (f"{' & '.join(row)} \\\\" for row in (header, *rows))
    lines = ["% \\usepackage{booktabs}", *(f"% {name}: {' '.join(text.split())}" for name, text in facts.items())]
    lines += [f"\\begin{{tabular}}{{l{'r' * (len(header) - 1)}}}", "\\toprule", first, "\\midrule", *others]
    return "\n".join([*lines, "\\bottomrule", "\\end{tabular}"]) + "\n"
