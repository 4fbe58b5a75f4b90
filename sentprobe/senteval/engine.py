"""SentEval's entry point: ``SE(params, batcher, prepare).eval(tasks)``."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from sentprobe.core.reader import find_file
from sentprobe.corpus.files import stem
from sentprobe.errors import DataError, UsageError
from sentprobe.senteval import binary, mrpc, probing, rank, sick, snli, sst, sts, trec
from sentprobe.senteval.encoding import Batcher, Prepare
from sentprobe.senteval.utils import dotdict

__all__ = ["SE", "register_task"]

TaskFactory = Callable[..., Any]
"""A class, or any callable of a path and ``seed`` that returns an object with do_prepare and run."""

DOWNSTREAM: Mapping[str, tuple[str, TaskFactory]] = {
    "CR": ("CR", binary.CREval),
    "MR": ("MR", binary.MREval),
    "MPQA": ("MPQA", binary.MPQAEval),
    "SUBJ": ("SUBJ", binary.SUBJEval),
    "SST2": ("SST/binary", lambda path, seed: sst.SSTEval(path, nclasses=2, seed=seed)),
    "SST5": ("SST/fine", lambda path, seed: sst.SSTEval(path, nclasses=5, seed=seed)),
    "TREC": ("TREC", trec.TRECEval),
    "MRPC": ("MRPC", mrpc.MRPCEval),
    "SICKRelatedness": ("SICK", sick.SICKRelatednessEval),
    "SICKEntailment": ("SICK", sick.SICKEntailmentEval),
    "STSBenchmark": ("STS/STSBenchmark", sts.STSBenchmarkEval),
    "SNLI": ("SNLI", snli.SNLIEval),
    "ImageCaptionRetrieval": ("COCO", rank.ImageCaptionRetrievalEval),
    "STS12": ("STS/STS12-en-test", sts.STS12Eval),
    "STS13": ("STS/STS13-en-test", sts.STS13Eval),
    "STS14": ("STS/STS14-en-test", sts.STS14Eval),
    "STS15": ("STS/STS15-en-test", sts.STS15Eval),
    "STS16": ("STS/STS16-en-test", sts.STS16Eval),
}
"""The transfer tasks: the folder of each below ``downstream``, and what runs it."""
PROBING_EVALS: Mapping[str, tuple[str, TaskFactory]] = {
    "Length": ("sentence_length", probing.LengthEval),
    "WordContent": ("word_content", probing.WordContentEval),
    "Depth": ("tree_depth", probing.DepthEval),
    "TopConstituents": ("top_constituents", probing.TopConstituentsEval),
    "BigramShift": ("bigram_shift", probing.BigramShiftEval),
    "Tense": ("past_present", probing.TenseEval),
    "SubjNumber": ("subj_number", probing.SubjNumberEval),
    "ObjNumber": ("obj_number", probing.ObjNumberEval),
    "OddManOut": ("odd_man_out", probing.OddManOutEval),
    "CoordinationInversion": ("coordination_inversion", probing.CoordinationInversionEval),
}
"""The probing tasks: the name of each one's file, and what runs it."""
SIMCSE: Mapping[str, tuple[str, TaskFactory]] = {
    "SICKRelatedness-finetune": ("SICK", sick.SICKEval),
    "STSBenchmark-finetune": ("STS/STSBenchmark", sts.STSBenchmarkFinetune),
    "STSBenchmark-fix": ("STS/STSBenchmark-fix", sts.STSBenchmarkEval),
}
"""What SimCSE's copy of SentEval adds."""

_registered: dict[str, TaskFactory | Path] = {}


def register_task(name: str, factory: TaskFactory | str | Path) -> None:
    """Register a task under a name, or replace one.

    ``factory`` is a file in the format of the probing tasks; or a class such as those of ``senteval.binary``, or any
    function, that is called as ``factory(task_path, seed=…)`` with ``params['task_path']``.
    """
    _registered[name] = factory if callable(factory) else Path(factory)


class SE:
    """An evaluation of one encoder: ``batcher(params, batch)`` returns a vector for each sentence of a batch."""

    def __init__(self, params: Mapping[str, Any], batcher: Batcher, prepare: Prepare | None = None) -> None:
        defaults = {"usepytorch": True, "seed": 1111, "batch_size": 128, "nhid": 0, "kfold": 5}
        self.params = dotdict({**defaults, **params})
        if not self.params.classifier:
            self.params.classifier = {"nhid": 0}
        if "nhid" not in self.params.classifier:
            raise AssertionError("params['classifier'] must have nhid, the number of hidden units: 0 for none.")
        self.batcher = batcher
        self.prepare: Prepare = prepare or (lambda params, samples: None)
        self.evaluation: Any = None
        self.results: dict[str, Any] = {}
        published = {file for file, _ in PROBING_EVALS.values()}
        further = [name for name in _probing_files(self.params.task_path) if name not in published]
        self.list_tasks = list(dict.fromkeys([*DOWNSTREAM, *PROBING_EVALS, *SIMCSE, *_registered, *further]))

    def eval(self, name: str | list[str]) -> dict[str, Any]:
        """The results of a task; for a list of tasks, those of each by its name."""
        if isinstance(name, list):
            self.results = {task: self.eval(task) for task in name}
            return self.results
        self.evaluation = self._make(name)
        self.params.current_task = name
        self.evaluation.do_prepare(self.params, self.prepare)
        self.results = self.evaluation.run(self.params, self.batcher)
        return self.results

    def _make(self, name: Any) -> Any:
        if not self.params.task_path:
            raise UsageError(
                "params['task_path'] is missing: expected the folder that contains `downstream` and `probing`."
            )
        path, seed = Path(self.params.task_path), self.params.seed
        files = {file: task for task, (file, _) in PROBING_EVALS.items()}
        if isinstance(name, str):
            if factory := _registered.get(name):
                return factory(str(path), seed=seed) if callable(factory) else probing.PROBINGEval(name, factory, seed)
            if task := DOWNSTREAM.get(name) or SIMCSE.get(name):
                return task[1](_transfer_folder(name, path, task[0]), seed=seed)
            if task := PROBING_EVALS.get(files.get(name, name)):
                return task[1](_probing_file(path, task[0]).parent, seed=seed)
            if name in _probing_files(path):
                return probing.PROBINGEval(name, _probing_file(path, name), seed)
        raise AssertionError(_unknown(name, self.list_tasks))


def _transfer_folder(name: str, data: Path, home: str) -> Path:
    """The folder of a transfer task; folders from 2017 have no ``downstream``."""
    tried = (data / "downstream" / home, data / home)
    for folder in tried:
        if folder.is_dir():
            return folder
    raise DataError(
        f"{name} was not found: looked for {tried[0]} and {tried[1]}. "
        f"`sentprobe data get {name} -o {data}` downloads the set, or says where to get it."
    )


def _probing_file(data: Path, file: str) -> Path:
    """The file of a probing task, which need not exist, without its compression suffix."""
    tried = [folder / f"{file}.txt" for folder in (data / "probing", data)]
    return next((path for path in tried if find_file(path)), tried[0])


def _probing_files(data: Any) -> list[str]:
    """The names of the files below ``probing``."""
    folder = Path(data or "") / "probing"
    paths = sorted(folder.iterdir()) if data and folder.is_dir() else []
    return list(dict.fromkeys(stem(str(path)) for path in paths if ".txt" in path.suffixes))


def _unknown(name: Any, tasks: list[str]) -> str:
    near = difflib.get_close_matches(str(name).lower(), [task.lower() for task in tasks], n=1)
    meant = next((task for task in tasks if [task.lower()] == near), None)
    hint = f" Did you mean {meant}?" if meant else ""
    return f"{name!r} is not one of the tasks.{hint} Expected one of them, or a list of several: {tasks}"
