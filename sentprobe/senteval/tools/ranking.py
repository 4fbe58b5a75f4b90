"""Images and captions ranked for each other, as a class."""

from __future__ import annotations

from collections.abc import Mapping
from math import gcd
from typing import Any

import numpy as np

from sentprobe.probes import Features
from sentprobe.transfer.retrieval import Gallery, rank

__all__ = ["ImageSentenceRankingPytorch"]

FOLD = 1000
"""Images per fold, among which the right one is retrieved."""
CAPTIONS_PER_IMAGE = 5
"""Captions per image."""


class ImageSentenceRankingPytorch:
    """Two projections to a common space. ``train``, ``valid`` and ``test`` are dictionaries.

    ``sentfeat`` (5n, d) are the vectors of the captions, five of each image in turn; ``imgfeat`` the features of the
    images, (n, d'), or (5n, d') with those of an image five times.
    """

    def __init__(
        self, train: Mapping[str, Any], valid: Mapping[str, Any], test: Mapping[str, Any], config: Mapping[str, Any]
    ) -> None:
        self.train, self.valid, self.test = train, valid, test
        self.seed: int = config["seed"]
        self.projdim: int = config["projdim"]
        self.margin: float = config["margin"]

    def run(self) -> tuple[float, float, float, float, float, float, float, float, float]:
        """The sum of recalls on dev; recall at 1, 5 and 10 and median rank of captions, and of images, on test."""
        if not all(np.isfinite(split["sentfeat"]).all() for split in (self.train, self.valid, self.test)):
            nan = np.nan
            return nan, nan, nan, nan, nan, nan, nan, nan, nan
        galleries = [_gallery(split) for split in (self.train, self.valid, self.test)]
        sizes = [len(gallery.images) for gallery in galleries[1:]]
        # sets of another size than COCO's are ranked in folds that fit both
        fold = FOLD if all(size % FOLD == 0 for size in sizes) else gcd(*sizes)
        result = rank(*galleries, seed=self.seed, dim=self.projdim, margin=self.margin, fold=fold)
        return result.dev, *result.captions, *result.images


def _gallery(split: Mapping[str, Any]) -> Gallery:
    captions, images = np.asarray(split["sentfeat"], np.float32), np.asarray(split["imgfeat"])
    features = Features.of(images)
    if len(images) == len(captions):
        features = features.select(slice(None, None, CAPTIONS_PER_IMAGE))
    return Gallery(features, Features.of(captions))


def __getattr__(name: str) -> Any:
    """SentEval's modules for torch, which some clients import; nothing here uses them, and torch is not imported."""
    if name not in ("COCOProjNet", "PairwiseRankingLoss"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from sentprobe.senteval.tools import torch_ranking

    return getattr(torch_ranking, name)
