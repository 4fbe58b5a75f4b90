"""TREC: the type of a question."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import numpy as np

from sentprobe.errors import CorpusError
from sentprobe.senteval.batches import Batcher, Prepare, by_length, encode
from sentprobe.senteval.config import protocol_of
from sentprobe.senteval.read import lines_of
from sentprobe.senteval.tools.validation import KFoldClassifier
from sentprobe.senteval.utils import dotdict

__all__ = ["TRECEval"]

log = logging.getLogger("senteval")

TREC_LABELS = {"ABBR": 0, "DESC": 1, "ENTY": 2, "HUM": 3, "LOC": 4, "NUM": 5}


class TRECEval:
    """Training questions and test questions."""

    def __init__(self, task_path: str | Path, seed: int = 1111) -> None:
        log.info("***** Transfer task : TREC *****")
        self.seed = seed
        self.train = self.loadFile(Path(task_path) / "train_5500.label")
        self.test = self.loadFile(Path(task_path) / "TREC_10.label")

    def do_prepare(self, params: dotdict, prepare: Prepare) -> Any:
        """Pass all sentences to the client."""
        return prepare(params, self.train["X"] + self.test["X"])

    def loadFile(self, fpath: str | Path) -> dict[str, list[Any]]:  # noqa: N802 - SentEval's name
        """The questions and labels of a file of lines such as ``NUM:date When … ?``."""
        found: dict[str, list[Any]] = {"X": [], "y": []}
        for number, line in lines_of(fpath, "latin-1"):
            label, colon, rest = line.strip().partition(":")
            if not colon or label not in TREC_LABELS:
                raise CorpusError(str(fpath), number, f"{line[:20]!r}", "a line such as `NUM:date When … ?`")
            found["X"].append(rest.partition(" ")[2].split())
            found["y"].append(TREC_LABELS[label])
        return found

    def run(self, params: dotdict, batcher: Batcher) -> dict[str, Any]:
        """Encode, train and test."""
        parts = []
        for data in (self.train, self.test):
            samples, labels = by_length(data["X"], data["y"])
            parts.append({"X": encode(params, batcher, samples), "y": np.array(labels)})
        log.info("Computed embeddings")
        config = {
            "nclasses": len(TREC_LABELS), "seed": self.seed, "usepytorch": params.usepytorch,
            "classifier": params.classifier, "kfold": params.kfold, "device": params.device,
        }  # fmt: skip
        dev, test, _ = KFoldClassifier(parts[0], parts[1], config).run()
        log.debug("Dev acc : %s Test acc : %s for TREC", dev, test)
        counted = {"ndev": len(self.train["X"]), "ntest": len(self.test["X"])}
        return {"devacc": dev, "acc": test, **counted, **protocol_of(params.classifier)}
