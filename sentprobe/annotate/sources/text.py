"""Plain text: a file is a document; what its lines are, ``--lines`` says."""

from __future__ import annotations

from collections.abc import Iterator

from sentprobe.annotate.source import LONGEST_PARAGRAPH, OnBad, Piece, Reading, TextSource, split_paragraphs
from sentprobe.core.files import encoding_error, open_bytes

PIECE_CHARACTERS = 4_000
"""A piece ends at the first end of a paragraph after this many."""


def read(path: str, name: str, reading: Reading, on_bad: OnBad | None) -> Iterator[Piece]:
    """Whole paragraphs of a file, a few at a time; one that does not end is cut at the end of a line."""
    held: list[str] = []
    size, first = 0, True
    for line in _lines(path, on_bad):
        held.append(line)
        size += len(line)
        ends = reading.lines != "wrapped" or not line or line.isspace()
        if (size > PIECE_CHARACTERS and ends) or size > LONGEST_PARAGRAPH:
            yield Piece(name, "\n".join(held), first)
            held, size, first = [], 0, False
    if held:
        yield Piece(name, "\n".join(held), first)


def _lines(path: str, on_bad: OnBad | None) -> Iterator[str]:
    """The lines of a file; those that are not UTF-8 are left out, if there is someone to tell."""
    number = 1
    for chunk in open_bytes(path):
        try:
            lines = chunk.decode().removesuffix("\n").split("\n")
        except UnicodeDecodeError as error:
            if on_bad is None:
                raise encoding_error(path, number, error) from None
            yield from _decodable(path, number, chunk, on_bad)
        else:
            yield from lines
        number += chunk.count(b"\n")


def _decodable(path: str, number: int, chunk: bytes, on_bad: OnBad) -> Iterator[str]:
    for at, line in enumerate(chunk.removesuffix(b"\n").split(b"\n"), number):
        try:
            yield line.decode()
        except UnicodeDecodeError as error:
            on_bad(encoding_error(path, at, error))


text_source = TextSource(
    name="text",
    summary="Plain text: blank lines separate paragraphs, or --lines says what a line is.",
    suffixes=(".txt", ".text"),
    read=read,
    paragraphs=split_paragraphs,
    lines="wrapped",
    order=10,
)
