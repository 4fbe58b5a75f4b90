"""The lines of SentEval's files, as SentEval reads them."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path

from sentprobe.core.files import encoding_error, open_bytes
from sentprobe.core.reader import find_file, wrong_width
from sentprobe.errors import CorpusError, DataError
from sentprobe.senteval.batches import Sentence

log = logging.getLogger("senteval")


def text_of(path: str | Path, encoding: str = "utf-8") -> str:
    """The text of a file, or of a compressed version of it."""
    found = find_file(Path(path))
    if found is None:
        raise DataError(
            f"There is no file {path}, compressed or not. `sentprobe data get` downloads sets, or says where they are."
        )
    content = b"".join(open_bytes(str(found)))
    try:
        return content.decode(encoding)
    except UnicodeDecodeError as error:
        raise encoding_error(str(found), 1, error) from None


def lines_of(path: str | Path, encoding: str = "utf-8") -> Iterator[tuple[int, str]]:
    """The lines of a file that are not empty, without their ends, and with their numbers."""
    for number, line in enumerate(text_of(path, encoding).replace("\r", "\n").split("\n"), 1):
        if line.strip():
            yield number, line


def cells_of(path: str | Path, columns: int) -> Iterator[tuple[int, list[str]]]:
    """The cells of each line of a UTF-8 file, at least ``columns`` of them, separated by tabs."""
    for number, line in lines_of(path):
        cells = line.split("\t")
        if len(cells) < columns:
            raise wrong_width(str(path), number, cells, f"at least {columns}, separated by tabs")
        yield number, cells


def sentences_of(path: str | Path) -> list[Sentence]:
    """The words of each line of a file, empty lines included, which is always read as Latin-1.

    A byte inside a UTF-8 character may then end a line; there are more sentences than lines, as in SentEval.
    """
    text = text_of(path, "latin-1")
    found = text.splitlines()
    if (lines := len(text.removesuffix("\n").split("\n"))) < len(found):
        message = "%s is not Latin-1: its %d lines are read as %d sentences, as in SentEval"
        log.warning(message, path, lines, len(found))
    return [line.split() for line in found]


def score_of(path: str | Path, number: int, text: str) -> float:
    """Parse a score."""
    try:
        return float(text)
    except ValueError:
        raise CorpusError(str(path), number, f"the score {text[:20]!r}", "a number") from None


def label_of(path: str | Path, number: int, text: str) -> int:
    """Parse a label that is an integer."""
    try:
        return int(text)
    except ValueError:
        raise CorpusError(str(path), number, f"the label {text[:20]!r}", "an integer") from None
