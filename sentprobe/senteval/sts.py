"""STS12 to STS16, which need no training, and the STS benchmark."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

from sentprobe.core.reader import split_cells
from sentprobe.errors import DataError
from sentprobe.senteval.encoding import (
    Batcher,
    Prepare,
    Sentence,
    Similarity,
    agreement,
    length_order,
    similarities,
    similarity_of,
    wants_predictions,
)
from sentprobe.senteval.files import Pairs, cells_of, pairs_of, score_of, text_of
from sentprobe.senteval.sick import SICKEval, SICKRelatednessCosinEval, SICKRelatednessEval
from sentprobe.senteval.utils import dotdict

__all__ = [
    "SICKRelatednessEval",
    "STS12Eval",
    "STS13Eval",
    "STS14Eval",
    "STS15Eval",
    "STS16Eval",
    "STSBenchmarkCosinEval",
    "STSBenchmarkDevEval",
    "STSBenchmarkEval",
    "STSBenchmarkFinetune",
    "STSEval",
]

log = logging.getLogger("senteval")

_SPLITS = ("train", "dev", "test")


class STSEval:
    """Pairs with a score from 0 to 5 in several sets, ``datasets``, which a subclass names before it reads them."""

    seed: int
    datasets: list[str]
    similarity: Similarity

    def loadFile(self, fpath: str | Path) -> None:  # noqa: N802 - SentEval's name
        """Read the sets from a folder and sort them by length. Pairs without a score are skipped."""
        self.data: dict[str, tuple[list[Sentence], list[Sentence], list[float]]] = {}
        self.indexes: dict[str, list[int]] = {}
        self.samples: list[Sentence] = []
        for name in self.datasets:
            first, second, scores = _read_set(Path(fpath), name)
            order = self.indexes[name] = length_order(first, second, scores)
            first, second, scores = [first[i] for i in order], [second[i] for i in order], [scores[i] for i in order]
            self.data[name] = (first, second, scores)
            self.samples += first + second

    def do_prepare(self, params: dotdict, prepare: Prepare) -> Any:
        """Pass all sentences to the client."""
        self.similarity = similarity_of(params)
        return prepare(params, self.samples)

    def run(self, params: dotdict, batcher: Batcher) -> dict[str, Any]:
        """Encode and compare."""
        predicted_and_gold = {}
        for name in self.datasets:
            first, second, scores = self.data[name]
            predicted_and_gold[name] = (similarities(params, batcher, self.similarity, first, second), scores)
        results = agreement(predicted_and_gold)
        if wants_predictions(params):
            for name, (predicted, gold) in predicted_and_gold.items():
                results[name] |= {"indexes": self.indexes[name], "targets": gold, "predictions": predicted}
        return results


class _STSYear(STSEval):
    """The sets of one year, which the class names."""

    name: str
    sets: tuple[str, ...]

    def __init__(self, taskpath: str | Path, seed: int = 1111) -> None:
        log.debug("***** Transfer task : %s *****\n\n", self.name)
        self.seed = seed
        self.datasets = list(self.sets)
        self.loadFile(taskpath)


class STS12Eval(_STSYear):
    """SemEval 2012."""

    name = "STS12"
    sets = ("MSRpar", "MSRvid", "SMTeuroparl", "surprise.OnWN", "surprise.SMTnews")


class STS13Eval(_STSYear):
    """SemEval 2013, without SMT, which may not be redistributed."""

    name = "STS13 (-SMT)"
    sets = ("FNWN", "headlines", "OnWN")


class STS14Eval(_STSYear):
    """SemEval 2014."""

    name = "STS14"
    sets = ("deft-forum", "deft-news", "headlines", "images", "OnWN", "tweet-news")


class STS15Eval(_STSYear):
    """SemEval 2015."""

    name = "STS15"
    sets = ("answers-forums", "answers-students", "belief", "headlines", "images")


class STS16Eval(_STSYear):
    """SemEval 2016."""

    name = "STS16"
    sets = ("answer-answer", "headlines", "plagiarism", "postediting", "question-question")


class STSBenchmarkEval(SICKRelatednessEval):
    """The STS benchmark, trained and compared like SICK."""

    def __init__(self, task_path: str | Path, seed: int = 1111) -> None:
        log.debug("\n\n***** Transfer task : STSBenchmark*****\n\n")
        self.seed = seed
        self.sick_data = {split: self.loadFile(Path(task_path) / f"sts-{split}.csv") for split in _SPLITS}

    def loadFile(self, fpath: str | Path) -> Pairs:  # noqa: N802 - SentEval's name
        """The pairs and scores of a table, usually without a header."""
        rows = list(cells_of(fpath, 7))
        if rows and rows[0][0] == 1 and rows[0][1][4].strip() == "score":  # some copies have a header
            rows = rows[1:]
        return pairs_of((cells[5], cells[6], score_of(fpath, number, cells[4])) for number, cells in rows)


class STSBenchmarkFinetune(STSBenchmarkEval, SICKEval):
    """The STS benchmark, trained, with Spearman's correlation on dev: SimCSE's ``STSBenchmark-finetune``."""


class STSBenchmarkCosinEval(STSBenchmarkEval, SICKRelatednessCosinEval):
    """The cosines of the test pairs: ``STSBenchmarkCosin`` of BERT-whitening's copy."""


class STSBenchmarkDevEval(STSBenchmarkEval):
    """The cosines of the dev pairs, in the order of the file: ``STSBenchmark-dev`` of copies of SimCSE's."""

    def __init__(self, task_path: str | Path, seed: int = 1111) -> None:
        log.debug("\n\n***** Transfer task : STSBenchmark*****\n\n")
        self.seed = seed
        self.sick_data = {"dev": self.loadFile(Path(task_path) / "sts-dev.csv")}

    def run(self, params: dotdict, batcher: Batcher) -> dict[str, Any]:
        """Encode and compare."""
        data = self.sick_data["dev"]
        return agreement({"dev": (similarities(params, batcher, self.similarity, data["X_A"], data["X_B"]), data["y"])})


def _read_set(folder: Path, name: str) -> tuple[list[Sentence], list[Sentence], list[float]]:
    """Sentences, sentences and scores of one set."""
    files = [folder / f"STS.{kind}.{name}.txt" for kind in ("input", "gs")]
    pairs, scores = (text_of(file).removesuffix("\n").split("\n") for file in files)
    if len(pairs) != len(scores):
        raise DataError(
            f"{files[0]} has {len(pairs)} lines, and {files[1].name} {len(scores)}; expected the same number."
        )
    columns: tuple[list[Sentence], list[Sentence], list[float]] = ([], [], [])
    for number, (pair, score) in enumerate(zip(pairs, scores, strict=True), 1):
        if not score.strip():
            continue
        cells = split_cells(str(files[0]), number, pair, "two sentences, separated by a tab", least=2)
        columns[0].append(cells[0].split())
        columns[1].append(cells[1].split())
        columns[2].append(score_of(files[1], number, score))
    return columns
