"""STS12 to STS16, which need no training, and the STS benchmark."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

from sentprobe.errors import CorpusError, DataError
from sentprobe.senteval.batches import Batcher, Prepare, Sentence, by_length
from sentprobe.senteval.read import cells_of, score_of, text_of
from sentprobe.senteval.sick import Pairs, SICKEval, SICKRelatednessEval
from sentprobe.senteval.similar import Similarity, agreement, similarities, similarity_of
from sentprobe.senteval.utils import dotdict

__all__ = [
    "SICKRelatednessEval", "STS12Eval", "STS13Eval", "STS14Eval", "STS15Eval", "STS16Eval", "STSBenchmarkEval",
    "STSBenchmarkFinetune", "STSEval",
]  # fmt: skip

log = logging.getLogger("senteval")


class STSEval:
    """Pairs with a score from 0 to 5 in several sets, ``datasets``, which a subclass names before it reads them."""

    seed: int
    datasets: list[str]
    similarity: Similarity

    def loadFile(self, fpath: str | Path) -> None:  # noqa: N802 - SentEval's name
        """Read the sets from a folder and sort them by length. Pairs without a score are skipped."""
        self.data: dict[str, tuple[list[Sentence], list[Sentence], list[float]]] = {}
        self.samples: list[Sentence] = []
        for name in self.datasets:
            one, two, scores = by_length(*_pairs(Path(fpath), name))
            self.data[name] = (one, two, scores)
            self.samples += one + two

    def do_prepare(self, params: dotdict, prepare: Prepare) -> Any:
        """Pass all sentences to the client."""
        self.similarity = similarity_of(params)
        return prepare(params, self.samples)

    def run(self, params: dotdict, batcher: Batcher) -> dict[str, Any]:
        """Encode and compare."""
        pairs = {}
        for name in self.datasets:
            one, two, scores = self.data[name]
            pairs[name] = (similarities(params, batcher, self.similarity, one, two), scores)
        results = agreement(pairs)
        for name in self.datasets:
            found = results[name]
            log.debug("%s : pearson = %.4f, spearman = %.4f", name, found["pearson"][0], found["spearman"][0])
        for kind, means in results["all"].items():
            log.debug("ALL : %s all = %.4f, weighted mean = %.4f, mean = %.4f", kind, *map(means.get, _MEANS))
        return results


class _Year(STSEval):
    """The sets of one year, which the class names."""

    name: str
    sets: tuple[str, ...]

    def __init__(self, taskpath: str | Path, seed: int = 1111) -> None:
        log.debug("***** Transfer task : %s *****", self.name)
        self.seed = seed
        self.datasets = list(self.sets)
        self.loadFile(taskpath)


class STS12Eval(_Year):
    """SemEval 2012."""

    name = "STS12"
    sets = ("MSRpar", "MSRvid", "SMTeuroparl", "surprise.OnWN", "surprise.SMTnews")


class STS13Eval(_Year):
    """SemEval 2013, without SMT, which may not be redistributed."""

    name = "STS13 (-SMT)"
    sets = ("FNWN", "headlines", "OnWN")


class STS14Eval(_Year):
    """SemEval 2014."""

    name = "STS14"
    sets = ("deft-forum", "deft-news", "headlines", "images", "OnWN", "tweet-news")


class STS15Eval(_Year):
    """SemEval 2015."""

    name = "STS15"
    sets = ("answers-forums", "answers-students", "belief", "headlines", "images")


class STS16Eval(_Year):
    """SemEval 2016."""

    name = "STS16"
    sets = ("answer-answer", "headlines", "plagiarism", "postediting", "question-question")


class STSBenchmarkEval(SICKRelatednessEval):
    """The STS benchmark, trained and compared like SICK."""

    def __init__(self, task_path: str | Path, seed: int = 1111) -> None:
        log.debug("***** Transfer task : STSBenchmark*****")
        self.seed = seed
        self.sick_data = {split: self.loadFile(Path(task_path) / f"sts-{split}.csv") for split in _SPLITS}

    def loadFile(self, fpath: str | Path) -> Pairs:  # noqa: N802 - SentEval's name
        """The pairs and scores of a table without a header."""
        return _benchmark(fpath)


class STSBenchmarkFinetune(SICKEval):
    """The STS benchmark, trained, with Spearman's correlation on dev: SimCSE's ``STSBenchmark-finetune``."""

    def __init__(self, task_path: str | Path, seed: int = 1111) -> None:
        log.debug("***** Transfer task : STSBenchmark*****")
        self.seed = seed
        self.sick_data = {split: self.loadFile(Path(task_path) / f"sts-{split}.csv") for split in _SPLITS}

    def loadFile(self, fpath: str | Path) -> Pairs:  # noqa: N802 - SentEval's name
        """The pairs and scores of a table without a header."""
        return _benchmark(fpath)


_SPLITS = ("train", "dev", "test")
_MEANS = ("all", "wmean", "mean")


def _pairs(folder: Path, name: str) -> tuple[list[Sentence], list[Sentence], list[float]]:
    """Sentences, sentences and scores of one set."""
    files = [folder / f"STS.{kind}.{name}.txt" for kind in ("input", "gs")]
    pairs, scores = (text_of(file).removesuffix("\n").split("\n") for file in files)
    if len(pairs) != len(scores):
        raise DataError(
            f"{files[0]} has {len(pairs)} lines, and {files[1].name} {len(scores)}; expected the same number."
        )
    found: tuple[list[Sentence], list[Sentence], list[float]] = ([], [], [])
    for number, (pair, score) in enumerate(zip(pairs, scores, strict=True), 1):
        if not score.strip():
            continue
        cells = pair.split("\t")
        if len(cells) < 2:
            raise CorpusError(str(files[0]), number, "one column", "two sentences, separated by a tab")
        found[0].append(cells[0].split())
        found[1].append(cells[1].split())
        found[2].append(score_of(files[1], number, score))
    return found


def _benchmark(fpath: str | Path) -> Pairs:
    found: Pairs = {"X_A": [], "X_B": [], "y": []}
    for number, cells in cells_of(fpath, 7):
        if number == 1 and cells[4].strip() == "score":  # some copies have a header
            continue
        found["X_A"].append(cells[5].split())
        found["X_B"].append(cells[6].split())
        found["y"].append(score_of(fpath, number, cells[4]))
    return found
