"""The rows of SentEval's files, as SentEval reads them."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from sentprobe.core.files import encoding_error, open_bytes
from sentprobe.core.reader import find_file, split_cells
from sentprobe.errors import CorpusError, DataError
from sentprobe.senteval.encoding import Sentence

log = logging.getLogger("senteval")

Pairs = dict[str, list[Any]]
"""The columns ``X_A`` and ``X_B`` of sentences, and ``y`` of labels or scores."""


def text_of(path: str | Path, encoding: str = "utf-8") -> str:
    """The text of a file, or of a compressed version of it."""
    actual = find_file(Path(path))
    if actual is None:
        raise DataError(
            f"There is no file {path}, compressed or not. `sentprobe data get` downloads sets, or says where they are."
        )
    content = b"".join(open_bytes(str(actual)))
    try:
        return content.decode(encoding)
    except UnicodeDecodeError as error:
        raise encoding_error(str(actual), 1, error) from None


def lines_of(path: str | Path, encoding: str = "utf-8") -> Iterator[tuple[int, str]]:
    """The lines of a file that are not empty, without their ends, and with their numbers."""
    for number, line in enumerate(text_of(path, encoding).replace("\r", "\n").split("\n"), 1):
        if line.strip():
            yield number, line


def cells_of(path: str | Path, columns: int) -> Iterator[tuple[int, list[str]]]:
    """The cells of each line of a UTF-8 file, at least ``columns`` of them, separated by tabs."""
    for number, line in lines_of(path):
        yield number, split_cells(str(path), number, line, f"at least {columns}, separated by tabs", least=columns)


def sentences_of(path: str | Path) -> list[Sentence]:
    """The words of each line of a file, empty lines included, which is always read as Latin-1.

    A byte inside a UTF-8 character may then end a line; there are more sentences than lines, as in SentEval.
    """
    text = text_of(path, "latin-1")
    sentences = text.splitlines()
    if (lines := len(text.removesuffix("\n").split("\n"))) < len(sentences):
        message = "%s is not Latin-1: its %d lines are read as %d sentences, as in SentEval"
        log.warning(message, path, lines, len(sentences))
    return [sentence.split() for sentence in sentences]


def pairs_of(rows: Iterable[tuple[str, str, Any]]) -> Pairs:
    """Rows of two texts and a label or score as columns, in which texts are split into words."""
    columns: Pairs = {"X_A": [], "X_B": [], "y": []}
    for first, second, label in rows:
        columns["X_A"].append(first.split())
        columns["X_B"].append(second.split())
        columns["y"].append(label)
    return columns


def sentences_of_pairs(splits: Iterable[Pairs]) -> list[Sentence]:
    """All sentences of several splits of pairs: in each, the first sentences and then the second."""
    return [sentence for pairs in splits for side in ("X_A", "X_B") for sentence in pairs[side]]


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
