"""Plain text: a file is a document; what its lines are, ``--lines`` says."""

from __future__ import annotations

from collections.abc import Iterator

from sentprobe.annotate.source import MAX_PARAGRAPH_CHARACTERS, Piece, ReadOptions, TextSource, split_paragraphs
from sentprobe.core.reader import OnBad, read_lines

PIECE_CHARACTERS = 4_000
"""A piece ends at the first end of a paragraph after this many."""


def read(path: str, name: str, reading: ReadOptions, on_bad: OnBad | None) -> Iterator[Piece]:
    """Whole paragraphs of a file, a few at a time; one that does not end is cut at the end of a line."""
    lines: list[str] = []
    size, first = 0, True
    for _, line in read_lines(path, on_bad=on_bad):
        lines.append(line)
        size += len(line)
        ends = reading.lines != "wrapped" or not line or line.isspace()
        if (size > PIECE_CHARACTERS and ends) or size > MAX_PARAGRAPH_CHARACTERS:
            yield Piece(name, "\n".join(lines), first)
            lines, size, first = [], 0, False
    if lines:
        yield Piece(name, "\n".join(lines), first)


text_source = TextSource(
    name="text",
    summary="Plain text: blank lines separate paragraphs, or --lines says what a line is.",
    suffixes=(".txt", ".text"),
    read=read,
    paragraphs=split_paragraphs,
    lines="wrapped",
    order=10,
)
