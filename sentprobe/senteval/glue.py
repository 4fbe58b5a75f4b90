"""The tasks of GLUE, as in florianmai's copy of SentEval: vectors are not fine-tuned, a classifier is trained on them.

Their files are in ``glue_data/NAME``. Sentences are tokenised by NLTK and cut to ``params['max_seq_len']`` tokens.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from sentprobe.corpus.tokenisers import NLTK, tokeniser
from sentprobe.errors import DataError
from sentprobe.senteval.encoding import Array, Batcher, Prepare, Sentence, encode
from sentprobe.senteval.files import lines_of
from sentprobe.senteval.mrpc import f1_of
from sentprobe.senteval.tools.validation import SplitClassifier, accuracies, task_config
from sentprobe.senteval.utils import dotdict

__all__ = ["GLUE_TASKS", "GlueEval"]

log = logging.getLogger("senteval")

MAX_TOKENS = 50
"""Where ``params['max_seq_len']`` does not say otherwise."""
MAX_EPOCHS = 15
_MESSAGE = "Dev acc : {dev} Test acc : {test} for {name}\n"
_MESSAGES = {
    "CoLA": "Dev acc : {dev} Dev MCC : {devmcc} Test acc : {test} Test MCC : {mcc} for CoLA\n",
    "QQP": "Dev acc : {dev} Dev f1: {devf1} Test acc : {test} , Test f1: {f1} for QQP\n",
    "MNLI": "Dev acc : {dev} Matched test acc : {test} Mismatched test acc: {mismatched_acc} for MNLI\n",
}
_YES_NO = {"not_entailment": 0, "entailment": 1}
_NLI = {"neutral": 0, "entailment": 1, "contradiction": 2}


@dataclass(frozen=True)
class GlueFile:
    """A table with a header: which columns have the sentences, the label and the number of the row, from 0."""

    name: str
    texts: tuple[int, ...]
    label: int | None = None
    """None if the labels are not public."""
    index: int | None = None


@dataclass(frozen=True)
class GlueTask:
    """The files of a task, and how its results are called."""

    title: str
    """In the log."""
    train: GlueFile
    dev: GlueFile
    tests: Mapping[str, GlueFile]
    """By what is before the keys of their results: matched, mismatched and diagnostic for MNLI."""
    labels: Mapping[str, int] = field(default_factory=lambda: {"0": 0, "1": 1})
    metric: str = ""
    """A further metric: mcc or f1."""
    unregularised: bool = False


def _pairs(title: str, labels: Mapping[str, int]) -> GlueTask:
    train, dev = (GlueFile(f"{split}.tsv", (1, 2), 3) for split in ("train", "dev"))
    return GlueTask(title, train, dev, {"": GlueFile("test.tsv", (1, 2), index=0)}, labels)


_MNLI_TRAIN = GlueFile("multinli_1.0_train.txt", (5, 6), 0)
GLUE_TASKS = {
    "CoLA": GlueTask(
        "CoLA ", GlueFile("train.tsv", (3,), 1), GlueFile("dev.tsv", (3,), 1),
        {"": GlueFile("test.tsv", (1,), index=0)}, metric="mcc",
    ),
    "QQP": GlueTask(
        "Quora Question Similarity", GlueFile("train.tsv", (3, 4), 5), GlueFile("dev.tsv", (3, 4), 5),
        {"": GlueFile("test.tsv", (1, 2), index=0)}, metric="f1",
    ),
    "RTE": _pairs("Recognizing Textual Entailment", _YES_NO),
    "QNLI": _pairs("QNLI Classification ", _YES_NO),
    "QNLIv2": _pairs("QNLI Classification ", _YES_NO),
    "WNLI": _pairs("WNLI Entailment", {"0": 0, "1": 1}),
    "MNLI": GlueTask(
        "MNLI Entailment", _MNLI_TRAIN, GlueFile("multinli_1.0_dev_both.txt", (5, 6), 0),
        {
            "matched": GlueFile("mnli_matched_test_ans.tsv", (1, 2), 3, 0),
            "mismatched": GlueFile("mnli_mismatched_test_ans.tsv", (1, 2), 3, 0),
            "diagnostic": GlueFile("diagnostic_test_ans.tsv", (1, 2), 3, 0),
        },
        _NLI,
    ),
    "ANLI": GlueTask(
        "ANLI Entailment", _MNLI_TRAIN, GlueFile("multinli_1.0_dev_matched.txt", (5, 6), 0),
        {"": GlueFile("adversarial_nli.tsv", (6, 7), 8)}, _NLI, unregularised=True,
    ),
}  # fmt: skip
"""As that copy reads them: it takes the first line of every file for a header, CoLA's sentences included."""


@dataclass(frozen=True)
class _Rows:
    """The rows of a file, sorted by the lengths of their sentences."""

    sides: list[list[Sentence]]
    labels: list[int]
    """-1 where they are not public."""
    indexes: list[int]


class GlueEval:
    """One task of GLUE."""

    def __init__(self, name: str, task_path: str | Path, seed: int = 1111) -> None:
        self.name, self.task, self.folder, self.seed = name, GLUE_TASKS[name], Path(task_path), seed
        log.debug("***** Transfer task : %s*****\n\n", self.task.title)

    def do_prepare(self, params: dotdict, prepare: Prepare) -> Any:
        """Read the files, and pass all sentences to the client."""
        words = tokeniser(params.glue_tokeniser or NLTK)
        limit = params.max_seq_len or MAX_TOKENS
        files = {"train": self.task.train, "valid": self.task.dev, **self.task.tests}
        self.data = {split: self._read(file, lambda text: words(text)[:limit]) for split, file in files.items()}
        return prepare(params, [sentence for rows in self.data.values() for side in rows.sides for sentence in side])

    def _read(self, file: GlueFile, words: Any) -> _Rows:
        """The rows of a file; those that lack a sentence or a label are left out, as in that copy, but said."""
        rows, skipped = [], []
        for number, cells in self._cells(file):
            sentences = [words(cells[i]) if i < len(cells) else [] for i in file.texts]
            label = -1 if file.label is None else self.task.labels.get("".join(cells[file.label : file.label + 1]))
            index = str(number) if file.index is None else cells[file.index]
            if label is None or not all(sentences) or not index.isdecimal():
                skipped.append(number)
            else:
                rows.append((*sentences, label, int(index)))
        if skipped:
            message = "%s: %d rows without a sentence or a label are left out, the first in line %d"
            log.warning(message, self.folder / file.name, len(skipped), skipped[0])
        if not rows:
            raise DataError(f"{self.folder / file.name} has no rows; expected the file that GLUE distributes.")
        rows.sort(key=lambda row: [len(sentence) for sentence in row[: len(file.texts)]])
        columns = [list(column) for column in zip(*rows, strict=True)]
        return _Rows(columns[: len(file.texts)], columns[-2], columns[-1])

    def _cells(self, file: GlueFile) -> Iterator[tuple[int, list[str]]]:
        path = self.folder / file.name
        for number, line in lines_of(path):
            if number > 1:
                yield number, line.strip().split("\t")

    def run(self, params: dotdict, batcher: Batcher) -> dict[str, Any]:
        """Encode, train and test."""
        vectors = {split: _features(params, batcher, rows.sides) for split, rows in self.data.items()}
        labels = {split: np.array(rows.labels) for split, rows in self.data.items()}
        # the dev rows and all test sets are tested by one classifier
        tested = ["valid", *self.task.tests]
        vectors["test"] = np.vstack([vectors[split] for split in tested])
        splits = {**labels, "test": np.concatenate([labels[split] for split in tested])}
        classifier = {**params.classifier, "max_epoch": MAX_EPOCHS, "epoch_size": 1}
        n_classes = len(self.task.labels)
        config = task_config(params, self.seed, n_classes, classifier=classifier, noreg=self.task.unregularised)
        split_classifier = SplitClassifier(vectors, splits, config)
        dev, _ = split_classifier.run()
        ends = np.cumsum([len(labels[split]) for split in tested])[:-1]
        predicted = dict(zip(tested, np.split(split_classifier.predicted, ends), strict=True))
        return self._results(params, dev, labels, predicted)

    def _results(
        self, params: dotdict, dev: Any, labels: Mapping[str, Array], predicted: Mapping[str, Array]
    ) -> dict[str, Any]:
        """What that copy calls them; NaN where the labels are not public."""
        scores: dict[str, Any] = {}
        for name in self.task.tests:
            before, gold = f"{name}_" * bool(name), labels[name]
            scores[f"{before}acc"] = _percent(np.mean(gold == predicted[name])) if (gold >= 0).all() else np.nan
            order = np.argsort(self.data[name].indexes, kind="stable")
            scores["preds" if name == "matched" else f"{before}preds"] = predicted[name][order].tolist()
        if self.task.metric:
            for split, key in (("valid", f"dev{self.task.metric}"), ("", self.task.metric)):
                public = (labels[split] >= 0).all()
                scores[key] = _METRICS[self.task.metric](labels[split], predicted[split]) if public else np.nan
        test = scores.get("acc", scores.get("matched_acc"))
        log.debug(_MESSAGES.get(self.name, _MESSAGE).format(dev=dev, test=test, name=self.name, **scores))
        counts = len(labels["valid"]), len(labels[next(iter(self.task.tests))])
        results = accuracies(params, dev, test, *counts, **scores)
        return results if "acc" in scores else {key: value for key, value in results.items() if key != "acc"}


def _features(params: dotdict, batcher: Batcher, sides: list[list[Sentence]]) -> Array:
    """The vectors of sentences, (n, d); of pairs u, v, u · v and |u − v| side by side, (n, 4d)."""
    vectors = [encode(params, batcher, sentences) for sentences in sides]
    if len(vectors) == 1:
        return vectors[0]
    u, v = vectors
    return np.hstack((u, v, u * v, np.abs(u - v)))


def _percent(share: Any) -> float:
    return float(round(100 * share, 2))


def _matthews(gold: Array, predicted: Array) -> float:
    """Matthews' correlation of two classes; 0 where it is not defined, as in scikit-learn."""
    if np.isnan(predicted).any():
        return np.nan
    covariance = np.cov(gold, predicted, bias=True)
    scale = np.sqrt(covariance[0, 0] * covariance[1, 1])
    return float(covariance[0, 1] / scale) if scale else 0.0


_METRICS: dict[str, Callable[[Array, Array], float]] = {
    "mcc": _matthews,
    "f1": lambda gold, predicted: _percent(f1_of(gold, predicted)),
}
