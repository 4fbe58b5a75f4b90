"""MRPC: whether two sentences are paraphrases."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import numpy as np

from sentprobe.senteval.encoding import Array, Batcher, Prepare, compared, encode, length_order, predictions_of
from sentprobe.senteval.files import Pairs, cells_of, label_of, pairs_of, sentences_of_pairs
from sentprobe.senteval.tools.validation import KFoldClassifier, accuracies, as_labels, task_config
from sentprobe.senteval.utils import dotdict

__all__ = ["MRPCEval"]

log = logging.getLogger("senteval")


class MRPCEval:
    """Training pairs and test pairs."""

    def __init__(self, task_path: str | Path, seed: int = 1111) -> None:
        log.info("***** Transfer task : MRPC *****\n\n")
        self.seed = seed
        self.mrpc_data = {
            split: self.loadFile(Path(task_path) / f"msr_paraphrase_{split}.txt") for split in ("train", "test")
        }

    def do_prepare(self, params: dotdict, prepare: Prepare) -> Any:
        """Pass all sentences to the client."""
        return prepare(params, sentences_of_pairs(self.mrpc_data.values()))

    def loadFile(self, fpath: str | Path) -> Pairs:  # noqa: N802 - SentEval's name
        """The pairs and labels of a table with a header."""
        rows = ((number, cells) for number, cells in cells_of(fpath, 5) if number > 1)
        return pairs_of((cells[3], cells[4], label_of(fpath, number, cells[0])) for number, cells in rows)

    def run(self, params: dotdict, batcher: Batcher) -> dict[str, Any]:
        """Encode, train and test."""
        splits = {}
        for split, data in self.mrpc_data.items():
            log.info("Computing embedding for %s", split)
            order = length_order(data["X_A"], data["X_B"], data["y"])
            first, second, labels = ([data[name][i] for i in order] for name in ("X_A", "X_B", "y"))
            splits[split] = {"X": compared(encode(params, batcher, first, second)), "y": np.array(labels)}
            log.info("Computed %s embeddings", split)
        config = task_config(params, self.seed, 2)
        dev, test, predicted = KFoldClassifier(train=splits["train"], test=splits["test"], config=config).run()
        f1 = round(100 * f1_of(splits["test"]["y"], predicted), 2)  # order is that of the test rows, the last split
        log.debug("Dev acc : %s Test acc %s; Test F1 %s for MRPC.\n", dev, test, f1)
        counts = (len(splits["train"]["y"]), len(splits["test"]["y"]))
        predictions = predictions_of(params, order, splits["test"]["y"], as_labels(predicted))
        return accuracies(params, dev, test, *counts, f1=f1, **predictions)


def f1_of(labels: Array, predicted: Array) -> float:
    """F1 of label 1; 0 if it occurs neither as gold nor as predicted label, NaN if nothing was predicted."""
    if np.isnan(predicted).any():
        return np.nan
    positive, predicted_positive = labels == 1, predicted.ravel() == 1
    hits, total = int((positive & predicted_positive).sum()), int(positive.sum() + predicted_positive.sum())
    return 2 * hits / total if total else 0.0
