"""Datasets of Hugging Face: folders that ``save_to_disk`` wrote, and ``hf-dataset:NAME``, which ``datasets`` loads.

Labels of the type ``ClassLabel`` are read by their names. Rows whose label is -1, which means that it is not public,
are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

from sentprobe.core.install import pip_install
from sentprobe.core.network import offline
from sentprobe.data.column_guess import SAMPLED_ROWS, guess_from_sample
from sentprobe.data.dataset import Dataset
from sentprobe.data.random_split import parse_random_split
from sentprobe.data.rows import DEFAULT_SHARES, SPLIT_NAMES, Columns, TableRows, cell_text
from sentprobe.data.tables import build_dataset
from sentprobe.errors import CorpusError, DataError, NotInstalled, Offline, UsageError

SCHEME = "hf-dataset:"
OPTIONS = ("config", "revision")
"""What may follow the name, as in ``hf-dataset:nyu-mll/glue?config=cola&revision=main``."""
_BATCH_ROWS = 1000
_SAVED = (("dataset_dict.json",), ("dataset_info.json", "state.json"))
"""The files in a folder of several splits, and of one."""


def is_hub_name(typed: str) -> bool:
    """Whether a set is named, not a path."""
    return typed.startswith(SCHEME)


def is_saved(folder: Path) -> bool:
    """Whether ``save_to_disk`` wrote this folder."""
    return any(all((folder / name).is_file() for name in names) for names in _SAVED)


def hub_trail(typed: str) -> tuple[str, ...]:
    """The parts of a name, the configuration last."""
    name, options = _parse(typed)
    parts = [part for part in re.split(r"[/\\]+", name) if part not in ("", ".", "..")]
    return (SCHEME, *parts, *([options["config"]] if "config" in options else []))


def read_hf_dataset(typed: str, columns: Columns | None) -> Dataset:
    """Read a folder or a name; without ``columns``, they are guessed."""
    splits = _load(typed)
    columns = columns or _guess(typed, splits)
    if not columns.split and not columns.random and not _has_test_rows(splits):
        columns = replace(columns, random=parse_random_split(DEFAULT_SHARES))
    table = TableRows(columns)
    for name, rows in splits.items():
        split = SPLIT_NAMES.get(name.lower(), "")
        if not split and not columns.split and not columns.random:
            continue  # such as GLUE's `validation_matched`, and rows without labels
        try:
            table.add(typed, _numbered_cells(typed, rows, columns), split)
        except CorpusError as e:
            raise DataError(
                f"{typed}, split {name}: row {e.line} (the first is 0) has {e.got}; expected {e.expected}."
            ) from None
    trail = hub_trail(typed) if is_hub_name(typed) else Path(typed).resolve().parts
    dataset = build_dataset(trail[-1], table.by_split(typed), typed, columns.inputs)
    return replace(dataset, manifest=columns.manifest)


def guess_columns_of(typed: str) -> Columns:
    """The columns of a folder or a name, if there is no doubt; otherwise a DataError."""
    return _guess(typed, _load(typed))


def _guess(typed: str, splits: Mapping[str, Any]) -> Columns:
    rows = next((rows for name, rows in splits.items() if name.lower() in SPLIT_NAMES), next(iter(splits.values())))
    usable = [name for name, feature in rows.features.items() if getattr(feature, "dtype", None) in _CELL_TYPES]
    sample = Columns(tuple(usable) or ("",), usable[0] if usable else "")
    cells = (
        [tuple(cells[:-1]) for _, cells in islice(_numbered_cells(typed, rows, sample), SAMPLED_ROWS)] if usable else []
    )
    return guess_from_sample(typed, usable, cells, from_names=_has_test_rows(splits))


_CELL_TYPES = {
    *("string", "large_string", "bool", "float16", "float32", "float64"),
    *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)),
}
"""Types of columns that may hold sentences or labels."""


def _has_test_rows(splits: Mapping[str, Any]) -> bool:
    """Whether the names of splits say which rows are for testing."""
    return any(SPLIT_NAMES.get(name.lower()) == "te" for name in splits)


def _numbered_cells(typed: str, rows: Any, columns: Columns) -> Iterator[tuple[int, Sequence[str]]]:
    """The number and the cells of the requested columns of each row that has a label."""
    names = [name for _, name in columns.requested]
    for option, name in columns.requested:
        if name not in rows.column_names:
            listed = ", ".join(map(repr, rows.column_names))
            raise UsageError(f"{typed}: {option} {name}: there is no such column; expected one of {listed}.")
    label_names = {name: getattr(rows.features[name], "names", None) for name in names}
    arrow, number = rows.select_columns(list(dict.fromkeys(names))).with_format("arrow"), 0
    for batch in arrow.iter(_BATCH_ROWS):
        values = {name: batch.column(name).to_pylist() for name in batch.column_names}
        for cells in zip(*(values[name] for name in names), strict=True):
            if not any(value == -1 and label_names[name] for name, value in zip(names, cells, strict=True)):
                try:
                    row = [_text(value, name, label_names[name]) for value, name in zip(cells, names, strict=True)]
                except _NoSuchLabel as e:
                    raise CorpusError(typed, number, f"the label {e}", "the number of a label's name") from None
                yield number, row
            number += 1


class _NoSuchLabel(Exception):
    """A label whose number has no name."""


def _text(value: Any, column: str, names: Sequence[str] | None) -> str:
    if not names or value is None:
        return cell_text(value, column)
    if not 0 <= value < len(names):
        raise _NoSuchLabel(value)
    return str(names[value])


# Loading


def _parse(typed: str) -> tuple[str, dict[str, str]]:
    """The name and the options of what was typed."""
    name, _, query = typed.removeprefix(SCHEME).partition("?")
    options = dict(parse_qsl(query, keep_blank_values=True))
    if not name or not set(options) <= set(OPTIONS) or not all(options.values()):
        raise UsageError(f"{typed}: expected {SCHEME}NAME or {SCHEME}NAME?config=…&revision=…")
    return name, options


def _load(typed: str) -> Mapping[str, Any]:
    """The splits by name, each a ``datasets.Dataset``; what is local is memory-mapped."""
    try:
        import datasets
    except ImportError:
        raise NotInstalled(f"{typed} needs Hugging Face's datasets: {pip_install('datasets')}") from None
    with _quiet(datasets):
        try:
            loaded = _load_named(datasets, typed) if is_hub_name(typed) else datasets.load_from_disk(typed)
        except (Offline, UsageError):
            raise
        except Exception as e:  # the library raises anything
            reason = (str(e).strip() or type(e).__name__).replace("\n", " ")
            raise DataError(f"{typed} cannot be loaded by datasets {datasets.__version__}: {reason}") from e
    splits = dict(loaded) if isinstance(loaded, dict) else {str(loaded.split or "train"): loaded}
    if not splits:
        raise DataError(f"{typed} has no splits; expected rows.")
    return splits


def _load_named(datasets: Any, typed: str) -> Any:
    name, options = _parse(typed)
    local = Path(name).exists()
    if not local and offline():
        raise Offline(f"{typed} is not on this machine, and SENTPROBE_OFFLINE is set. Name a folder, or unset it.")
    return datasets.load_dataset(name, options.get("config"), revision=options.get("revision"))


@contextmanager
def _quiet(datasets: Any) -> Iterator[None]:
    """Without the progress bars of the library, which would get between ours."""
    were_disabled = datasets.are_progress_bars_disabled()
    datasets.disable_progress_bars()
    try:
        yield
    finally:
        if not were_disabled:
            datasets.enable_progress_bars()
