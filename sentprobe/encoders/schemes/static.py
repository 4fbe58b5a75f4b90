"""wordllama's static vectors, which come with the package: offline, without torch.

    static:[NAME][?dim=64|128|256]

A text is split into wordllama's subwords, and its vector is the mean of their vectors; the empty text has the zero
vector. NAME is a model in the package, by default ``l2_supercat``. Its vectors can be truncated: ``dim`` is 256 by
default.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.metadata
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sentprobe.core.arguments import as_texts
from sentprobe.core.words import replace_surrogates
from sentprobe.encoders.encoder import short_repr
from sentprobe.encoders.identity import Identity, Spec
from sentprobe.encoders.wordvectors import sum_rows
from sentprobe.errors import EncoderError, NotInstalled, UsageError

MODEL = "l2_supercat"
DIMS = (256, 128, 64)
OPTIONS = {"dim": "256 (default), 128 or 64: dimension of the vectors"}
"""What may follow the question mark."""


def load(spec: Spec) -> Static:
    """The encoder that a spec names."""
    spec.check_options(OPTIONS)
    dim = spec.choice("dim", [*map(str, DIMS)])
    if spec.revision is not None:
        raise UsageError(f"{spec}: static: has no revisions; the installed wordllama has one of each model.")
    name = spec.name or MODEL
    package = _import()
    folder = Path(str(package.__file__)).parent
    weights = folder / "weights" / f"{name}_{DIMS[0]}.safetensors"
    tokens = folder / "tokenizers" / f"{name}_tokenizer_config.json"
    version = importlib.metadata.version("wordllama")
    if not (weights.is_file() and tokens.is_file()):
        available = sorted(p.name.removesuffix(f"_{DIMS[0]}.safetensors") for p in weights.parent.glob("*.safetensors"))
        raise EncoderError(
            f"{spec}: wordllama {version} comes without a model {name!r}; it has {', '.join(available) or 'none'}. "
            "If files are missing, `pip install --force-reinstall wordllama`."
        )
    # by default wordllama looks for the tokenizer in a folder that it does not have, and then on the network
    model = package.WordLlama.load(
        name, cache_dir=folder, dim=DIMS[0], trunc_dim=int(dim) if int(dim) < DIMS[0] else None, disable_download=True
    )
    model.tokenizer.no_padding()  # or one long text would lengthen the batch
    state = hashlib.blake2b(weights.read_bytes(), digest_size=16)
    state.update(tokens.read_bytes())
    identity = Identity.of("static", name, package=f"wordllama {version}", dim=dim, content=state.hexdigest())
    return Static(model.embedding, model.tokenizer, identity)


def _import() -> ModuleType:
    """Import wordllama, and undo the logging that it sets up for the process."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    try:
        return importlib.import_module("wordllama")
    except ModuleNotFoundError as error:
        if error.name != "wordllama":
            raise NotInstalled(f"wordllama needs {error.name}, which is not installed: pip install wordllama") from None
        raise NotInstalled("static: needs wordllama, which is not installed: pip install wordllama") from None
    finally:
        root.handlers[:] = handlers
        root.setLevel(level)


@dataclass(frozen=True, eq=False, repr=False)
class Static:
    """An encoder that averages the vectors of subwords."""

    matrix: NDArray[np.float32]
    """(m, d), one row per subword."""
    tokenizer: Any
    identity: Identity
    batch_size: int = 1024
    parallel: ClassVar[bool] = True

    def __repr__(self) -> str:
        return short_repr(self, f"static:{self.identity.name}", f"{self.matrix.shape[1]} dimensions")

    def __call__(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Vectors (n, d)."""
        texts = as_texts(texts)
        made = np.zeros((len(texts), self.matrix.shape[1]), np.float32)
        for at in range(0, len(texts), self.batch_size):
            made[at : at + self.batch_size] = self._pool(texts[at : at + self.batch_size])
        return made

    def words(self, words: Sequence[str]) -> NDArray[np.float32]:
        """The vectors (n, d) of single words; any word has subwords."""
        words = as_texts(words)
        return self(words)

    def has_vector(self, words: Sequence[str]) -> NDArray[np.bool_]:
        """Which words (n,) have a vector: all but the empty one."""
        words = as_texts(words)
        return np.array([bool(word) for word in words], bool)

    def _pool(self, texts: Sequence[str]) -> NDArray[np.float64]:
        valid = [replace_surrogates(text) for text in texts]
        ids = [encoding.ids for encoding in self.tokenizer.encode_batch(valid, add_special_tokens=False)]
        lengths = np.fromiter(map(len, ids), np.int64, len(ids))
        flat = np.fromiter(chain.from_iterable(ids), np.int64, int(lengths.sum()))
        rows, columns = np.unique(flat, return_inverse=True)  # a few of all, so that only these become double precision
        return sum_rows(self.matrix[rows], columns, lengths) / np.maximum(lengths, 1)[:, None]
