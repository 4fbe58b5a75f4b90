"""Text in Markdown: names and labels may contain any character, and some have a meaning there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from sentprobe.console import printable


def plain(text: str) -> str:
    """One line of text without control characters."""
    return printable(" ".join(text.split()))


def in_markdown(text: str) -> str:
    """Text escaped for Markdown, inside a table and elsewhere."""
    return "".join(f"&#{ord(c)};" if c in "\\`*_[]<>|&~$@#" else c for c in plain(text))


def markdown_table(header: Sequence[str], rows: Iterable[Sequence[str]], left: int = 1) -> Iterator[str]:
    """The lines of a table whose cells are escaped already; the columns after the first ``left`` are numbers."""
    yield f"| {' | '.join(header)} |"
    yield f"|{'|'.join('---' if i < left else '---:' for i in range(len(header)))}|"
    yield from (f"| {' | '.join(row)} |" for row in rows)
