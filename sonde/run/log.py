"""The writing end of a run: a line per finished cell, synced, after its predictions and its probe."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from sonde.dataset import Dataset, write_atomically, write_rows
from sonde.errors import DataError, RunError
from sonde.probes.fit import Model
from sonde.result import Failure, Result, to_line
from sonde.run.folder import (
    DATASETS,
    FORMAT,
    GONE,
    INFO,
    PREDICTIONS,
    PROBES,
    RESULTS,
    Arrays,
    read_info,
    read_model,
    records,
    rows_path,
)


class Log:
    """The writing end of a run; ``writing`` gives one."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.path = folder / RESULTS
        self.done: dict[str, Result] = {}
        self.failed: dict[str, Failure] = {}
        for record in records(self.path):
            self._note(record)
        # a result without its predictions is to be had again
        there = {path.stem for path in (folder / PREDICTIONS).glob("*.npz")}
        self.done = {key: result for key, result in self.done.items() if key in there}

    def _note(self, record: Result | Failure) -> None:
        self.done.pop(record.key, None)
        self.failed.pop(record.key, None)
        if isinstance(record, Result):
            self.done[record.key] = record
        elif record.kind != GONE:
            self.failed[record.key] = record

    def forget(self, key: str) -> None:
        """Write down that a failure is mended, or that a result is of an encoder that may be another by now."""
        said = self.failed.get(key) or self.done.get(key)
        if said is not None:
            self.add(Failure(key=key, cell=said.cell, error="", kind=GONE))

    def model(self, key: str) -> Model | None:
        """The trained probe of a finished cell, if it was kept."""
        path = self.folder / PROBES / f"{key}.npz"
        return read_model(path, self.done[key]) if key in self.done and path.exists() else None

    def describe(self, **facts: Sequence[Any]) -> None:
        """Add what is asked for to run.json: each list grows by what it lacks."""
        old = read_info(self.folder) or {"format": FORMAT}
        info = dict(old)
        for name, values in facts.items():
            there = list(info.get(name, ()))
            info[name] = there + [value for value in values if value not in there]
        if info != old:
            with self._saving():
                write_atomically(self.folder / INFO, msgspec.json.format(msgspec.json.encode(info)))

    def keep_rows(self, dataset: Dataset, digest: str, limit: int | None) -> None:
        """Write the test rows of a set, unless they are there."""
        path = rows_path(self.folder, digest, limit)
        if not path.exists():
            with self._saving():
                write_rows(replace(dataset, rows={"te": dataset.rows.get("te", ())}), path)

    def add(self, record: Result | Failure, arrays: Arrays | None = None, probe: Arrays | None = None) -> None:
        """Write one finished or failed cell with its predictions and its probe; when this returns, it is on disk.

        A record that could not be read again is refused with a DataError.
        """
        line = to_line(record)
        with self._saving():
            if probe is not None:
                buffer = BytesIO()
                np.savez(buffer, allow_pickle=False, **probe)  # weights are hardly smaller when compressed
                write_atomically(self.folder / PROBES / f"{record.key}.npz", buffer.getbuffer())
            if arrays is not None:
                buffer = BytesIO()
                np.savez_compressed(buffer, allow_pickle=False, **arrays)
                write_atomically(self.folder / PREDICTIONS / f"{record.key}.npz", buffer.getbuffer())
            with self.path.open("ab") as out:
                out.write(line + b"\n")
                out.flush()
                os.fsync(out.fileno())
        self._note(record)

    @contextmanager
    def _saving(self) -> Iterator[None]:
        try:
            yield
        except (OSError, DataError) as e:
            raise RunError(
                f"{self.folder} cannot be written to: {e}. {len(self.done)} finished cells are kept; free some space "
                "and give the same command again."
            ) from e


@contextmanager
def writing(folder: Path | str) -> Iterator[Log]:
    """Open a run to add to it, or start one. One process at a time."""
    folder = Path(folder)
    try:
        if folder.exists() and (not folder.is_dir() or (read_info(folder) is None and any(_visible(folder)))):
            raise RunError(f"{folder} is there and is no run; name a new folder, or one that `sonde run` wrote.")
        for place in (folder, folder / PREDICTIONS, folder / PROBES, folder / DATASETS):
            place.mkdir(parents=True, exist_ok=True)
    except OSError as e:
        raise RunError(f"The folder {folder} cannot be used: {e.strerror}. Choose another one.") from e
    with _locked(folder):
        _cut_torn_line(folder / RESULTS)
        yield Log(folder)


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Hold the folder's lock, which a process that dies lets go."""
    try:
        import fcntl
    except ImportError:  # not on Windows
        yield
        return
    try:
        lock = (folder / ".lock").open("w")
    except OSError as e:
        raise RunError(f"{folder} cannot be written to: {e.strerror}. Choose another folder.") from e
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise RunError(f"Another process is writing to {folder}; wait for it, or name another folder.") from None
        yield


def _visible(folder: Path) -> Iterator[Path]:
    """What is in a folder, besides what this module makes before there is a run.json."""
    ours = {PREDICTIONS, PROBES, DATASETS, ".lock"}
    return (p for p in folder.iterdir() if p.name not in ours and not p.name.endswith(".part"))


def _cut_torn_line(path: Path) -> None:
    with suppress(FileNotFoundError), path.open("r+b") as file:
        content = file.read()
        if content and not content.endswith(b"\n"):
            file.truncate(content.rfind(b"\n") + 1)
            file.flush()
            os.fsync(file.fileno())
