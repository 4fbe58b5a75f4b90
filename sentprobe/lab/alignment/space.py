"""A space of words: its most frequent words and their vectors."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sentprobe.core.folders import cache_folder
from sentprobe.encoders.wordvectors import WordVectors, read_vectors
from sentprobe.errors import DataError, TooFewError, UsageError

Matrix = NDArray[np.float32]
Rows = NDArray[np.int64]
BLOCK = 8192
"""Rows that are read at a time."""
LEARNED = "encoder.inputs.learned.weight"
"""The word vectors among the weights of a trained encoder."""


@dataclass(frozen=True, eq=False)
class Space:
    """Words, the most frequent first, and their vectors."""

    name: str
    """As it was typed."""
    words: Sequence[str]
    vectors: Matrix
    """(n, d), held in memory."""
    digest: str
    """Of all words and vectors that were read."""

    @cached_property
    def index(self) -> dict[str, int]:
        """Word → its row."""
        return {word: row for row, word in enumerate(self.words)}

    @property
    def dim(self) -> int:
        """The dimension of the vectors."""
        return int(self.vectors.shape[1])

    def __len__(self) -> int:
        return len(self.words)


class Block(NamedTuple):
    """Some words of a space and their vectors."""

    words: Sequence[str]
    vectors: Matrix


def read_space(path: str, limit: int | None = None) -> Space:
    """Read word vectors into memory, or only those of the first ``limit`` words.

    ``path`` is a file in any format that ``vec:`` reads, or a folder of ``sentprobe train``.
    """
    word_vectors = _open(path, limit)
    if len(word_vectors.words) < 2:
        raise TooFewError(f"{path} has vectors of {len(word_vectors.words)} words; expected two or more.")
    vectors = np.empty(word_vectors.matrix.shape, np.float32)
    for at in range(0, len(vectors), BLOCK):  # the file is never held twice
        vectors[at : at + BLOCK] = word_vectors.matrix[at : at + BLOCK]
    return Space(path, word_vectors.words, vectors, word_vectors.digest)


def read_blocks(path: str) -> tuple[int, int, Iterator[Block]]:
    """How many words a space has, the dimension of its vectors, and all of them block by block."""
    word_vectors = _open(path, None)
    blocks = (
        Block(word_vectors.words[at : at + BLOCK], np.array(word_vectors.matrix[at : at + BLOCK], np.float32))
        for at in range(0, len(word_vectors.words), BLOCK)
    )
    return len(word_vectors.words), word_vectors.dim, blocks


def _open(path: str, limit: int | None) -> WordVectors:
    location = Path(path).expanduser()
    return _trained(location, limit) if location.is_dir() else read_vectors(location, cache_folder() / "vectors", limit)


def _trained(folder_path: Path, limit: int | None) -> WordVectors:
    """The word vectors of a trained encoder: those it was given, or those of its best checkpoint."""
    from sentprobe.lab.networks.folder import TABLE, TrainedFolder, is_language_model
    from sentprobe.lab.networks.vocabulary import BEGIN, END, word_of

    if not (folder_path / "config.json").is_file():
        raise UsageError(
            f"{folder_path} is a folder; expected a file of word vectors, or a folder that `sentprobe train` wrote."
        )
    folder = TrainedFolder(folder_path)
    if is_language_model(folder.config):  # of its tokens, those that are words
        tokenise, tokens = folder.network.tokenise, folder.vocabulary.words
        numbered_words = [(row, word) for row, token in enumerate(tokens) if (word := word_of(token, tokenise))]
        table = _learned(folder, TABLE, folder.network.words)
    else:
        numbered_words = [
            (row, word) for row, word in enumerate(folder.vocabulary.words, 1) if word not in (BEGIN, END)
        ]
        pretrained = folder.vectors()
        table = _learned(folder, LEARNED, folder.network.words + 1) if pretrained is None else pretrained
    rows = np.array(table[np.array([row for row, _ in numbered_words[:limit]], np.int64)], np.float32)
    words = [word for _, word in numbered_words[:limit]]
    if not np.isfinite(rows).all():
        raise DataError(f"{folder_path}: the vector of a word has a number that is not finite; train it again.")
    state = hashlib.blake2b(rows.data, digest_size=16)
    state.update("\n".join(words).encode(errors="surrogatepass"))
    return WordVectors(words, rows, state.hexdigest(), len(words))


def _learned(folder: object, name: str, count: int) -> Matrix:
    """The vectors of this name in the best checkpoint, as many as are expected."""
    from safetensors import SafetensorError, safe_open

    from sentprobe.lab.networks.folder import WEIGHTS, TrainedFolder

    assert isinstance(folder, TrainedFolder)
    weights, net = f"{folder.best().name}/{WEIGHTS}", folder.network
    file = folder.path / weights
    folder.job.verify(weights)
    try:
        with safe_open(file, "numpy") as opened:
            vectors = np.asarray(opened.get_tensor(name), np.float32)
    except (OSError, SafetensorError) as e:
        raise DataError(f"{file} has no word vectors: {e}.") from None
    if vectors.shape != (count, net.width):
        raise DataError(f"{file}: word vectors of shape {vectors.shape}, expected {(count, net.width)}.")
    return vectors
