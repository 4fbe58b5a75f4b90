"""TREC: the type of a question."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import numpy as np

from sentprobe.errors import CorpusError
from sentprobe.senteval.encoding import Batcher, Prepare, by_length, encode
from sentprobe.senteval.files import lines_of
from sentprobe.senteval.tools.validation import KFoldClassifier, accuracies, task_config
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
        columns: dict[str, list[Any]] = {"X": [], "y": []}
        for number, line in lines_of(fpath, "latin-1"):
            label, colon, fine_label_and_question = line.strip().partition(":")
            if not colon or label not in TREC_LABELS:
                raise CorpusError(str(fpath), number, f"{line[:20]!r}", "a line such as `NUM:date When … ?`")
            columns["X"].append(fine_label_and_question.partition(" ")[2].split())
            columns["y"].append(TREC_LABELS[label])
        return columns

    def run(self, params: dotdict, batcher: Batcher) -> dict[str, Any]:
        """Encode, train and test."""
        splits = []
        for data in (self.train, self.test):
            samples, labels = by_length(data["X"], data["y"])
            splits.append({"X": encode(params, batcher, samples), "y": np.array(labels)})
        log.info("Computed embeddings")
        dev, test, _ = KFoldClassifier(splits[0], splits[1], task_config(params, self.seed, len(TREC_LABELS))).run()
        log.debug("Dev acc : %s Test acc : %s for TREC", dev, test)
        return accuracies(params, dev, test, len(self.train["X"]), len(self.test["X"]))
