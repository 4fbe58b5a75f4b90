"""What papers printed, in lines below our own numbers."""

from __future__ import annotations

from collections.abc import Iterator

from sentprobe.core.formatting import POINTS


def published_lines(task: str, language: str | None = None) -> Iterator[str]:
    """The published results of a task of the suites ``training`` and ``xnli``, in a line per table and metric."""
    from sentprobe.published import papers, published

    models_by_table: dict[tuple[str, str, str, str], list[str]] = {}
    for row in published(task, language=language):
        value = f"{row.value:.1f}" if row.metric == "mean tokens" else POINTS.number(row.value)
        key = (row.paper, row.table, row.metric, row.language)
        models_by_table.setdefault(key, []).append(f"{row.model} {value}{f' ({row.note})' if row.note else ''}")
    for (paper, table, metric, row_language), models in models_by_table.items():
        where = "in the text" if table == "text" else f"in table {table}"
        name = "BLEU" if metric == "bleu" else metric
        yield f"published, {row_language}, {name}: {', '.join(models)} ({paper}, {where}: {papers()[paper].tables[table]})"


def print_published(task: str, language: str | None = None, note: str = "") -> None:
    """Print these lines, and a note on how far they are comparable."""
    from sentprobe.console import out, print_wrapped

    lines = list(published_lines(task, language))
    for line in lines:
        print_wrapped(out(), line, "dim")
    if lines and note:
        print_wrapped(out(), note, "dim")
