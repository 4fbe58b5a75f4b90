"""SentEval's entry point: ``SE(params, batcher, prepare).eval(tasks)``."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from sentprobe.core.reader import find_file
from sentprobe.corpus.files import stem
from sentprobe.errors import DataError, UsageError
from sentprobe.senteval import cxc, glue, probing, utils
from sentprobe.senteval.binary import CREval, MPQAEval, MREval, SUBJEval
from sentprobe.senteval.encoding import Batcher, Prepare
from sentprobe.senteval.mrpc import MRPCEval
from sentprobe.senteval.probing import *  # noqa: F403 - clients import the classes of tasks from here
from sentprobe.senteval.rank import ImageCaptionRetrievalEval
from sentprobe.senteval.saved_vectors import SavedVectors
from sentprobe.senteval.sick import SICKEntailmentEval, SICKEval, SICKRelatednessCosinEval, SICKRelatednessEval
from sentprobe.senteval.snli import SNLIEval
from sentprobe.senteval.sst import SSTEval
from sentprobe.senteval.sts import (
    STS12Eval,
    STS13Eval,
    STS14Eval,
    STS15Eval,
    STS16Eval,
    STSBenchmarkCosinEval,
    STSBenchmarkDevEval,
    STSBenchmarkEval,
    STSBenchmarkFinetune,
)
from sentprobe.senteval.trec import TRECEval
from sentprobe.senteval.utils import dotdict

__all__ = ["SE", "SentEval", "register_task", "utils"]

TaskFactory = Callable[..., Any]
"""A class, or any callable of a path and ``seed`` that returns an object with do_prepare and run."""

DOWNSTREAM: Mapping[str, tuple[str, TaskFactory]] = {
    "CR": ("CR", CREval),
    "MR": ("MR", MREval),
    "MPQA": ("MPQA", MPQAEval),
    "SUBJ": ("SUBJ", SUBJEval),
    "SST2": ("SST/binary", lambda path, seed: SSTEval(path, nclasses=2, seed=seed)),
    "SST5": ("SST/fine", lambda path, seed: SSTEval(path, nclasses=5, seed=seed)),
    "TREC": ("TREC", TRECEval),
    "MRPC": ("MRPC", MRPCEval),
    "SICKRelatedness": ("SICK", SICKRelatednessEval),
    "SICKEntailment": ("SICK", SICKEntailmentEval),
    "STSBenchmark": ("STS/STSBenchmark", STSBenchmarkEval),
    "SNLI": ("SNLI", SNLIEval),
    "ImageCaptionRetrieval": ("COCO", ImageCaptionRetrievalEval),
    "STS12": ("STS/STS12-en-test", STS12Eval),
    "STS13": ("STS/STS13-en-test", STS13Eval),
    "STS14": ("STS/STS14-en-test", STS14Eval),
    "STS15": ("STS/STS15-en-test", STS15Eval),
    "STS16": ("STS/STS16-en-test", STS16Eval),
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
    "SICKRelatedness-finetune": ("SICK", SICKEval),
    "STSBenchmark-finetune": ("STS/STSBenchmark", STSBenchmarkFinetune),
    "STSBenchmark-fix": ("STS/STSBenchmark-fix", STSBenchmarkEval),
}
"""What SimCSE's copy of SentEval adds."""
FORKS: Mapping[str, tuple[str, TaskFactory]] = {
    "STSBenchmark-dev": ("STS/STSBenchmark", STSBenchmarkDevEval),
    "STSBenchmarkCosin": ("STS/STSBenchmark", STSBenchmarkCosinEval),
    "SICKRelatednessCosin": ("SICK", SICKRelatednessCosinEval),
    "STSBenchmarkUnsupervised": ("STS/STSBenchmark", STSBenchmarkCosinEval),
    "SICKRelatednessUnsupervised": ("SICK", SICKRelatednessCosinEval),
    "CocoCXC": ("CocoCXC", cxc.CocoCXCEval),
    **{name: (f"glue_data/{name}", partial(glue.GlueEval, name)) for name in glue.GLUE_TASKS},
    "SST": ("SST/binary", lambda path, seed: SSTEval(path, nclasses=2, seed=seed)),
}
"""What other copies add, and the name of SST2 in 2017."""
GLUE_TASKS = ["SST2", "MRPC", "STSBenchmark", *glue.GLUE_TASKS]
"""What florianmai's copy calls so."""

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
        self.list_tasks = list(dict.fromkeys([*DOWNSTREAM, *PROBING_EVALS, *SIMCSE, *FORKS, *_registered, *further]))

    def eval(self, name: str | list[str]) -> dict[str, Any]:
        """The results of a task; for a list of tasks, those of each by its name."""
        if isinstance(name, list):
            finished: dict[str, Any] = {}
            try:
                for task in name:
                    finished[task] = self.eval(task)
            except Exception as error:
                if finished:
                    error.add_note(f"Tasks that were finished before, also in SE.results: {finished}")
                raise
            finally:
                self.results = finished
            return self.results
        self.evaluation = self._make(name)
        self.params.current_task = name
        self.evaluation.do_prepare(self.params, self.prepare)
        if self.params.save_emb:
            saved = SavedVectors(_vectors_file(self.params.save_emb, name), self.batcher)
            self.results = self.evaluation.run(self.params, saved)
            saved.save()
        else:
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
            if task := DOWNSTREAM.get(name) or SIMCSE.get(name) or FORKS.get(name):
                return task[1](_transfer_folder(name, path, task[0]), seed=seed)
            if task := PROBING_EVALS.get(files.get(name, name)):
                return task[1](_probing_file(path, task[0]).parent, seed=seed)
            if name in _probing_files(path):
                return probing.PROBINGEval(name, _probing_file(path, name), seed)
        raise AssertionError(_unknown(name, self.list_tasks))


class SentEval(SE):
    """The entry point of 2017: ``params['classifier']`` is LogReg or MLP, with ``params['nhid']`` hidden units."""

    def __init__(self, params: Mapping[str, Any], batcher: Batcher, prepare: Prepare | None = None) -> None:
        if not isinstance(params, Mapping):
            raise UsageError(
                "SentEval(batcher, prepare, params) is the order of the first version, whose batcher takes (batch, "
                "params); expected SentEval(params, batcher, prepare) and batcher(params, batch)."
            )
        kind = params.get("classifier") or "LogReg"
        if isinstance(kind, str):
            if kind not in ("LogReg", "MLP"):
                raise AssertionError(f"params['classifier'] must be LogReg or MLP, got {kind!r}.")
            hidden = params.get("nhid") or 0
            if kind == "MLP" and not hidden:
                raise AssertionError("An MLP needs params['nhid'] hidden units.")
            params = {**params, "classifier": {"nhid": hidden if kind == "MLP" else 0}}
        super().__init__(params, batcher, prepare)


def _vectors_file(prefix: Any, task: str) -> Path:
    """The file of the vectors of a task; the last part of the prefix, after ``_``, is replaced, as in the fork."""
    stem_of_file, underscore, last = str(prefix).rpartition("_")
    return Path(f"{stem_of_file if underscore else last}_{task}.npz")


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
