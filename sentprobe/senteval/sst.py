"""SST: sentiment in two or five classes."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from sentprobe.senteval.encoding import Batcher, Prepare, encode, length_order, predictions_of
from sentprobe.senteval.files import cells_of, label_of, lines_of
from sentprobe.senteval.tools.validation import SplitClassifier, accuracies, task_config
from sentprobe.senteval.utils import dotdict

__all__ = ["SSTEval"]

log = logging.getLogger("senteval")

_SPLITS = ("train", "dev", "test")


class SSTEval:
    """Sentences with their labels in three splits."""

    def __init__(self, task_path: str | Path, nclasses: int = 2, seed: int = 1111) -> None:
        if nclasses not in (2, 5):
            raise AssertionError(f"nclasses must be 2 or 5 for SST, got {nclasses}.")
        self.seed, self.nclasses = seed, nclasses
        self.task_name = "Binary" if nclasses == 2 else "Fine-Grained"
        log.debug("***** Transfer task : SST %s classification *****\n\n", self.task_name)
        self.sst_data = {split: self.loadFile(Path(task_path) / f"sentiment-{split}") for split in _SPLITS}

    def do_prepare(self, params: dotdict, prepare: Prepare) -> Any:
        """Pass all sentences to the client."""
        return prepare(params, [sentence for split in _SPLITS for sentence in self.sst_data[split]["X"]])

    def loadFile(self, fpath: str | Path) -> dict[str, list[Any]]:  # noqa: N802 - SentEval's name
        """The sentences and labels of a file."""
        columns: dict[str, list[Any]] = {"X": [], "y": []}
        for number, label, sentence in self._rows(fpath):
            columns["X"].append(sentence.split())
            columns["y"].append(label_of(fpath, number, label))
        if max(columns["y"], default=-1) != self.nclasses - 1:
            raise AssertionError(f"{fpath}: the highest label must be {self.nclasses - 1}.")
        return columns

    def _rows(self, fpath: str | Path) -> Iterator[tuple[int, str, str]]:
        """Line number, label and sentence: the two files are written differently."""
        if self.nclasses == 2:
            yield from ((number, cells[1], cells[0]) for number, cells in cells_of(fpath, 2))
            return
        for number, line in lines_of(fpath):
            label, _, sentence = line.strip().partition(" ")
            yield number, label, sentence

    def run(self, params: dotdict, batcher: Batcher) -> dict[str, Any]:
        """Encode, train and test."""
        vectors, labels = {}, {}
        for split, name in zip(_SPLITS, ("train", "valid", "test"), strict=True):
            log.info("Computing embedding for %s", split)
            data = self.sst_data[split]
            order = length_order(data["X"], data["y"])
            data["X"], data["y"] = ([data[column][i] for i in order] for column in ("X", "y"))
            vectors[name], labels[name] = encode(params, batcher, data["X"]), np.array(data["y"])
            log.info("Computed %s embeddings", split)
        classifier = SplitClassifier(X=vectors, y=labels, config=task_config(params, self.seed, self.nclasses))
        dev, test = classifier.run()
        log.debug("\nDev acc : %s Test acc : %s for             SST %s classification\n", dev, test, self.task_name)
        predictions = predictions_of(params, order, labels["test"], classifier.predicted)
        return accuracies(params, dev, test, len(vectors["valid"]), len(vectors["test"]), **predictions)
