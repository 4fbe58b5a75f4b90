"""``params['save_emb']``: vectors that are saved to a file, and read from it by another script."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any
from zipfile import BadZipFile

import numpy as np
import numpy.typing as npt

from sentprobe.core.files import make_folder
from sentprobe.core.hashing import hash_64
from sentprobe.errors import DataError
from sentprobe.senteval.encoding import Array, Batcher, matrix
from sentprobe.senteval.utils import dotdict

log = logging.getLogger("senteval")


class SavedVectors:
    """A batcher whose vectors are saved to a file, or are read from it if they are of the same sentences.

    This is ``params['save_emb']``. The file has the vectors in the order of encoding, and a digest of each sentence.
    """

    def __init__(self, path: Path, batcher: Batcher) -> None:
        self.path, self.batcher = path, batcher
        self.saved = _saved_vectors(path)
        self.encoded: list[tuple[npt.NDArray[np.uint64], Array]] = []
        self.position = 0

    def __call__(self, params: dotdict, batch: Any) -> Any:
        """The vectors of a batch."""
        digests = np.array([_sentence_digest(sentence) for sentence in batch], np.uint64)
        start, self.position = self.position, self.position + len(batch)
        if self.saved is not None:
            if np.array_equal(self.saved[0][start : self.position], digests):
                return self.saved[1][start : self.position]
            log.warning("%s has vectors of other sentences: these are encoded, and replace them", self.path)
            self.encoded = [(self.saved[0][:start], self.saved[1][:start])]
            self.saved = None
        returned = self.batcher(params, batch)
        self.encoded.append((digests, matrix(params, returned, batch, start)))
        return returned

    def save(self) -> None:
        """Write the file, unless it was read."""
        if self.saved is None and self.encoded:
            digests, vectors = (np.concatenate(arrays) for arrays in zip(*self.encoded, strict=True))
            make_folder(self.path.parent)
            with NamedTemporaryFile(dir=self.path.parent, suffix=".part", delete=False) as file:
                np.savez(file, sentences=digests, vectors=vectors)
            Path(file.name).replace(self.path)
            log.info("Saved sentence embeddings to %s", self.path)


def _saved_vectors(path: Path) -> tuple[npt.NDArray[np.uint64], Array] | None:
    """Digests of sentences (n,) and vectors (n, d) of a file; nothing if there is none."""
    if not path.exists():
        return None
    try:
        with np.load(path, allow_pickle=False) as arrays:
            digests, vectors = arrays["sentences"], arrays["vectors"]
        if vectors.ndim != 2 or vectors.dtype.kind != "f" or digests.shape != vectors.shape[:1]:
            raise ValueError(f"vectors of shape {vectors.shape} for {len(digests)} sentences")
    except (OSError, ValueError, KeyError, EOFError, BadZipFile) as error:
        raise DataError(
            f"{path} cannot be read as saved vectors ({error}); move it away, and they are encoded."
        ) from None
    log.info("Loading sentence embeddings from %s", path)
    return digests, vectors


def _sentence_digest(sentence: Sequence[Any]) -> int:
    """A number that identifies a sentence of words, which are bytes in captions."""
    return hash_64("\x1f".join(word.decode() if isinstance(word, bytes) else word for word in sentence))
