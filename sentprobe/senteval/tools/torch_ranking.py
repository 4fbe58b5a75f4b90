"""The network and the loss of image-caption retrieval in torch, for clients that import them from ``ranking``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sentprobe.errors import NotInstalled

try:
    import torch
    from torch import nn
except ImportError as why:
    raise NotInstalled(
        f"COCOProjNet is a module of torch, which cannot be imported ({why}): pip install torch."
    ) from why

__all__ = ["COCOProjNet", "PairwiseRankingLoss"]


class COCOProjNet(nn.Module):
    """Two linear projections, of images (imgdim) and of sentences (sentdim), to a common space (projdim)."""

    def __init__(self, config: Mapping[str, int]) -> None:
        super().__init__()
        self.imgdim, self.sentdim, self.projdim = config["imgdim"], config["sentdim"], config["projdim"]
        self.imgproj = nn.Sequential(nn.Linear(self.imgdim, self.projdim))
        self.sentproj = nn.Sequential(nn.Linear(self.sentdim, self.projdim))

    def forward(self, img: Any, sent: Any, imgc: Any, sentc: Any) -> tuple[Any, Any, Any, Any]:
        """Cosines of images and captions (n, d) that belong together, twice, and with others (n, contrasts, d).

        Each is flat, (n · contrasts,): image and caption, the same, image and other captions, caption and other images.
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


class PairwiseRankingLoss(nn.Module):
    """The sum of what is lacking to a margin between right and wrong pairs."""

    def __init__(self, margin: float) -> None:
        super().__init__()
        self.margin = margin

    def forward(self, anchor1: Any, anchor2: Any, img_sentc: Any, sent_imgc: Any) -> Any:
        """The loss of the four results of ``COCOProjNet``."""
        of_sentences = torch.clamp(self.margin - anchor1 + img_sentc, min=0.0)
        return of_sentences.sum() + torch.clamp(self.margin - anchor2 + sent_imgc, min=0.0).sum()
