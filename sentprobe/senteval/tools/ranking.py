"""Images and captions ranked for each other, as a class."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from math import gcd
from typing import Any

import numpy as np

from sentprobe.probes import Features
from sentprobe.senteval.tools.classifier import torch_or_error
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
    modules = {"COCOProjNet": _projections, "PairwiseRankingLoss": _loss}
    if name not in modules:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return modules[name]()


@cache
def _projections() -> Any:
    nn = torch_or_error("COCOProjNet").nn

    class COCOProjNet(nn.Module):  # type: ignore[misc,name-defined]
        """Two linear projections, of images (imgdim) and of sentences (sentdim), to a common space (projdim)."""

        def __init__(self, config: Mapping[str, int]) -> None:
            super().__init__()
            self.imgdim, self.sentdim, self.projdim = config["imgdim"], config["sentdim"], config["projdim"]
            self.imgproj = nn.Sequential(nn.Linear(self.imgdim, self.projdim))
            self.sentproj = nn.Sequential(nn.Linear(self.sentdim, self.projdim))

        def forward(self, img: Any, sent: Any, imgc: Any, sentc: Any) -> tuple[Any, Any, Any, Any]:
            """Cosines of images and captions (n, d) of one another, twice, and with others (n, contrasts, d).

            Each is flat, (n · contrasts,): the pair, the same, image and other captions, caption and other images.
            """
            images, sentences = self.proj_image(img), self.proj_sentence(sent)
            other_images, other_sentences = self.proj_image(imgc), self.proj_sentence(sentc)
            anchor = (images * sentences).sum(-1, keepdim=True).expand(imgc.shape[:2]).flatten()
            to_sentences = (images.unsqueeze(1) * other_sentences).sum(-1).flatten()
            to_images = (sentences.unsqueeze(1) * other_images).sum(-1).flatten()
            return anchor, anchor, to_sentences, to_images

        def proj_sentence(self, sent: Any) -> Any:
            """The projections of sentences, of length 1."""
            return nn.functional.normalize(self.sentproj(sent), dim=-1)

        def proj_image(self, img: Any) -> Any:
            """The projections of images, of length 1."""
            return nn.functional.normalize(self.imgproj(img), dim=-1)

    return COCOProjNet


@cache
def _loss() -> Any:
    torch = torch_or_error("PairwiseRankingLoss")

    class PairwiseRankingLoss(torch.nn.Module):  # type: ignore[misc,name-defined]
        """The sum of what is lacking to a margin between right and wrong pairs."""

        def __init__(self, margin: float) -> None:
            super().__init__()
            self.margin = margin

        def forward(self, anchor1: Any, anchor2: Any, img_sentc: Any, sent_imgc: Any) -> Any:
            """The loss of the four results of ``COCOProjNet``."""
            of_sentences = torch.clamp(self.margin - anchor1 + img_sentc, min=0.0)
            return of_sentences.sum() + torch.clamp(self.margin - anchor2 + sent_imgc, min=0.0).sum()

    return PairwiseRankingLoss
