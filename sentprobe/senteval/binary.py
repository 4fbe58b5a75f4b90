"""MR, CR, SUBJ and MPQA: two classes and no splits."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import numpy as np

from sentprobe.senteval.encoding import Batcher, Prepare, Sentence, encode, length_order, predictions_of
from sentprobe.senteval.files import sentences_of
from sentprobe.senteval.tools.validation import InnerKFoldClassifier, accuracies, task_config
from sentprobe.senteval.utils import dotdict

__all__ = ["BinaryClassifierEval", "CREval", "MPQAEval", "MREval", "SUBJEval"]

log = logging.getLogger("senteval")


class BinaryClassifierEval:
    """Sentences with label 1 and sentences with label 0."""

    def __init__(self, pos: list[Sentence], neg: list[Sentence], seed: int = 1111) -> None:
        self.seed = seed
        self.samples, self.labels = pos + neg, [1] * len(pos) + [0] * len(neg)
        self.n_samples = len(self.samples)

    def do_prepare(self, params: dotdict, prepare: Prepare) -> Any:
        """Pass all sentences to the client."""
        return prepare(params, self.samples)

    def loadFile(self, fpath: str | Path) -> list[Sentence]:  # noqa: N802 - SentEval's name
        """The sentences of a file."""
        return sentences_of(fpath)

    def run(self, params: dotdict, batcher: Batcher) -> dict[str, Any]:
        """Encode, train and test."""
        order = length_order(self.samples, self.labels)
        samples, labels = [self.samples[i] for i in order], np.array([self.labels[i] for i in order])
        log.info("Generating sentence embeddings")
        vectors = encode(params, batcher, samples)
        log.info("Generated sentence embeddings")
        classifier = InnerKFoldClassifier(vectors, labels, task_config(params, self.seed, 2))
        dev, test = classifier.run()
        log.debug("Dev acc : %s Test acc : %s\n", dev, test)
        predictions = predictions_of(params, order, labels, classifier.predicted)
        return accuracies(params, dev, test, self.n_samples, self.n_samples, **predictions)


class _TwoFiles(BinaryClassifierEval):
    """A task with a file of sentences per label, which the class names."""

    name: str
    files: tuple[str, str]
    """Those of label 1 and of label 0."""

    def __init__(self, task_path: str | Path, seed: int = 1111) -> None:
        log.debug("***** Transfer task : %s *****\n\n", self.name)
        pos, neg = (self.loadFile(Path(task_path) / file) for file in self.files)
        super().__init__(pos, neg, seed)


class CREval(_TwoFiles):
    """Customer reviews."""

    name, files = "CR", ("custrev.pos", "custrev.neg")


class MREval(_TwoFiles):
    """Movie reviews."""

    name, files = "MR", ("rt-polarity.pos", "rt-polarity.neg")


class SUBJEval(_TwoFiles):
    """Objective sentences, which have label 1, and subjective ones."""

    name, files = "SUBJ", ("subj.objective", "subj.subjective")


class MPQAEval(_TwoFiles):
    """Opinions."""

    name, files = "MPQA", ("mpqa.pos", "mpqa.neg")
