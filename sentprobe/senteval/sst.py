"""SST: sentiment in two or five classes."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import numpy as np

from sentprobe.senteval.batches import Batcher, Prepare, by_length, encode
from sentprobe.senteval.config import protocol_of
from sentprobe.senteval.read import cells_of, label_of, lines_of
from sentprobe.senteval.tools.validation import SplitClassifier
from sentprobe.senteval.utils import dotdict

__all__ = ["SSTEval"]

log = logging.getLogger("senteval")


class SSTEval:
    """Sentences with their labels in three splits."""

    def __init__(self, task_path: str | Path, nclasses: int = 2, seed: int = 1111) -> None:
        if nclasses not in (2, 5):
            raise AssertionError(f"nclasses must be 2 or 5 for SST, got {nclasses}.")
        self.seed, self.nclasses = seed, nclasses
        self.task_name = "Binary" if nclasses == 2 else "Fine-Grained"
        log.debug("***** Transfer task : SST %s classification *****", self.task_name)
        self.sst_data = {split: self.loadFile(Path(task_path) / f"sentiment-{split}") for split in _SPLITS}

    def do_prepare(self, params: dotdict, prepare: Prepare) -> Any:
        """Pass all sentences to the client."""
        return prepare(params, [sentence for split in _SPLITS for sentence in self.sst_data[split]["X"]])

    def loadFile(self, fpath: str | Path) -> dict[str, list[Any]]:  # noqa: N802 - SentEval's name
        """The sentences and labels of a file."""
        found: dict[str, list[Any]] = {"X": [], "y": []}
        for number, label, sentence in self._rows(fpath):
            found["X"].append(sentence.split())
            found["y"].append(label_of(fpath, number, label))
        if max(found["y"], default=-1) != self.nclasses - 1:
            raise AssertionError(f"{fpath}: the highest label must be {self.nclasses - 1}.")
        return found

    def _rows(self, fpath: str | Path) -> Any:
        if self.nclasses == 2:
            return [(number, cells[1], cells[0]) for number, cells in cells_of(fpath, 2)]
        split = [(number, line.strip().partition(" ")) for number, line in lines_of(fpath)]
        return [(number, label, sentence) for number, (label, _, sentence) in split]

    def run(self, params: dotdict, batcher: Batcher) -> dict[str, Any]:
        """Encode, train and test."""
        vectors, labels = {}, {}
        for split in _SPLITS:
            log.info("Computing embedding for %s", split)
            data = self.sst_data[split]
            data["X"], data["y"] = by_length(data["X"], data["y"])
            vectors[split], labels[split] = encode(params, batcher, data["X"]), np.array(data["y"])
        config = {
            "nclasses": self.nclasses, "seed": self.seed, "usepytorch": params.usepytorch,
            "classifier": params.classifier, "device": params.device,
        }  # fmt: skip
        names = {"train": "train", "valid": "dev", "test": "test"}
        dev, test = SplitClassifier(
            X={name: vectors[split] for name, split in names.items()},
            y={name: labels[split] for name, split in names.items()},
            config=config,
        ).run()
        log.debug("Dev acc : %s Test acc : %s for SST %s classification", dev, test, self.task_name)
        counted = {"ndev": len(vectors["dev"]), "ntest": len(vectors["test"])}
        return {"devacc": dev, "acc": test, **counted, **protocol_of(params.classifier)}


_SPLITS = ("train", "dev", "test")
