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
from sentprobe.senteval.encoding import (
    Array,
    Batcher,
    Prepare,
    Similarity,
    agreement,
    compared,
    encode,
    length_order,
    predictions_of,
    similarities,
    similarity_of,
)
from sentprobe.senteval.files import Pairs, cells_of, pairs_of, score_of, sentences_of_pairs
from sentprobe.senteval.tools.classifier import reduction_of
from sentprobe.senteval.tools.relatedness import RelatednessPytorch, distributions
from sentprobe.senteval.tools.validation import SplitClassifier, accuracies, task_config
from sentprobe.senteval.utils import dotdict

__all__ = ["SICKEntailmentEval", "SICKEval", "SICKRelatednessCosinEval", "SICKRelatednessEval"]

log = logging.getLogger("senteval")

FILES = {"train": "SICK_train.txt", "dev": "SICK_trial.txt", "test": "SICK_test_annotated.txt"}
SICK_LABELS = {"CONTRADICTION": 0, "NEUTRAL": 1, "ENTAILMENT": 2}
MODES = ("both", "supervised", "cosine")


class SICKRelatednessEval:
    """Pairs with a score from 1 to 5 in three splits."""

    similarity: Similarity
    watch = "pearson"
    """The metric that must improve on dev."""
    title = "Relatedness"
    """Which of the two tasks it is, in the log."""
    order: list[int]
    """The numbers of the rows that were encoded last, which are those of the test rows."""

    def __init__(self, task_path: str | Path, seed: int = 1111) -> None:
        log.debug("***** Transfer task : SICK-%s*****\n\n", self.title)
        self.seed = seed
        self.sick_data = {split: self.loadFile(Path(task_path) / file) for split, file in FILES.items()}

    def do_prepare(self, params: dotdict, prepare: Prepare) -> Any:
        """Pass all sentences to the client."""
        self.similarity = similarity_of(params)
        return prepare(params, sentences_of_pairs(self.sick_data.values()))

    def loadFile(self, fpath: str | Path) -> Pairs:  # noqa: N802 - SentEval's name
        """The pairs and scores of a table with a header."""
        rows = ((number, cells) for number, cells in cells_of(fpath, 4) if number > 1)
        return pairs_of((cells[1], cells[2], score_of(fpath, number, cells[3])) for number, cells in rows)

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
        # before training, which overwrites the vectors
        unsupervised = agreement(
            {
                split: (list(map(self.similarity, *np.hsplit(vectors[split], 2))), data["y"])
                for split, data in self.sick_data.items()
            }
        )
        return {**self._learn(params, vectors), **unsupervised}

    def encode_labels(self, labels: list[float], nclass: int = 5) -> Array:
        """Scores as distributions over the levels (Tai et al. 2015), (n, levels)."""
        return distributions(labels, nclass)

    def _encode(self, params: dotdict, batcher: Batcher) -> dict[str, Array]:
        """The vectors of both sides of each split side by side, (n, 2d); the split is sorted and stays so."""
        vectors = {}
        for split, data in self.sick_data.items():
            log.info("Computing embedding for %s", split)
            self.order = length_order(data["X_A"], data["X_B"], data["y"])
            for name in ("X_A", "X_B", "y"):
                data[name] = [data[name][i] for i in self.order]
            vectors[split] = encode(params, batcher, data["X_A"], data["X_B"])
            log.info("Computed %s embeddings", split)
        return vectors

    def _learn(self, params: dotdict, vectors: dict[str, Array]) -> dict[str, Any]:
        """Train on the vectors, which are overwritten, and test."""
        from scipy.stats import pearsonr, spearmanr

        splits = {
            split: {"X": compared(vectors[split]), "y": self.encode_labels(data["y"])}
            for split, data in self.sick_data.items()
        }
        config = {
            "seed": self.seed,
            "nclasses": splits["train"]["y"].shape[1],
            "watch": self.watch,
            "loss_reduction": reduction_of(params.classifier),
        }
        dev, predicted = RelatednessPytorch(
            train=splits["train"],
            valid=splits["dev"],
            test=splits["test"],
            devscores=self.sick_data["dev"]["y"],
            config=config,
        ).run()
        scores = np.array(self.sick_data["test"]["y"])
        # of vectors with NaN nothing was learned; a correlation that does not exist is 0, as in SentEval
        learned = not np.isnan(predicted).any()
        correlations = (correlation(predicted, scores)[0] for correlation in (pearsonr, spearmanr))
        pearson, spearman = map(_defined, correlations) if learned else (np.nan, np.nan)
        mse = np.mean((predicted - scores) ** 2)
        log.debug("Dev : %s %s", self.watch.title(), dev)
        gap = " " * 24
        log.debug("Test : Pearson %s Spearman %s MSE %s%sfor SICK Relatedness\n", pearson, spearman, mse, gap)
        return {
            f"dev{self.watch}": dev,
            "pearson": pearson,
            "spearman": spearman,
            "mse": mse,
            "yhat": predicted,
            "ndev": len(splits["dev"]["X"]),
            "ntest": len(splits["test"]["X"]),
            **predictions_of(params, self.order, scores, predicted),
        }


class SICKEval(SICKRelatednessEval):
    """Relatedness that is learned, with Spearman's correlation on dev: SimCSE's ``SICKRelatedness-finetune``."""

    watch = "spearman"

    def run(self, params: dotdict, batcher: Batcher) -> dict[str, Any]:
        """Encode, train and test."""
        return self._learn(params, self._encode(params, batcher))


class SICKRelatednessCosinEval(SICKRelatednessEval):
    """The cosines of the test pairs: ``SICKRelatednessCosin`` of BERT-whitening's copy, which sorts them by length."""

    def run(self, params: dotdict, batcher: Batcher) -> dict[str, Any]:
        """Encode the test pairs and compare."""
        from scipy.stats import pearsonr, spearmanr

        data = self.sick_data["test"]
        log.info("Computing embedding for test")
        self.order = length_order(data["X_A"], data["X_B"], data["y"])
        first, second, scores = ([data[name][i] for i in self.order] for name in ("X_A", "X_B", "y"))
        u, v = (encode(params, batcher, sentences) for sentences in (first, second))
        log.info("Computed test embeddings")
        predicted = np.array(list(map(self.similarity, u, v)))
        pearson, spearman = (_defined(correlation(predicted, scores)[0]) for correlation in (pearsonr, spearmanr))
        mse = np.mean((predicted - np.array(scores)) ** 2)
        log.debug("Test : Pearson %s Spearman %s MSE %s\n", pearson, spearman, mse)
        predictions = predictions_of(params, self.order, scores, predicted)
        return {"pearson": pearson, "spearman": spearman, "mse": mse, "ntest": len(scores), **predictions}


class SICKEntailmentEval(SICKRelatednessEval):
    """Whether the first sentence entails the second."""

    title = "Entailment"

    def loadFile(self, fpath: str | Path) -> Pairs:  # noqa: N802 - SentEval's name
        """The pairs and labels of a table with a header."""
        rows = ((number, cells) for number, cells in cells_of(fpath, 5) if number > 1)
        return pairs_of((cells[1], cells[2], _entailment(fpath, number, cells[4].strip())) for number, cells in rows)

    def run(self, params: dotdict, batcher: Batcher) -> dict[str, Any]:
        """Encode, train and test."""
        vectors = self._encode(params, batcher)
        names = {"train": "train", "valid": "dev", "test": "test"}
        classifier = SplitClassifier(
            X={name: compared(vectors[split]) for name, split in names.items()},
            y={name: np.array(self.sick_data[split]["y"]) for name, split in names.items()},
            config=task_config(params, self.seed, len(SICK_LABELS)),
        )
        dev, test = classifier.run()
        log.debug("\nDev acc : %s Test acc : %s for                        SICK entailment\n", dev, test)
        predictions = predictions_of(params, self.order, self.sick_data["test"]["y"], classifier.predicted)
        return accuracies(params, dev, test, len(vectors["dev"]), len(vectors["test"]), **predictions)


def _entailment(path: str | Path, number: int, label: str) -> int:
    if label not in SICK_LABELS:
        raise CorpusError(str(path), number, f"the label {label[:20]!r}", ", ".join(SICK_LABELS))
    return SICK_LABELS[label]


def _defined(correlation: Any) -> Any:
    """The correlation, or 0 if there is none."""
    return 0 if np.isnan(correlation) else correlation
