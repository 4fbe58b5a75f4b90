"""Probing sets as a Python package of MTEB tasks.

The package is a copy of ``mteb_package.py.txt``, which reads the names, the labels and the rows of its tasks from
files: no code is generated, so that no name or sentence can become code. Each task has the digest of its set as the
revision of its dataset, by which results come back (``mteb_results``).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from importlib import resources
from pathlib import Path
from typing import Any

from sentprobe.core.files import encode_json, make_folder, write_atomically
from sentprobe.core.hashing import digest
from sentprobe.data.dataset import Dataset
from sentprobe.errors import UsageError

TEMPLATE = "mteb_package.py.txt"
"""Not a module, as mteb need not be installed."""
SPLITS = {"tr": "train", "va": "validation", "te": "test"}
NAME_PREFIX = "Probing"
"""Which tells these tasks from those of MTEB."""


def write_mteb_tasks(sets: Iterable[Dataset], folder: Path | str) -> list[str]:
    """Write sets as a package of MTEB tasks, and return the names of the tasks.

    Parameters
    ----------
    sets
        Sets of sentences with labels, of known languages.
    folder
        The package, whose name is that of the module.

    Raises
    ------
    UsageError
        If the folder holds something else, or a set is no MTEB classification task.
    """
    folder = Path(folder)
    if not folder.name.isidentifier():
        raise UsageError(f"{folder.name!r} is no name of a Python module; choose one such as my_tasks.")
    if folder.exists() and any(folder.iterdir()) and not (folder / "tasks.json").exists():
        raise UsageError(f"{folder} exists, and `sentprobe export mteb` did not write it; choose another folder.")
    sets = list(sets)
    for dataset in sets:
        check_exportable(dataset)
    make_folder(folder / "data")
    entries = [_write_rows(dataset, name, folder) for dataset, name in zip(sets, task_names(sets), strict=True)]
    write_atomically(folder / "tasks.json", encode_json(entries))
    write_atomically(folder / "__init__.py", resources.files(__package__).joinpath(TEMPLATE).read_bytes())
    return [entry["name"] for entry in entries]


def check_exportable(dataset: Dataset) -> None:
    """UsageError if a set cannot be a classification task of MTEB."""
    reason = None
    if dataset.manifest.get("inputs"):
        reason = f"its probe has other inputs than the sentence ({', '.join(dataset.manifest['inputs'])})"
    elif len(dataset.labels) < 2 or not dataset.rows.get("tr") or not dataset.rows.get("te"):
        reason = "it needs two labels, and rows in train and test"
    elif not dataset.language:
        reason = "its language is not known"
    if reason is not None:
        raise UsageError(f"{dataset.name} cannot be a classification task of MTEB: {reason}.")


def task_names(sets: Iterable[Dataset]) -> list[str]:
    """A name for each set, no two alike."""
    names: list[str] = []
    for dataset in sets:
        name = task_name(dataset.task, dataset.language)
        names.append(name if name not in names else f"{name}{dataset.digest[:6]}")
    return names


def task_name(task: str, language: str | None) -> str:
    """A name that MTEB can use as a file name, such as ProbingPastPresentEn."""
    words = re.findall(r"[A-Za-z0-9]+", f"{task} {language}")
    return NAME_PREFIX + "".join(word[:1].upper() + word[1:] for word in words)


def _write_rows(dataset: Dataset, name: str, folder: Path) -> dict[str, Any]:
    """Write the rows of a set as lines of JSON; return what tasks.json says of it."""
    number = {label: i for i, label in enumerate(dataset.labels)}
    rows = [{"split": SPLITS[split], "label": number[row.label], "text": row.text} for split, row in dataset]
    content = "".join(f"{json.dumps(row)}\n" for row in rows).encode()
    file = f"data/{name}.jsonl"
    write_atomically(folder / file, content)
    return {
        "name": name,
        "set": dataset.name,
        "digest": dataset.digest,
        "language": dataset.language,
        "labels": list(dataset.labels),
        "description": _description(dataset),
        "acceptability": dataset.task in ("bigram_shift", "odd_man_out", "coordination_inversion"),
        "file": file,
        "checksum": digest(content),
    }


def _description(dataset: Dataset) -> str:
    question = dataset.manifest.get("question") or f"Which label of {dataset.task} does the sentence have?"
    corpus = dataset.manifest.get("corpus")
    name = corpus.get("name") if isinstance(corpus, dict) else None
    return f"Probing set: {question}" + (f" Sentences of {name}." if name else "")
