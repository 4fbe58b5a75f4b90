"""MR, CR, SUBJ and MPQA: two classes and no splits."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import numpy as np

from sentprobe.senteval.batches import Batcher, Prepare, Sentence, by_length, encode
from sentprobe.senteval.config import protocol_of
from sentprobe.senteval.read import sentences_of
from sentprobe.senteval.tools.validation import InnerKFoldClassifier
from sentprobe.senteval.utils import dotdict

__all__ = ["BinaryClassifierEval", "CREval", "MPQAEval", "MREval", "SUBJEval"]

log = logging.getLogger("senteval")


class BinaryClassifierEval:
    """Sentences with label 1 and sentences with label 0."""

    def __init__(self, pos: list[Sentence], neg: list[Sentence], seed: int = 1111) -> None:
        self.seed = seed
        self.samples, self.labels = pos + neg, [1] * len(pos) + [0] * len(neg)
        self.n_samples = len(self.samples)

    def do_prepare(self, params: dotdict, prepare: Prepare) -> Any:
        """Pass all sentences to the client."""
        return prepare(params, self.samples)

    def loadFile(self, fpath: str | Path) -> list[Sentence]:  # noqa: N802 - SentEval's name
        """The sentences of a file."""
        return sentences_of(fpath)

    def run(self, params: dotdict, batcher: Batcher) -> dict[str, Any]:
        """Encode, train and test."""
        samples, labels = by_length(self.samples, self.labels)
        log.info("Generating sentence embeddings")
        vectors = encode(params, batcher, samples)
        log.info("Generated sentence embeddings")
        config = {
            "nclasses": 2, "seed": self.seed, "usepytorch": params.usepytorch, "classifier": params.classifier,
            "nhid": params.nhid, "kfold": params.kfold, "device": params.device,
        }  # fmt: skip
        dev, test = InnerKFoldClassifier(vectors, np.array(labels), config).run()
        log.debug("Dev acc : %s Test acc : %s", dev, test)
        counted = {"ndev": self.n_samples, "ntest": self.n_samples}
        return {"devacc": dev, "acc": test, **counted, **protocol_of(params.classifier)}


class CREval(BinaryClassifierEval):
    """Customer reviews."""

    def __init__(self, task_path: str | Path, seed: int = 1111) -> None:
        log.debug("***** Transfer task : CR *****")
        pos, neg = (self.loadFile(Path(task_path) / f"custrev.{label}") for label in ("pos", "neg"))
        BinaryClassifierEval.__init__(self, pos, neg, seed)


class MREval(BinaryClassifierEval):
    """Movie reviews."""

    def __init__(self, task_path: str | Path, seed: int = 1111) -> None:
        log.debug("***** Transfer task : MR *****")
        pos, neg = (self.loadFile(Path(task_path) / f"rt-polarity.{label}") for label in ("pos", "neg"))
        BinaryClassifierEval.__init__(self, pos, neg, seed)


class SUBJEval(BinaryClassifierEval):
    """Objective sentences, which have label 1, and subjective ones."""

    def __init__(self, task_path: str | Path, seed: int = 1111) -> None:
        log.debug("***** Transfer task : SUBJ *****")
        obj, subj = (self.loadFile(Path(task_path) / f"subj.{label}") for label in ("objective", "subjective"))
        BinaryClassifierEval.__init__(self, obj, subj, seed)


class MPQAEval(BinaryClassifierEval):
    """Opinions."""

    def __init__(self, task_path: str | Path, seed: int = 1111) -> None:
        log.debug("***** Transfer task : MPQA *****")
        pos, neg = (self.loadFile(Path(task_path) / f"mpqa.{label}") for label in ("pos", "neg"))
        BinaryClassifierEval.__init__(self, pos, neg, seed)
