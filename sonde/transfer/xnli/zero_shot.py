"""A classifier that was trained in one language, applied as it is to pairs of another."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sonde.encoders import load
from sonde.encoders.schemes.family import Family
from sonde.errors import DataError, UsageError
from sonde.stats.intervals import wilson
from sonde.transfer.xnli.pairs import LABELS, Pair

BATCH = 1024


@dataclass(frozen=True)
class ZeroShot:
    """The accuracy on the pairs of a file."""

    encoder: str
    language: str
    n: int
    right: tuple[bool, ...]
    """Of each pair with a label."""

    @property
    def accuracy(self) -> float:
        """The share of pairs whose label is predicted."""
        return sum(self.right) / self.n

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's, at 95 %."""
        return wilson(sum(self.right), self.n)


def zero_shot(classifier: str, encoder: str, pairs: Sequence[Pair]) -> ZeroShot:
    """Apply the classifier of ``trained:FOLDER`` to the vectors that an encoder gives these pairs, of one language.

    If the encoder is the classifier itself, a language model that was fine-tuned (xnli), it reads both sentences of a
    pair together.
    """
    import torch

    from sonde.training.lm.classify import load_pair_classifier
    from sonde.training.nli_head import load_nli_head
    from sonde.training.objectives._classifier import features

    own = [pair for pair in pairs if pair.label in LABELS]
    if not own:
        raise DataError("There are no pairs with a label.")
    if encoder == classifier and (classify := load_pair_classifier(classifier)):
        labels = classify([(pair.premise, pair.hypothesis) for pair in own], own[0].language)
        predicted = [LABELS[label] == pair.label for label, pair in zip(labels, own, strict=True)]
        return ZeroShot(encoder, own[0].language, len(own), tuple(predicted))
    head, size = load_nli_head(classifier, "--classifier")
    encode = _encoder(encoder, own[0].language)
    right: list[bool] = []
    for at in range(0, len(own), BATCH):
        some = own[at : at + BATCH]
        vectors = [np.asarray(encode([getattr(pair, side) for pair in some])) for side in ("premise", "hypothesis")]
        if vectors[0].shape[1:] != (size,):
            raise UsageError(
                f"{encoder} has vectors of shape {vectors[0].shape[1:]}, and the classifier of {classifier} is for "
                f"{size} dimensions: expected an encoder that copies it."
            )
        with torch.inference_mode():
            found = head(features([torch.from_numpy(np.ascontiguousarray(v, np.float32)) for v in vectors])).argmax(1)
        right += [LABELS[i] == pair.label for i, pair in zip(found.tolist(), some, strict=True)]
    return ZeroShot(encoder, own[0].language, len(own), tuple(right))


def _encoder(name: str, language: str) -> Callable[[Sequence[str]], Any]:
    """The encoder, or the member of a family for this language."""
    found = load(name)
    return found.members[found.language(language)] if isinstance(found, Family) else found
