"""One file, one probing task; the name of the file is the name of the task, also on the command line."""

from __future__ import annotations

import importlib
import os
from pathlib import Path
from types import ModuleType

from sonde.core.arguments import StrOrPath
from sonde.core.plugins import load_entry, module_names, offered
from sonde.core.suggest import did_you_mean
from sonde.errors import UsageError
from sonde.task import Task
from sonde.task.third_party import check_signatures, load_file, load_module

GROUP = "sonde.tasks"
"""The entry point group under which other packages offer tasks."""
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


def names() -> list[str]:
    """All task names: the built-in ones and those that installed packages offer as ``sonde.tasks`` entry points."""
    return sorted({*module_names(__name__), *offered(GROUP)})


def load(name: StrOrPath) -> Task:
    """Load a task by name or from a file.

    Parameters
    ----------
    name
        A built-in task, one that an installed package offers, ``package.module[:attribute]``, or the path of a Python
        file with a variable ``task``.

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
    >>> import sonde
    >>> sonde.load_task("bigram_shift")
    Task('bigram_shift', version 1, readings: text, suites: conneau2018, xprobe2019)
    """
    name = os.fspath(name)
    found: object
    if name.endswith(".py") or "/" in name:
        found = load_file(Path(name), "task")
    elif name in module_names(__name__):
        found = importlib.import_module(f"{__name__}.{name}")
    elif name in offered(GROUP):
        found = load_entry(offered(GROUP)[name])
    elif "." in name or ":" in name:
        module, _, attribute = name.partition(":")
        found = load_module(module, "task")
        if attribute:
            found = getattr(found, attribute, None)
    else:
        hint = did_you_mean(name, names())
        raise UsageError(f"There is no task {name!r}.{hint} `sonde ls tasks` lists all {len(names())}.")
    task = getattr(found, "task", None) if isinstance(found, ModuleType) else found
    if not isinstance(task, Task):
        raise UsageError(
            f"{name} defines no task: expected a variable `task` holding a sonde.Task, got {type(task).__name__}."
        )
    check_signatures(task)
    return task


def suite(name: str) -> tuple[str, ...]:
    """The task names of a suite."""
    if name not in SUITES:
        hint = did_you_mean(name, SUITES, n=1)
        raise UsageError(f"There is no suite {name!r}.{hint} The suites are {', '.join(SUITES)}.")
    return SUITES[name]
