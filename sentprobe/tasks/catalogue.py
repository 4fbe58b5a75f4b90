"""Which tasks and suites there are, and loading a task by its name, its parameter, its module or its file."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType

from sentprobe.core.arguments import StrOrPath, did_you_mean
from sentprobe.core.plugins import Kind
from sentprobe.core.third_party import load_file, load_module
from sentprobe.errors import UsageError
from sentprobe.tasks.task import ParametricTask, Task, check_signatures

TASKS = Kind("task", "sentprobe.tasks.definitions", Task, by_file=True)
"""All tasks, also those that other packages offer as entry points of the group ``sentprobe.tasks``."""
PARAMETRIC_TASKS = Kind("parametric task", "sentprobe.tasks.parametric", ParametricTask)
"""All tasks with a parameter, such as ``morph:obj.Case``."""
SUITES: dict[str, tuple[str, ...]] = {
    "conneau2018": (
        "sentence_length", "word_content", "tree_depth", "top_constituents", "bigram_shift",
        "past_present", "subj_number", "obj_number", "odd_man_out", "coordination_inversion",
    ),
    "universal2019": (
        "sentence_length", "word_content", "tree_depth", "top_dependencies", "passive",
        "past_present", "subj_number", "obj_number", "sentence_type",
    ),
    "xprobe2019": (
        "sentence_length", "word_content", "tree_depth", "bigram_shift", "past_present",
        "subj_number", "obj_number", "odd_man_out", "coordination_inversion",
    ),
    "adi2017": ("sentence_length", "word_presence", "word_order"),
}  # fmt: skip
"""The tasks of each suite, in the order of its paper. A task's file has the suite's policy."""

PAPERS = {
    "conneau2018": "Conneau, Kruszewski, Lample, Barrault, Baroni (2018): What you can cram into a single $&!#* vector",
    "universal2019": "Krasnowska-Kieraś, Wróblewska (2019): Empirical linguistic study of sentence embeddings",
    "xprobe2019": "Ravishankar, Øvrelid, Velldal (2019): Probing multilingual sentence representations with X-Probe",
    "adi2017": "Adi, Kermany, Belinkov, Lavi, Goldberg (2017): Fine-grained analysis of sentence embeddings",
}


def is_task_name(name: str) -> bool:
    """Whether this is the name of a task, and not a path or a module: safe to load, wherever the name comes from."""
    if name in TASKS:
        return True
    try:
        return _with_parameter(name) is not None
    except UsageError:
        return False


def _with_parameter(name: str) -> Task | None:
    """The parametric task that ``morph:obj.Case`` means, or ``morph.obj.Case``, as its sets are called."""
    prefix = re.match(r"(\w+)[:.]", name)
    part = PARAMETRIC_TASKS.parts().get(prefix[1]) if prefix else None
    return part.build(name[len(part.name) + 1 :]) if part else None


def load_task(name: StrOrPath) -> Task:
    """Load a task by name or from a file.

    Parameters
    ----------
    name
        A built-in task, one that an installed package offers, a parametric task with its parameter
        (``morph:obj.Case``), ``package.module[:attribute]``, or the path of a Python file with a variable ``task``.

    Returns
    -------
    Task
        The task.

    Raises
    ------
    UsageError
        If there is no such task, or its code is broken; the message names the file and line.

    Examples
    --------
    >>> import sentprobe
    >>> sentprobe.load_task("bigram_shift")
    Task('bigram_shift', version 2, readings: text, suites: conneau2018, xprobe2019)
    """
    name = os.fspath(name)
    content: object
    if name.endswith(".py") or "/" in name:
        content = load_file(Path(name), "task")
    elif name in TASKS:
        content = TASKS[name]
    elif parametric := _with_parameter(name):
        content = parametric
    elif name in PARAMETRIC_TASKS:
        part = PARAMETRIC_TASKS[name]
        raise UsageError(f"{name} needs a parameter: {part.usage}, such as {name}:{part.example}.")
    elif "." in name or ":" in name:
        module, _, attribute = name.partition(":")
        content = load_module(module, "task")
        if attribute:
            content = getattr(content, attribute, None)
    else:
        hint = did_you_mean(name, TASKS) or _tasks_about(name)
        raise UsageError(f"There is no task {name!r}.{hint} `sentprobe ls tasks` lists all {len(TASKS)}.")
    task = getattr(content, "task", None) if isinstance(content, ModuleType) else content
    if not isinstance(task, Task):
        raise UsageError(
            f"{name} defines no task: expected a variable `task` holding a sentprobe.Task, got {type(task).__name__}."
        )
    check_signatures(task)
    return task


def _tasks_about(word: str) -> str:
    """A suggestion of the tasks whose question has this word; empty if there are none, or too many to choose from."""
    about = [name for name, task in TASKS.parts().items() if word.lower() in re.findall(r"\w+", task.question.lower())]
    return f" Did you mean {' or '.join(about)}?" if 0 < len(about) <= MAX_SUGGESTED_TASKS else ""


MAX_SUGGESTED_TASKS = 3


def parametric_suites() -> Mapping[str, ParametricTask]:
    """The suites that consist of every task of one kind that a corpus supports."""
    return {part.suite: part for part in PARAMETRIC_TASKS.parts().values()}


def suite_tasks(name: str) -> tuple[str, ...]:
    """The task names of a suite."""
    if name not in SUITES:
        every = [*SUITES, *parametric_suites()]
        hint = did_you_mean(name, every, n=1)
        raise UsageError(f"There is no suite {name!r}.{hint} The suites are {', '.join(every)}.")
    return SUITES[name]
