"""Word vectors without context that come with sentprobe, averaged: English, offline, without torch.

    static:[minilm|wordllama][?dim=64|128|256]

A text is split into pieces of words, and its vector is the mean of their vectors; the empty text has the zero vector.
``minilm``, the default, has the vectors with which all-MiniLM-L6-v2 begins: what its layers make of them is not in
them, so that `-e static: -e st:all-MiniLM-L6-v2` shows what the layers add. ``wordllama`` has those of the package of
this name, trained for similarity; its extra installs it. Both can be truncated: ``dim`` is 256 by default.
``tools/static_vectors.py`` in the repository makes the former.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.metadata
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from types import ModuleType
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from sentprobe.core.arguments import as_texts
from sentprobe.core.install import pip_install
from sentprobe.core.words import replace_surrogates
from sentprobe.encoders.encoder import short_repr
from sentprobe.encoders.identity import Identity, Spec
from sentprobe.encoders.wordpiece import WordPiece
from sentprobe.encoders.wordvectors import sum_rows
from sentprobe.errors import EncoderError, NotInstalled, UsageError

FOLDER = Path(__file__).parents[1] / "static"
"""The vectors that come with sentprobe, in eight bits with a scale per piece, and the pieces."""
CONTENT = "9237dc06365dcca755a535c3f06d16ce"
"""The digest of that folder, as ``tools/static_vectors.py`` left it: a damaged copy would be another encoder."""
DIMS = (256, 128, 64)
OPTIONS = {"dim": "256 (default), 128 or 64: dimension of the vectors"}
"""What may follow the question mark."""
TITLES = {"": "bag of word vectors", "minilm": "bag of word vectors", "wordllama": "WordLlama"}
WORDLLAMA_MODEL = "l2_supercat"

Split = Callable[[Sequence[str]], list[list[int]]]
"""From texts to the numbers of their pieces."""


def load(spec: Spec) -> Static:
    """The encoder that a spec names."""
    spec.check_options(OPTIONS)
    dim = spec.choice("dim", [*map(str, DIMS)])
    if spec.revision is not None:
        raise UsageError(f"{spec}: static: has no revisions; there is one of each model.")
    name = spec.name or "minilm"
    if name not in MODELS:
        raise UsageError(f"{spec}: there is no {name!r}; expected static:, or static:{' or static:'.join(MODELS)}.")
    matrix, split, facts = MODELS[name](spec)
    return Static(matrix[:, : int(dim)], split, Identity.of("static", name, dim=dim, **facts))


def _minilm(spec: Spec) -> tuple[NDArray[np.float32], Split, dict[str, str]]:
    """The vectors in the package; EncoderError if they are damaged."""
    from safetensors.numpy import load as parse

    try:
        content, pieces = (FOLDER / "vectors.safetensors").read_bytes(), (FOLDER / "pieces.txt").read_bytes()
    except OSError as why:
        raise EncoderError(f"{spec}: {why.filename} cannot be read: {why.strerror}; install sentprobe again.") from why
    if _digest(content, pieces) != CONTENT:
        raise EncoderError(f"{spec}: {FOLDER} has been changed since it was installed; install sentprobe again.")
    weights = parse(content)
    wordpiece = WordPiece({piece: i for i, piece in enumerate(pieces.decode("utf-8").splitlines())})
    matrix = weights["vectors"] * weights["scale"][:, None]
    return matrix, wordpiece.split, {"content": CONTENT}


def _wordllama(spec: Spec) -> tuple[NDArray[np.float32], Split, dict[str, str]]:
    """The vectors of the package wordllama."""
    package = _import_wordllama()
    folder = Path(str(package.__file__)).parent
    weights = folder / "weights" / f"{WORDLLAMA_MODEL}_{DIMS[0]}.safetensors"
    pieces = folder / "tokenizers" / f"{WORDLLAMA_MODEL}_tokenizer_config.json"
    version = importlib.metadata.version("wordllama")
    if not (weights.is_file() and pieces.is_file()):
        raise EncoderError(f"{spec}: files of wordllama {version} are missing: pip install --force-reinstall wordllama")
    # by default wordllama looks for the tokenizer in a folder that it does not have, and then on the network
    model = package.WordLlama.load(WORDLLAMA_MODEL, cache_dir=folder, dim=DIMS[0], disable_download=True)
    model.tokenizer.no_padding()  # or one long text would lengthen the batch

    def split(texts: Sequence[str]) -> list[list[int]]:
        valid = [replace_surrogates(text) for text in texts]
        return [encoding.ids for encoding in model.tokenizer.encode_batch(valid, add_special_tokens=False)]

    facts = {"package": f"wordllama {version}", "content": _digest(weights.read_bytes(), pieces.read_bytes())}
    return model.embedding, split, facts


MODELS = {"minilm": _minilm, "wordllama": _wordllama}


def _digest(*contents: bytes) -> str:
    state = hashlib.blake2b(digest_size=16)
    for content in contents:
        state.update(content)
    return state.hexdigest()


def _import_wordllama() -> ModuleType:
    """Import wordllama, and undo the logging that it sets up for the process."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    try:
        return importlib.import_module("wordllama")
    except ModuleNotFoundError as why:
        raise NotInstalled(
            f"static:wordllama needs {why.name}, which is not installed: {pip_install('wordllama')}"
        ) from None
    finally:
        root.handlers[:] = handlers
        root.setLevel(level)


@dataclass(frozen=True, eq=False, repr=False)
class Static:
    """An encoder that averages the vectors of pieces of words."""

    matrix: NDArray[np.float32]
    """(m, d), one row per piece."""
    split: Split
    identity: Identity
    batch_size: int = 1024
    parallel: ClassVar[bool] = True
    languages: ClassVar[tuple[str, ...]] = ("en",)

    def __repr__(self) -> str:
        return short_repr(self, f"static:{self.identity.name}", f"{self.matrix.shape[1]} dimensions")

    def __call__(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Vectors (n, d)."""
        texts = as_texts(texts)
        vectors = np.zeros((len(texts), self.matrix.shape[1]), np.float32)
        for at in range(0, len(texts), self.batch_size):
            vectors[at : at + self.batch_size] = self._pool(texts[at : at + self.batch_size])
        return vectors

    def words(self, words: Sequence[str]) -> NDArray[np.float32]:
        """The vectors (n, d) of single words; any word has pieces."""
        return self(words)

    def has_vector(self, words: Sequence[str]) -> NDArray[np.bool_]:
        """Which words (n,) have a vector: all but the empty one."""
        words = as_texts(words)
        return np.array([bool(word) for word in words], bool)

    def _pool(self, texts: Sequence[str]) -> NDArray[np.float64]:
        numbers = self.split(texts)
        lengths = np.fromiter(map(len, numbers), np.int64, len(numbers))
        flat = np.fromiter(chain.from_iterable(numbers), np.int64, int(lengths.sum()))
        rows, columns = np.unique(flat, return_inverse=True)  # a few of all, so that only these become double precision
        return sum_rows(self.matrix[rows], columns, lengths) / np.maximum(lengths, 1)[:, None]
