"""A classifier that was trained in one language, applied as it is to pairs of another."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sentprobe.encoders import load
from sentprobe.encoders.schemes.family import Family
from sentprobe.errors import DataError, UsageError
from sentprobe.stats.intervals import wilson
from sentprobe.transfer.xnli.pairs import LABELS, Pair

BATCH = 1024


@dataclass(frozen=True)
class ZeroShot:
    """The accuracy on the pairs of a file."""

    encoder: str
    language: str
    n: int
    truth: tuple[int, ...]
    """Of each pair with a label, its number among the labels."""
    predicted: tuple[int, ...]

    @property
    def right(self) -> tuple[bool, ...]:
        """Whether the label of each pair is predicted."""
        return tuple(one == two for one, two in zip(self.truth, self.predicted, strict=True))

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

    from sentprobe.training.lm.classify import load_pair_classifier
    from sentprobe.training.nli_head import load_nli_head
    from sentprobe.training.objectives._classifier import features

    own = labelled(pairs)
    if not own:
        raise DataError("There are no pairs with a label.")
    truth = tuple(LABELS.index(pair.label) for pair in own)
    if encoder == classifier and (classify := load_pair_classifier(classifier)):
        labels = classify([(pair.premise, pair.hypothesis) for pair in own], own[0].language)
        return ZeroShot(encoder, own[0].language, len(own), truth, tuple(labels))
    head, size = load_nli_head(classifier, "--classifier")
    encode = _encoder(encoder, own[0].language)
    predicted: list[int] = []
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
        predicted += found.tolist()
    return ZeroShot(encoder, own[0].language, len(own), truth, tuple(predicted))


def labelled(pairs: Sequence[Pair]) -> list[Pair]:
    """The pairs that have a label."""
    return [pair for pair in pairs if pair.label in LABELS]


def _encoder(name: str, language: str) -> Callable[[Sequence[str]], Any]:
    """The encoder, or the member of a family for this language."""
    found = load(name)
    return found.members[found.language(language)] if isinstance(found, Family) else found
