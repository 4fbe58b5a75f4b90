"""One file, one probing task; the file is named as the task is, and so is its name at the command line."""

from __future__ import annotations

import difflib
import importlib
import importlib.util
import os
import pkgutil
import sys
from importlib.metadata import entry_points
from pathlib import Path

from sonde.core.arguments import StrOrPath
from sonde.core.third_party import third_party_code
from sonde.errors import UsageError, describe_error, error_location
from sonde.task import Task

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
    built_in = [m.name for m in pkgutil.iter_modules(__path__)]
    return sorted({*built_in, *(e.name for e in entry_points(group="sonde.tasks"))})


def load(name: StrOrPath) -> Task:
    """The task called ``name``: built in, installed, ``package.module[:attribute]``, or a path to a Python file."""
    name = os.fspath(name)
    if name.endswith(".py") or "/" in name:
        return _checked(_from_file(Path(name)), name)
    if name in (m.name for m in pkgutil.iter_modules(__path__)):
        return _checked(importlib.import_module(f"sonde.tasks.{name}").task, name)
    for entry in entry_points(group="sonde.tasks", name=name):
        try:
            with third_party_code:
                found = entry.load()
        except KeyboardInterrupt:
            raise
        except BaseException as e:
            raise UsageError(
                f"The task {name!r}, which an installed package offers, cannot be loaded: {describe_error(e)}"
            ) from e
        return _checked(found, name)
    if "." in name or ":" in name:
        module, _, attribute = name.partition(":")
        try:
            with third_party_code:
                found = importlib.import_module(module)
        except KeyboardInterrupt:
            raise
        except BaseException as e:
            said = str(e) if isinstance(e, ImportError) else describe_error(e)
            raise UsageError(f"The task {name!r} names the module {module!r}, which cannot be imported: {said}.") from e
        return _checked(getattr(found, attribute or "task", None), name)
    near = difflib.get_close_matches(name, names(), n=2)
    hint = f" Did you mean {' or '.join(near)}?" if near else ""
    raise UsageError(f"There is no task {name!r}.{hint} `sonde ls tasks` lists all {len(names())}.")


def suite(name: str) -> tuple[str, ...]:
    """The task names of a suite."""
    if name not in SUITES:
        near = difflib.get_close_matches(name, SUITES, n=1)
        hint = f" Did you mean {near[0]}?" if near else ""
        raise UsageError(f"There is no suite {name!r}.{hint} The suites are {', '.join(SUITES)}.")
    return SUITES[name]


def _from_file(path: Path) -> object:
    if not path.is_file():
        raise UsageError(f"There is no file {path} to load a task from.")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise UsageError(f"{path} is not a Python file; a task file ends in .py and defines `task`.")
    module = importlib.util.module_from_spec(spec)
    before = sys.modules.get(path.stem)
    sys.modules[path.stem] = module  # dataclasses look their module up while it runs
    try:
        with third_party_code:
            spec.loader.exec_module(module)
    except KeyboardInterrupt:
        raise
    except BaseException as e:  # sys.exit among them
        raise UsageError(f"The task file {path} does not run: {describe_error(e)}{error_location(e)}") from e
    finally:  # and out again, so that workers are sent the code and do not try to import it
        del sys.modules[path.stem]
        if before is not None:
            sys.modules[path.stem] = before
    return getattr(module, "task", None)


def _checked(found: object, name: str) -> Task:
    if not isinstance(found, Task):
        raise UsageError(
            f"{name} defines no task: expected a variable `task` holding a sonde.Task, met {type(found).__name__}."
        )
    return found
