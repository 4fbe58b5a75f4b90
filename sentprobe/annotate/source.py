"""What a text source is: a format of raw text, read piece by piece."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

from sentprobe.core.files import plain_name
from sentprobe.core.plugins import Kind, part_repr
from sentprobe.core.reader import OnBad

Lines = Literal["wrapped", "paragraphs", "sentences"]
"""What a line break means: nothing, as in text that is wrapped at some width, where blank lines end a paragraph; the
end of a paragraph; or the end of a sentence, which is not to be split further."""
LINES: tuple[str, ...] = get_args(Lines)
_PART_OF_DUMP = re.compile(r"-p\d+p\d+$")
SENTENCE_END = re.compile(r"[.!?…。！？｡।॥؟۔።။។։༎]['\"”’»」』）)\]\s]*$")
"""The end of a sentence: a mark, and what may close behind it."""
HOLE = "\ufffc"
"""Stands for what was removed from a sentence, such as a formula: the sentence is dropped."""
MAX_PARAGRAPH_CHARACTERS = 20_000
"""Characters of a paragraph; a longer one is cut between words, since memory grows with it and no one wrote it."""


class LeftOutError(ValueError):
    """A piece whose text is not to be had; the message is the reason, as it is counted."""


class Piece(NamedTuple):
    """A part of a document that is small enough to be held in memory: paragraphs, or the markup of all of them."""

    doc: str
    """The id of the document."""
    text: str
    first: bool
    """Whether the document begins with it."""
    facts: tuple[str, ...] = ()
    """What the source knows of the file and needs for the paragraphs."""


@dataclass(frozen=True)
class ReadOptions:
    """How files are read."""

    lines: Lines
    text: str = "text"
    """The field with the text, in records."""
    id: str | None = None
    """The field with the id of a document; None: ids are made from the name of the file and the line."""


@dataclass(frozen=True)
class TextSource:
    """A format of raw text.

    Parameters
    ----------
    name
        What users type: ``--format jsonl``.
    summary
        One line.
    suffixes
        Of the files that are in this format, without that of the compression.
    read
        The pieces of a file: path, the id of the file, how it is read, and what is called with what is skipped; without
        that, CorpusError is raised. It runs in one process and should be fast; ``paragraphs`` runs in many.
    paragraphs
        The paragraphs of a piece, or its sentences if its lines are sentences, without line breaks; LeftOutError if it
        has to be left out.
    lines
        What a line break means unless users say otherwise.
    is_prose
        Whether its sentences end with a mark, so that one that does not was cut off.
    records
        Whether it has fields: --text, --id.
    order
        Its place in lists.

    Examples
    --------
    >>> from pathlib import Path
    >>> from sentprobe.extend import Piece, TextSource
    >>> def read(path, file_id, reading, on_bad):
    ...     for number, line in enumerate(Path(path).read_text().split("%%")):
    ...         yield Piece(f"{file_id}.{number}", line, first=True)
    >>> def paragraphs(piece, reading):
    ...     return [piece.text]
    >>> TextSource("percent", "texts with %% between them", (".pct",), read, paragraphs, "wrapped")
    TextSource('percent')
    """

    name: str
    summary: str
    suffixes: tuple[str, ...]
    read: Callable[[str, str, ReadOptions, OnBad | None], Iterator[Piece]]
    paragraphs: Callable[[Piece, ReadOptions], Sequence[str]]
    lines: Lines
    is_prose: bool = False
    records: bool = False
    order: int = 0

    __repr__ = part_repr


TEXT_SOURCES: Kind[TextSource] = Kind("text source", "sentprobe.annotate.sources", TextSource)


def source_of(path: str) -> TextSource | None:
    """The source of a file by its suffix, or none; a part of a dump may be called ``….xml-p1p41242.bz2``."""
    name = _PART_OF_DUMP.sub("", plain_name(path).lower())
    return next((s for s in TEXT_SOURCES.parts().values() if name.endswith(s.suffixes)), None)


def split_paragraphs(piece: Piece, reading: ReadOptions) -> list[str]:
    """The paragraphs of plain text: runs of white space become single spaces."""
    lines = piece.text.split("\n")
    if reading.lines != "wrapped":
        paragraphs = [" ".join(line.split()) for line in lines]
    else:
        blocks: list[list[str]] = [[]]
        for line in lines:
            words = line.split()
            if words:
                blocks[-1] += words
            elif blocks[-1]:
                blocks.append([])
        paragraphs = [" ".join(words) for words in blocks]
    return [part for paragraph in paragraphs if paragraph for part in cut(paragraph)]


def cut(paragraph: str, max_characters: int = MAX_PARAGRAPH_CHARACTERS) -> Iterator[str]:
    """Parts of at most this many characters, cut at the last end of a sentence if there is one, else between words."""
    start = 0  # a long text is not copied for every part of it
    while len(paragraph) - start > max_characters:
        end = start + max_characters
        at = max(paragraph.rfind(mark, start + max_characters // 2, end) for mark in (". ", "! ", "? ")) + 1
        at = at or paragraph.rfind(" ", start + 1, end)
        at = at if at > 0 else end
        yield paragraph[start:at]
        start = at
        while paragraph[start : start + 1].isspace():
            start += 1
    if start < len(paragraph):
        yield paragraph[start:]
