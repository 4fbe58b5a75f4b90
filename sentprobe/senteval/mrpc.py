"""MRPC: whether two sentences are paraphrases."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import numpy as np

from sentprobe.senteval.batches import Array, Batcher, Prepare, by_length, encode
from sentprobe.senteval.config import protocol_of
from sentprobe.senteval.read import cells_of, label_of
from sentprobe.senteval.tools.validation import KFoldClassifier
from sentprobe.senteval.utils import dotdict

__all__ = ["MRPCEval"]

log = logging.getLogger("senteval")

PAIR_ROWS = 256
"""Pairs that are combined at a time."""


class MRPCEval:
    """Training pairs and test pairs."""

    def __init__(self, task_path: str | Path, seed: int = 1111) -> None:
        log.info("***** Transfer task : MRPC *****")
        self.seed = seed
        self.mrpc_data = {
            split: self.loadFile(Path(task_path) / f"msr_paraphrase_{split}.txt") for split in ("train", "test")
        }

    def do_prepare(self, params: dotdict, prepare: Prepare) -> Any:
        """Pass all sentences to the client."""
        return prepare(params, [s for data in self.mrpc_data.values() for side in ("X_A", "X_B") for s in data[side]])

    def loadFile(self, fpath: str | Path) -> dict[str, list[Any]]:  # noqa: N802 - SentEval's name
        """The pairs and labels of a table with a header."""
        found: dict[str, list[Any]] = {"X_A": [], "X_B": [], "y": []}
        for number, cells in cells_of(fpath, 5):
            if number == 1:
                continue
            found["X_A"].append(cells[3].split())
            found["X_B"].append(cells[4].split())
            found["y"].append(label_of(fpath, number, cells[0]))
        return found

    def run(self, params: dotdict, batcher: Batcher) -> dict[str, Any]:
        """Encode, train and test."""
        parts = {}
        for split, data in self.mrpc_data.items():
            log.info("Computing embedding for %s", split)
            one, two, labels = by_length(data["X_A"], data["X_B"], data["y"])
            parts[split] = {"X": compared(encode(params, batcher, one, two))}
            parts[split]["y"] = np.array(labels)
        config = {
            "nclasses": 2, "seed": self.seed, "usepytorch": params.usepytorch, "classifier": params.classifier,
            "nhid": params.nhid, "kfold": params.kfold, "device": params.device,
        }  # fmt: skip
        dev, test, found = KFoldClassifier(train=parts["train"], test=parts["test"], config=config).run()
        f1 = round(100 * _f1(parts["test"]["y"], found), 2)
        log.debug("Dev acc : %s Test acc %s; Test F1 %s for MRPC.", dev, test, f1)
        counted = {"ndev": len(parts["train"]["y"]), "ntest": len(parts["test"]["y"])}
        return {"devacc": dev, "acc": test, "f1": f1, **counted, **protocol_of(params.classifier)}


def compared(pairs: Array) -> Array:
    """Vectors u and v side by side, (n, 2d), replaced in place by the features |u − v| and u · v."""
    width = pairs.shape[1] // 2
    for start in range(0, len(pairs), PAIR_ROWS):
        u, v = pairs[start : start + PAIR_ROWS, :width], pairs[start : start + PAIR_ROWS, width:]
        difference = np.abs(u - v)
        np.multiply(u, v, out=v)
        u[:] = difference
    return pairs


def _f1(labels: Array, found: Array) -> float:
    """F1 of label 1; 0 if it occurs neither as gold nor as predicted label."""
    meant, seen = labels == 1, found.ravel() == 1
    both, either = int((meant & seen).sum()), int(meant.sum() + seen.sum())
    return 2 * both / either if either else 0.0
