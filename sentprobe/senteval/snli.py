"""SNLI: entailment, neutral, contradiction."""

from __future__ import annotations

import copy
import logging
from pathlib import Path
from typing import Any

import numpy as np

from sentprobe.data.layouts.xnli import NO_GOLD
from sentprobe.errors import DataError
from sentprobe.senteval.encoding import (
    Array,
    Batcher,
    Prepare,
    Sentence,
    check_finite,
    length_order,
    matrix,
    predictions_of,
)
from sentprobe.senteval.files import text_of
from sentprobe.senteval.tools.validation import SplitClassifier, accuracies, task_config
from sentprobe.senteval.utils import dotdict

__all__ = ["SNLIEval"]

log = logging.getLogger("senteval")

SNLI_LABELS = {"entailment": 0, "neutral": 1, "contradiction": 2}
SNLI_MAX_EPOCHS = 15
"""Maximum number of epochs, with an evaluation on dev after each."""


class SNLIEval:
    """Pairs of premise and hypothesis in three splits, which are sorted by length, the hypothesis first."""

    def __init__(self, taskpath: str | Path, seed: int = 1111) -> None:
        log.debug("***** Transfer task : SNLI Entailment*****\n\n")
        self.seed = seed
        self.data: dict[str, tuple[list[Sentence], list[Sentence], list[str]]] = {}
        self.samples: list[Sentence] = []
        for split, suffix in (("train", "train"), ("valid", "dev"), ("test", "test")):
            premises, hypotheses = (self.loadFile(Path(taskpath) / f"{side}.{suffix}") for side in ("s1", "s2"))
            file = Path(taskpath) / f"labels.{suffix}"
            labels = [line.strip() for line in _lines(text_of(file))]
            if not len(premises) == len(hypotheses) == len(labels):
                counts = f"{len(premises)}, {len(hypotheses)} and {len(labels)}"
                raise DataError(f"{file} and the sentences next to it have {counts} lines; expected the same number.")
            if unexpected := sorted(set(labels) - {*SNLI_LABELS, NO_GOLD}):
                raise DataError(f"{file} has the labels {unexpected[:3]}; expected {', '.join(SNLI_LABELS)}.")
            gold = [row for row in zip(hypotheses, premises, labels, strict=True) if row[2] != NO_GOLD]
            self.order = length_order(*([row[i] for row in gold] for i in range(3)))
            gold = [gold[i] for i in self.order]
            hypotheses, premises, labels = [r[0] for r in gold], [r[1] for r in gold], [r[2] for r in gold]
            self.data[split] = (premises, hypotheses, labels)
            self.samples += premises + hypotheses

    def do_prepare(self, params: dotdict, prepare: Prepare) -> Any:
        """Pass all sentences to the client."""
        return prepare(params, self.samples)

    def loadFile(self, fpath: str | Path) -> list[Sentence]:  # noqa: N802 - SentEval's name
        """The sentences of a file, which SentEval always reads as Latin-1."""
        return [line.split() for line in _lines(text_of(fpath, "latin-1"))]

    def run(self, params: dotdict, batcher: Batcher) -> dict[str, Any]:
        """Encode, train and test."""
        self.X, self.y = {}, {}
        for split, (premises, hypotheses, labels) in self.data.items():
            features = []
            for start in range(0, len(labels), params.batch_size):
                sides = []
                for sentences in (premises, hypotheses):
                    batch = sentences[start : start + params.batch_size]
                    sides.append(matrix(params, batcher(params, batch), batch, start))
                    check_finite(params, sides[-1], start)
                features.append(_juxtaposed(*sides))
                if start % (20000 * params.batch_size) == 0:
                    log.info("PROGRESS (encoding): %.2f%%", 100 * start / len(labels))
            self.X[split] = np.vstack(features)
            self.y[split] = np.array([SNLI_LABELS[label] for label in labels])
        classifier = {**copy.deepcopy(params.classifier), "max_epoch": SNLI_MAX_EPOCHS, "epoch_size": 1}
        config = task_config(params, self.seed, 3, classifier=classifier, cudaEfficient=True, noreg=True)
        split_classifier = SplitClassifier(self.X, self.y, config)
        dev, test = split_classifier.run()
        log.debug("Dev acc : %s Test acc : %s for SNLI\n", dev, test)
        predictions = predictions_of(params, self.order, self.y["test"], split_classifier.predicted)
        return accuracies(params, dev, test, len(self.y["valid"]), len(self.y["test"]), **predictions)


def _juxtaposed(u: Array, v: Array) -> Array:
    """u, v, u · v and |u − v| side by side, (n, 4d), as 32-bit floats: there are more than half a million pairs."""
    return np.hstack((u, v, u * v, np.abs(u - v))).astype(np.float32)


def _lines(text: str) -> list[str]:
    """Lines end at line feeds only: Latin-1 has a character that ends a line in Python."""
    return text.removesuffix("\n").split("\n") if text else []
