"""An encoder that `sonde train` has trained.

    trained:FOLDER[?epoch=…|step=…&random=…]

The weights are those of the best checkpoint, or of the one after an epoch or step.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sonde.core.arguments import as_texts
from sonde.encoders.encoder import short_repr
from sonde.encoders.hub import import_optional
from sonde.encoders.identity import Identity, Spec
from sonde.errors import UsageError

if TYPE_CHECKING:
    from sonde.networks.vocabulary import Vocabulary

OPTIONS = {
    "epoch": "the number of an epoch (default: the best by the score on dev)",
    "step": "the number of a step, where checkpoints were written between epochs",
    "random": "a seed, 0 or more: weights are initialised at random instead of read, as before training",
}
"""What may follow the question mark."""
BATCH_WORDS = 4096
"""Words, with padding, that are encoded together."""


@dataclass(frozen=True, eq=False, repr=False)
class Trained:
    """A network of ``sonde train`` as an encoder."""

    identity: Identity
    network: Any
    vocabulary: Vocabulary
    batch_size: int = 1024

    def __repr__(self) -> str:
        return short_repr(self, f"trained:{self.identity.name}", f"{self.network.size} dimensions")

    def __call__(self, texts: Sequence[str], /) -> NDArray[np.float32]:
        """Vectors (n, d)."""
        torch = import_optional("torch")
        rows = [self.vocabulary.ids(text) for text in as_texts(texts)]
        found = np.zeros((len(rows), self.network.size), np.float32)
        order = sorted(range(len(rows)), key=lambda i: len(rows[i]))
        at = 0
        with torch.inference_mode():
            while at < len(order):
                end = at + 1
                while end < len(order) and (end + 1 - at) * len(rows[order[end]]) <= BATCH_WORDS:
                    end += 1
                some = order[at:end]
                length = len(rows[some[-1]])
                ids = torch.tensor([rows[i] + [0] * (length - len(rows[i])) for i in some])
                found[some] = self.network(ids, torch.tensor([len(rows[i]) for i in some])).vectors.numpy()
                at = end
        return found

    def cost(self, texts: Sequence[str], /) -> list[int]:
        """The number of words of each text."""
        return [len(self.vocabulary.ids(text)) for text in as_texts(texts)]


def load(spec: Spec) -> Trained:
    """The encoder that ``trained:FOLDER…`` names."""
    given = spec.check_options(OPTIONS)
    if not spec.path:
        raise UsageError(f"{spec} names no folder; expected trained:FOLDER, of `sonde train … -o FOLDER`.")
    if len({"epoch", "step", "random"} & set(given)) > 1:
        raise UsageError(f"{spec}: expected one of epoch, step and random.")
    import_optional("torch")
    from sonde.networks.folder import open_folder

    folder = open_folder(Path(spec.path).expanduser())
    seed = spec.integer("random", low=0)
    checkpoint = None
    if seed is None:
        checkpoint = folder.best()
        for kind in ("epoch", "step"):
            if kind in given:
                checkpoint = folder.find(kind, spec.integer(kind, 0, low=0))
    identity = Identity.of(
        "trained",
        folder.path.name,
        checkpoint=checkpoint.name if checkpoint else None,
        content=folder.digest(checkpoint),
        random=seed,
        drawn_by=None if seed is None else f"torch {import_optional('torch').__version__}",
    )
    return Trained(identity, folder.encoder(checkpoint, seed), folder.vocabulary)
