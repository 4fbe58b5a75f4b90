"""The ten probing tasks, and any other in their format."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import numpy as np

from sentprobe.core.reader import split_cells
from sentprobe.data.dataset import check_against_manifest
from sentprobe.errors import CorpusError, DataError
from sentprobe.senteval.encoding import Batcher, Prepare, encode, length_order, predictions_of
from sentprobe.senteval.files import lines_of
from sentprobe.senteval.tools.validation import SplitClassifier, accuracies, task_config
from sentprobe.senteval.utils import dotdict

__all__ = [
    "BigramShiftEval",
    "CoordinationInversionEval",
    "DepthEval",
    "LengthEval",
    "ObjNumberEval",
    "OddManOutEval",
    "PROBINGEval",
    "SubjNumberEval",
    "TenseEval",
    "TopConstituentsEval",
    "WordContentEval",
]

log = logging.getLogger("senteval")

UNSEEN = -1
"""The number of a label that no training row has: any prediction for such a row is wrong."""


class PROBINGEval:
    """A file of lines ``tr|va|te<TAB>label<TAB>[further columns]<TAB>sentence``."""

    def __init__(self, task: str, task_path: str | Path, seed: int = 1111) -> None:
        self.seed, self.task = seed, task
        log.debug("***** (Probing) Transfer task : %s classification *****", task.upper())
        self.task_data: dict[str, dict[str, list[Any]]] = {s: {"X": [], "y": []} for s in ("train", "dev", "test")}
        self.loadFile(task_path)
        counts = [len(data["y"]) for data in self.task_data.values()]
        log.info("Loaded %s train - %s dev - %s test for %s", *counts, task)

    def do_prepare(self, params: dotdict, prepare: Prepare) -> Any:
        """Pass all sentences to the client."""
        return prepare(params, [sentence for data in self.task_data.values() for sentence in data["X"]])

    def loadFile(self, fpath: str | Path) -> None:  # noqa: N802 - SentEval's name
        """Read the file. Labels of the training rows are numbered in sorted order, as texts."""
        self.tok2split = {"tr": "train", "va": "dev", "te": "test"}
        check_against_manifest(Path(fpath))
        for number, line in lines_of(fpath):
            cells = split_cells(str(fpath), number, line.rstrip())
            cells = split_cells(str(fpath), number, line) if len(cells) < 3 else cells  # the sentence may be empty
            if len(cells) < 3 or cells[0] not in self.tok2split:
                raise CorpusError(
                    str(fpath), number, f"{line[:20]!r}", "tr, va or te, a label and a sentence, separated by tabs"
                )
            data = self.task_data[self.tok2split[cells[0]]]
            data["X"].append(cells[-1].split())
            data["y"].append(cells[1])
        if missing := [part for part, split in self.tok2split.items() if not self.task_data[split]["y"]]:
            raise DataError(f"{fpath} has no rows of the split {', '.join(missing)}; expected tr, va and te.")
        self.tok2label = {label: i for i, label in enumerate(sorted(set(self.task_data["train"]["y"])))}
        self.nclasses = len(self.tok2label)
        for split, data in self.task_data.items():
            if unseen := sorted(set(data["y"]) - set(self.tok2label)):
                log.warning("%s: %s has labels that no training row has: %s", self.task, split, ", ".join(unseen[:5]))
            data["y"] = [self.tok2label.get(label, UNSEEN) for label in data["y"]]

    def run(self, params: dotdict, batcher: Batcher) -> dict[str, Any]:
        """Encode, train and test."""
        vectors, labels = {}, {}
        log.info("Computing embeddings for train/dev/test")
        for split, data in self.task_data.items():
            order = length_order(data["X"], data["y"])
            name = "valid" if split == "dev" else split
            data["X"], data["y"] = ([data[column][i] for i in order] for column in ("X", "y"))
            vectors[name], labels[name] = encode(params, batcher, data["X"]), np.array(data["y"])
        log.info("Computed embeddings")
        classifier = params.classifier
        if self.task == "WordContent" and classifier["nhid"] > 0:
            log.info("WordContent is always fitted without hidden units; nhid=%s is ignored", classifier["nhid"])
            classifier = {**classifier, "nhid": 0}
        config = task_config(params, self.seed, self.nclasses, classifier=classifier)
        split_classifier = SplitClassifier(X=vectors, y=labels, config=config)
        dev, test = split_classifier.run()
        log.debug("\nDev acc : %.1f Test acc : %.1f for %s classification\n", dev, test, self.task.upper())
        predictions = predictions_of(params, order, labels["test"], split_classifier.predicted)
        return accuracies(params, dev, test, len(vectors["valid"]), len(vectors["test"]), **predictions)


class _PublishedTask(PROBINGEval):
    """One of SentEval's ten tasks, which the class names, as it names its file."""

    name: str
    file: str

    def __init__(self, task_path: str | Path, seed: int = 1111) -> None:
        super().__init__(self.name, Path(task_path) / self.file, seed)


class LengthEval(_PublishedTask):
    """The number of words, in bins."""

    name, file = "Length", "sentence_length.txt"


class WordContentEval(_PublishedTask):
    """Which of many words the sentence contains."""

    name, file = "WordContent", "word_content.txt"


class DepthEval(_PublishedTask):
    """The depth of the tree, in bins."""

    name, file = "Depth", "tree_depth.txt"


class TopConstituentsEval(_PublishedTask):
    """Which constituents the sentence has."""

    name, file = "TopConstituents", "top_constituents.txt"


class BigramShiftEval(_PublishedTask):
    """Whether two words were swapped."""

    name, file = "BigramShift", "bigram_shift.txt"


class TenseEval(_PublishedTask):
    """Past or present."""

    name, file = "Tense", "past_present.txt"


class SubjNumberEval(_PublishedTask):
    """The number of the subject."""

    name, file = "SubjNumber", "subj_number.txt"


class ObjNumberEval(_PublishedTask):
    """The number of the object."""

    name, file = "ObjNumber", "obj_number.txt"


class OddManOutEval(_PublishedTask):
    """Whether a word was replaced."""

    name, file = "OddManOut", "odd_man_out.txt"


class CoordinationInversionEval(_PublishedTask):
    """Whether two clauses were swapped."""

    name, file = "CoordinationInversion", "coordination_inversion.txt"
