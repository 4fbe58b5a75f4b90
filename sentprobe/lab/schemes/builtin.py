"""A small encoder of our own, trained on the built-in grammar, which comes with sentprobe: offline, without torch.

    builtin:[?random=SEED]

A bidirectional LSTM with max pooling, 128 dimensions, that `sentprobe train tree` has taught to write the constituency
tree of a sentence. It was trained on sentences of the built-in grammar, and knows its words only: it is for the demo
and for trying things out. Sets of `sentprobe make --builtin` have other sentences than those that it was trained on.
With ``random=SEED`` it is untrained. ``tools/builtin_encoder.py`` in the repository makes it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sentprobe.core.arguments import as_texts
from sentprobe.encoders.encoder import TrainingScore, short_repr
from sentprobe.encoders.identity import Identity, Spec
from sentprobe.errors import DataError, EncoderError, UsageError
from sentprobe.lab.networks.folder import open_folder
from sentprobe.lab.schemes import trained

FOLDER = Path(__file__).parents[1] / "builtin"
"""The trained encoder, as `sentprobe train` writes one, with weights in half precision."""
CONTENT = "f3fcbe0fe409be8fb7dc031db3865f65"
"""The digest of that folder, as ``tools/builtin_encoder.py`` left it: a damaged copy would be another encoder."""
NAME = "bilstm-tree"
TITLES = {"": "built-in encoder"}
OPTIONS = {"random": "a seed, 0 or more: the weights are initialised at random instead of read, as before training"}
"""What may follow the question mark."""
CONTRACTION = re.compile(r"(?<=\w)(n't|'(?:s|m|d|re|ve|ll))\b", re.IGNORECASE)


def load(spec: Spec) -> BuiltIn:
    """The encoder that ``builtin:`` names."""
    spec_options = spec.check_options(OPTIONS)
    if spec.path not in ("", NAME):
        raise UsageError(f"{spec}: there is one model, {NAME}; expected builtin: or builtin:?random=0.")
    spec.integer("random", low=0)  # the message names what was typed
    trained_options = (*spec_options.items(), ("backend", "numpy"))
    try:
        folder = open_folder(FOLDER)
        if folder.digest(folder.best()) != CONTENT:
            raise DataError(f"{FOLDER} has another encoder.")
        inner = trained.load(Spec("trained", str(FOLDER), None, trained_options))
    except (DataError, UsageError) as e:
        raise EncoderError(
            f"{spec}: {FOLDER} has been changed since it was installed; install sentprobe again. ({e})"
        ) from None
    assert isinstance(inner, trained.MaxPooled)
    return BuiltIn(inner, Identity("builtin", NAME, inner.identity.facts))


@dataclass(frozen=True, eq=False, repr=False)
class BuiltIn:
    """A trained network that is given contractions in two parts, as treebanks have them: did n't."""

    inner: trained.MaxPooled
    identity: Identity
    batch_size: int = 1024
    languages: tuple[str, ...] = ("en",)

    def __repr__(self) -> str:
        return short_repr(self, f"builtin:{self.identity.name}", f"{self.inner.width} dimensions")

    @property
    def training_score(self) -> TrainingScore | None:
        """How well it writes trees."""
        return self.inner.training_score

    def __call__(self, texts: Sequence[str], /) -> NDArray[np.float32]:
        """Vectors (n, 128)."""
        return self.inner(_split(texts))

    def cost(self, texts: Sequence[str], /) -> list[int]:
        """The number of words of each text."""
        return self.inner.cost(_split(texts))

    def words(self, words: Sequence[str], /) -> NDArray[np.float32]:
        """The input vectors (n, 48) of words; zeros for unknown ones."""
        return self.inner.words(words)

    def selection(self, texts: Sequence[str], /) -> list[list[tuple[str, float]]]:
        """The words of each text, and the share of dimensions whose maximum each of them gives."""
        return self.inner.selection(_split(texts))


def _split(texts: Sequence[str]) -> list[str]:
    return [CONTRACTION.sub(r" \1", text) for text in as_texts(texts)]
