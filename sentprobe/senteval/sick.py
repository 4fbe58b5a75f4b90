"""SICK: how related two sentences are, and whether one entails the other.

SentEval learns relatedness from the vectors; SimCSE's copy takes their cosine. The keys of the two results differ, so
that one result has both. ``params['sts_mode']`` may select one of them: ``supervised`` or ``cosine``.
"""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import numpy as np

from sentprobe.errors import CorpusError, UsageError
from sentprobe.senteval.batches import Array, Batcher, Prepare, by_length, encode
from sentprobe.senteval.config import protocol_of, reduction_of
from sentprobe.senteval.mrpc import compared
from sentprobe.senteval.read import cells_of, score_of
from sentprobe.senteval.similar import Similarity, agreement, similarities, similarity_of
from sentprobe.senteval.tools.relatedness import RelatednessPytorch, distributions
from sentprobe.senteval.tools.validation import SplitClassifier
from sentprobe.senteval.utils import dotdict

__all__ = ["SICKEntailmentEval", "SICKEval", "SICKRelatednessEval"]

log = logging.getLogger("senteval")

FILES = {"train": "SICK_train.txt", "dev": "SICK_trial.txt", "test": "SICK_test_annotated.txt"}
SICK_LABELS = {"CONTRADICTION": 0, "NEUTRAL": 1, "ENTAILMENT": 2}
MODES = ("both", "supervised", "cosine")

Pairs = dict[str, list[Any]]


class SICKRelatednessEval:
    """Pairs with a score from 1 to 5 in three splits."""

    similarity: Similarity
    watch = "pearson"
    """The metric that must improve on dev."""

    def __init__(self, task_path: str | Path, seed: int = 1111) -> None:
        log.debug("***** Transfer task : SICK *****")
        self.seed = seed
        self.sick_data = {split: self.loadFile(Path(task_path) / file) for split, file in FILES.items()}

    def do_prepare(self, params: dotdict, prepare: Prepare) -> Any:
        """Pass all sentences to the client."""
        self.similarity = similarity_of(params)
        return prepare(params, [s for data in self.sick_data.values() for side in ("X_A", "X_B") for s in data[side]])

    def loadFile(self, fpath: str | Path) -> Pairs:  # noqa: N802 - SentEval's name
        """The pairs and scores of a table with a header."""
        found: Pairs = {"X_A": [], "X_B": [], "y": []}
        for number, cells in cells_of(fpath, 4):
            if number > 1:
                found["X_A"].append(cells[1].split())
                found["X_B"].append(cells[2].split())
                found["y"].append(score_of(fpath, number, cells[3]))
        return found

    def run(self, params: dotdict, batcher: Batcher) -> dict[str, Any]:
        """Encode and compare; train and test."""
        mode = params.sts_mode or "both"
        if mode not in MODES:
            raise UsageError(f"params['sts_mode'] must be one of {', '.join(MODES)}, got {mode!r}.")
        if mode == "cosine":  # in SimCSE's order, which is that of the files
            return agreement(
                {
                    split: (similarities(params, batcher, self.similarity, data["X_A"], data["X_B"]), data["y"])
                    for split, data in self.sick_data.items()
                }
            )
        vectors = self._encode(params, batcher)
        if mode == "supervised":
            return self._learn(params, vectors)
        likeness = {split: list(map(self.similarity, *np.hsplit(pairs, 2))) for split, pairs in vectors.items()}
        found = agreement({split: (likeness[split], data["y"]) for split, data in self.sick_data.items()})
        return {**self._learn(params, vectors), **found}

    def encode_labels(self, labels: list[float], nclass: int = 5) -> Array:
        """Scores as distributions over the levels (Tai et al. 2015), (n, levels)."""
        return distributions(labels, nclass)

    def _encode(self, params: dotdict, batcher: Batcher) -> dict[str, Array]:
        """The vectors of both sides of each split side by side, (n, 2d); the split is sorted and stays so."""
        vectors = {}
        for split, data in self.sick_data.items():
            log.info("Computing embedding for %s", split)
            data["X_A"], data["X_B"], data["y"] = by_length(data["X_A"], data["X_B"], data["y"])
            vectors[split] = encode(params, batcher, data["X_A"], data["X_B"])
        return vectors

    def _learn(self, params: dotdict, vectors: dict[str, Array]) -> dict[str, Any]:
        """Train on the vectors, which are overwritten, and test."""
        from scipy.stats import pearsonr, spearmanr

        parts = {
            split: {"X": compared(vectors[split]), "y": self.encode_labels(data["y"])}
            for split, data in self.sick_data.items()
        }
        config = {
            "seed": self.seed, "nclasses": parts["train"]["y"].shape[1], "watch": self.watch,
            "loss_reduction": reduction_of(params.classifier),
        }  # fmt: skip
        dev, found = RelatednessPytorch(
            train=parts["train"],
            valid=parts["dev"],
            test=parts["test"],
            devscores=self.sick_data["dev"]["y"],
            config=config,
        ).run()
        scores = np.array(self.sick_data["test"]["y"])
        pearson, spearman = (_defined(each(found, scores)[0]) for each in (pearsonr, spearmanr))
        squares = np.mean((found - scores) ** 2)
        log.debug("Dev : %s %s. Test : Pearson %s Spearman %s MSE %s", self.watch, dev, pearson, spearman, squares)
        return {
            f"dev{self.watch}": dev, "pearson": pearson, "spearman": spearman, "mse": squares, "yhat": found,
            "ndev": len(parts["dev"]["X"]), "ntest": len(parts["test"]["X"]),
        }  # fmt: skip


class SICKEval(SICKRelatednessEval):
    """Relatedness that is learned, with Spearman's correlation on dev: SimCSE's ``SICKRelatedness-finetune``."""

    watch = "spearman"

    def run(self, params: dotdict, batcher: Batcher) -> dict[str, Any]:
        """Encode, train and test."""
        return self._learn(params, self._encode(params, batcher))


class SICKEntailmentEval(SICKRelatednessEval):
    """Whether the first sentence entails the second."""

    def loadFile(self, fpath: str | Path) -> Pairs:  # noqa: N802 - SentEval's name
        """The pairs and labels of a table with a header."""
        found: Pairs = {"X_A": [], "X_B": [], "y": []}
        for number, cells in cells_of(fpath, 5):
            if number == 1:
                continue
            label = cells[4].strip()
            if label not in SICK_LABELS:
                raise CorpusError(str(fpath), number, f"the label {label[:20]!r}", ", ".join(SICK_LABELS))
            found["X_A"].append(cells[1].split())
            found["X_B"].append(cells[2].split())
            found["y"].append(SICK_LABELS[label])
        return found

    def run(self, params: dotdict, batcher: Batcher) -> dict[str, Any]:
        """Encode, train and test."""
        vectors = self._encode(params, batcher)
        names = {"train": "train", "valid": "dev", "test": "test"}
        config = {
            "nclasses": len(SICK_LABELS), "seed": self.seed, "usepytorch": params.usepytorch,
            "classifier": params.classifier, "nhid": params.nhid, "device": params.device,
        }  # fmt: skip
        dev, test = SplitClassifier(
            X={name: compared(vectors[split]) for name, split in names.items()},
            y={name: np.array(self.sick_data[split]["y"]) for name, split in names.items()},
            config=config,
        ).run()
        log.debug("Dev acc : %s Test acc : %s for SICK entailment", dev, test)
        counted = {"ndev": len(vectors["dev"]), "ntest": len(vectors["test"])}
        return {"devacc": dev, "acc": test, **counted, **protocol_of(params.classifier)}


def _defined(correlation: Any) -> Any:
    """The correlation, or 0 if there is none."""
    return 0 if np.isnan(correlation) else correlation
