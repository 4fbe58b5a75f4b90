"""Word vectors as a matrix in numpy's format, ``X.npy``, with a list of its words beside it, ``X.txt``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from sentprobe.core.arrays import map_array
from sentprobe.core.files import open_text
from sentprobe.encoders.wordvectors.rows import Matrix
from sentprobe.errors import CorpusError, DataError

NPY_MAGIC = b"\x93NUMPY"
BLOCK_ROWS = 1024


def words_beside(path: str) -> Path:
    """The file with the words of an array, one per line."""
    return Path(path).with_suffix(".txt")


def read_npy(path: str, limit: int | None) -> Iterator[tuple[list[str], Matrix]]:
    """Read an array (n, d) of numbers, and n words from the file beside it, block by block."""
    file = words_beside(path)
    if not file.is_file():
        raise DataError(f"{path} is an array without words; expected them in {file}, one per line.")
    try:
        stored = map_array(path)
    except ValueError as e:
        raise DataError(f"{path} cannot be read: {e}.") from None
    if stored.ndim != 2 or stored.dtype.kind not in "fiu" or not stored.shape[1]:
        raise DataError(
            f"{path} has shape {stored.shape} and type {stored.dtype}; expected a row of numbers for every word."
        )
    words = []
    for number, line in enumerate(open_text(str(file)), 1):
        word = line.strip()
        if not word:
            raise CorpusError(str(file), number, "an empty line", "a word per line")
        words.append(word)
    if len(words) != len(stored):
        raise DataError(f"{file} has {len(words):,} words, and {path} has {len(stored):,} vectors; expected as many.")
    count = min(len(words), limit or len(words))
    for at in range(0, count, BLOCK_ROWS):
        end = min(at + BLOCK_ROWS, count)
        with np.errstate(over="ignore"):  # what is too large becomes infinite, which is reported with its word
            rows = np.array(stored[at:end], np.float32)
        yield words[at:end], rows
