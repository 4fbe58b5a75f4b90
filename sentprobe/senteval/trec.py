"""TREC: the type of a question."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import numpy as np

from sentprobe.errors import CorpusError
from sentprobe.senteval.encoding import Batcher, Prepare, encode, length_order, predictions_of
from sentprobe.senteval.files import lines_of
from sentprobe.senteval.tools.validation import KFoldClassifier, accuracies, as_labels, task_config
from sentprobe.senteval.utils import dotdict

__all__ = ["TRECEval"]

log = logging.getLogger("senteval")

TREC_LABELS = {"ABBR": 0, "DESC": 1, "ENTY": 2, "HUM": 3, "LOC": 4, "NUM": 5}


class TRECEval:
    """Training questions and test questions."""

    def __init__(self, task_path: str | Path, seed: int = 1111) -> None:
        log.info("***** Transfer task : TREC *****\n\n")
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
        for name, data in (("train", self.train), ("test", self.test)):
            order = length_order(data["X"], data["y"])
            vectors = encode(params, batcher, [data["X"][i] for i in order])
            splits.append({"X": vectors, "y": np.array([data["y"][i] for i in order])})
            log.info("Computed %s embeddings", name)
        dev, test, predicted = KFoldClassifier(
            splits[0], splits[1], task_config(params, self.seed, len(TREC_LABELS))
        ).run()
        log.debug("\nDev acc : %s Test acc : %s             for TREC\n", dev, test)
        predictions = predictions_of(params, order, splits[1]["y"], as_labels(predicted))
        return accuracies(params, dev, test, len(self.train["X"]), len(self.test["X"]), **predictions)
