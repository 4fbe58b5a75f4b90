"""COCO: the captions of an image, and the image of a caption."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np

from sentprobe.data.layouts import scan
from sentprobe.data.layouts.captions import features_path, load_features
from sentprobe.senteval.encoding import Batcher, Prepare, encode
from sentprobe.senteval.tools.ranking import ImageSentenceRankingPytorch
from sentprobe.senteval.utils import dotdict

__all__ = ["ImageCaptionRetrievalEval"]

log = logging.getLogger("senteval")


class ImageCaptionRetrievalEval:
    """Images with five captions each, in three splits. The words of captions are bytes."""

    def __init__(self, task_path: str | Path, seed: int = 1111) -> None:
        log.debug("***** Transfer task: Image Caption Retrieval *****\n\n")
        self.seed = seed
        self.coco_data = dict(zip(("train", "dev", "test"), self.loadFile(task_path), strict=True))

    def do_prepare(self, params: dotdict, prepare: Prepare) -> Any:
        """Pass all captions to the client."""
        return prepare(params, [sentence for data in self.coco_data.values() for sentence in data["sent"]])

    def loadFile(self, fpath: str | Path) -> tuple[dict[str, Any], ...]:  # noqa: N802 - SentEval's name
        """Captions and image features of the three splits, as ``sentprobe data convert-coco`` writes them."""
        splits: dict[str, dict[str, Any]] = {split: {"sent": []} for split in ("tr", "va", "te")}
        for split, path, row in scan("ImageCaptionRetrieval", Path(fpath)):
            splits[split]["sent"].append([word.encode() for word in row.text.split()])
            if "imgfeat" not in splits[split]:
                splits[split]["imgfeat"] = load_features(features_path(path))
        return tuple(splits.values())

    def run(self, params: dotdict, batcher: Batcher) -> dict[str, Any]:
        """Encode, train and test."""
        splits = {}
        for split, data in self.coco_data.items():
            log.info("Computing embedding for %s", split)
            # assigned, not converted: captions of equal length would become a matrix of words
            sentences = np.empty(len(data["sent"]), object)
            sentences[:] = data["sent"]
            order = sorted(range(len(sentences)), key=sentences.__getitem__)
            vectors = encode(params, batcher, cast(Sequence[Any], sentences[order]))
            splits[split] = {"sentfeat": vectors[np.argsort(order)], "imgfeat": data["imgfeat"]}
            log.info("Computed %s embeddings", split)
        config = {"seed": self.seed, "projdim": 1000, "margin": 0.2}
        dev, *recalls = ImageSentenceRankingPytorch(
            train=splits["train"], valid=splits["dev"], test=splits["test"], config=config
        ).run()
        gap = " " * 13
        log.debug("\nTest scores | Image to text:%s%s, %s, %s, %s", gap, *recalls[:4])
        log.debug("Test scores | Text to image:%s%s, %s, %s, %s\n", gap, *recalls[4:])
        return {
            "devacc": dev,
            "acc": [tuple(recalls[:4]), tuple(recalls[4:])],
            "ndev": len(splits["dev"]["sentfeat"]),
            "ntest": len(splits["test"]["sentfeat"]),
        }
