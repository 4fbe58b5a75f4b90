"""The writing end of a run: a line per finished cell, synced, after its predictions and its probe.

Damaged results are reported and dropped, so that their cells are computed again.
"""

from __future__ import annotations

import shutil
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sentprobe.core.files import write_atomically
from sentprobe.core.hashing import digest
from sentprobe.core.job_folder import JobFolder
from sentprobe.data.dataset import Dataset, encode_rows
from sentprobe.errors import CorruptionWarning, DataError, RunError, UsageError
from sentprobe.probes import Model
from sentprobe.results.records import (
    RESULTS,
    RETRACTED,
    info_or_damage,
    is_bare,
    read_records,
    rebuild_info,
    run_job,
    to_line,
)
from sentprobe.results.result import Failure, Result
from sentprobe.results.verify import (
    DATASETS,
    PREDICTIONS,
    PROBES,
    Arrays,
    altered_message,
    matches_checksum,
    own_files,
    predictions_path,
    probe_path,
    read_model,
    rows_path,
    to_npz,
)


class Log:
    """The writing end of a run, from ``open_log``."""

    def __init__(self, job: JobFolder) -> None:
        self._job, self.folder, self.path = job, job.path, job.path / RESULTS
        info, problem = info_or_damage(job)
        log = job.salvage(RESULTS)
        self._records = read_records(self.path, log)
        damaged = [*self._records.damaged]
        if info is None and self._records.lines:
            info = rebuild_info(self._records.results.values(), self._records.failures.values())
            damaged.append(f"{problem} It is written again.")
        job.note(info or {})
        self._described = False
        self._rows: dict[tuple[str, int | None, int | None], str] = {}
        self._records.drop_unowned(lambda result: predictions_path(self.folder, result).exists())
        lines = log.lines
        if self._records.damaged:
            lines = [to_line(record, number) for number, record in enumerate(self._records.lines)]
        self._lines = len(lines)
        try:
            job.replace_log(RESULTS, lines)
        except (OSError, DataError) as e:
            raise RunError(f"{self.path} cannot be written to: {e}. Free some space or choose another folder.") from e
        for result in list(self.done.values()):
            paths = {"predictions": predictions_path(self.folder, result), "probe": probe_path(self.folder, result)}
            sound = {name: matches_checksum(path, result.files.get(name)) for name, path in paths.items()}
            damaged += [altered_message(path, result) for name, path in paths.items() if sound[name] is False]
            # a result whose predictions are missing or changed is computed again
            if not sound["predictions"] or sound["probe"] is False:
                del self.done[result.key]
        for note in damaged:
            warnings.warn(note, CorruptionWarning, stacklevel=4)

    @property
    def info(self) -> dict[str, Any]:
        """What run.json says, or will say when it is written next."""
        return self._job.facts

    @property
    def done(self) -> dict[str, Result]:
        """Finished cells by key."""
        return self._records.results

    @property
    def failed(self) -> dict[str, Failure]:
        """Failed cells by key."""
        return self._records.failures

    def forget(self, key: str) -> None:
        """Retract a failure that no longer holds, or a result of an encoder that may have changed."""
        record = self.failed.get(key) or self.done.get(key)
        if record is not None:
            self.add(Failure(key=key, cell=record.cell, error="", kind=RETRACTED))

    def model(self, key: str) -> Model | None:
        """The trained probe of a finished cell, if it was saved."""
        result = self.done.get(key)
        if result is None or "probe" not in result.files or not probe_path(self.folder, result).exists():
            return None
        return read_model(self.folder, result)

    def begin(self, encoders: Sequence[str]) -> None:
        """Start a command that requests these encoders. Earlier failures no longer count."""
        request = {"encoders": list(encoders), "datasets": []}
        self.describe(days=[datetime.now(UTC).date().isoformat()])
        self._set({**self.info, "command": self.info.get("command", 0) + 1, "asked": request})
        self._save()

    def describe(self, **facts: Sequence[Any]) -> None:
        """Add requests to run.json, which is written before the next record: each list grows by the values it lacks."""
        info = dict(self.info)
        for name, values in facts.items():
            recorded = list(info.get(name, ()))
            if name == "datasets":
                new = {(value["name"], value["digest"]) for value in values}
                recorded = [d for d in recorded if not (is_bare(d) and (d["name"], d["digest"]) in new)]
                if request := info.get("asked"):
                    new_digests = [value["digest"] for value in values if value["digest"] not in request["datasets"]]
                    info["asked"] = {**request, "datasets": [*request["datasets"], *new_digests]}
            info[name] = recorded + [value for value in values if value not in recorded]
        self._set(info)

    def request_instead(self, encoder: str, names: Sequence[str]) -> None:
        """Record that the results of an encoder that was requested go by these names, and not by its own."""

        def renamed(requested: Sequence[str]) -> list[str]:
            return list(dict.fromkeys(n for name in requested for n in (names if name == encoder else [name])))

        info, request = dict(self.info), self.info["asked"]
        info["asked"] = {**request, "encoders": renamed(request["encoders"])}
        if all(result.cell.encoder != encoder for result in self.done.values()):
            info["encoders"] = renamed(info["encoders"])
        self._set(info)

    def close(self) -> None:
        """Record in run.json what was written."""
        with self._saving():
            self._job.save()

    def _set(self, info: dict[str, Any]) -> None:
        self._described = self._described or info != self.info
        self._job.note(info)

    def _save(self) -> None:
        """Write run.json, if it does not say all that is known; how far results.jsonl goes, it says in the end."""
        if self._described or not self._job.is_begun:
            self.close()
            self._described = False

    def save_rows(self, dataset: Dataset, data: str, limit: int | None, folds: int | None = None) -> None:
        """Save the test rows of a set, all its rows if it is in folds, unless the file is there and intact."""
        path, sample = rows_path(self.folder, data, limit, folds), (data, limit, folds)
        results = [r for r in self.done.values() if _sample_of(r) == sample and "rows" in r.files]
        checksums = {r.files["rows"] for r in results}
        now = next((checksum for checksum in checksums if matches_checksum(path, checksum)), None)
        if now is None:
            rows = dataset.rows.get("te", ()) if folds is None else [row for _, row in dataset]
            content = encode_rows(dataset.name, {"te": rows})
            now = digest(content)
            if (sound := matches_checksum(path, now)) is not True:
                if sound is False and results:
                    note = f"{path}, the test rows of {dataset.name}, is damaged. It is written again."
                    warnings.warn(note, CorruptionWarning, stacklevel=2)
                with self._saving():
                    write_atomically(path, content)
        self._rows[sample] = now
        for result in results:
            if result.files["rows"] != now:  # written by another version of Parquet: nothing vouches for these rows
                del self.done[result.key]

    def add(self, record: Result | Failure, arrays: Arrays | None = None, probe: Arrays | None = None) -> None:
        """Save a finished or failed cell with its predictions and its probe; when this returns, it is on disk.

        A record that could not be read back raises a DataError.
        """
        contents: dict[Path, bytes] = {}
        if isinstance(record, Failure):
            record = replace(record, command=self.info.get("command", 0))
        else:
            paths = own_files(self.folder, record)  # a record that was loaded may be saved again
            files = {
                name: checksum for name, checksum in record.files.items() if matches_checksum(paths[name], checksum)
            }
            if probe is not None:  # weights hardly compress
                contents[probe_path(self.folder, record)] = content = to_npz(probe, compressed=False)
                files["probe"] = digest(content)
            if arrays is not None:
                contents[predictions_path(self.folder, record)] = content = to_npz(arrays, compressed=True)
                files["predictions"] = digest(content)
            if rows := self._rows.get(_sample_of(record)):
                files["rows"] = rows
            record = replace(record, files=files)
        line = to_line(record, self._lines)
        self._save()
        with self._saving():
            for path, content in contents.items():
                write_atomically(path, content)
            self._job.append_independent(RESULTS, line)
        self._lines += 1
        self._records.note(record)

    @contextmanager
    def _saving(self) -> Iterator[None]:
        try:
            yield
        except (OSError, DataError) as e:
            raise RunError(
                f"{self.folder} cannot be written to: {e}. {len(self.done)} finished cells are saved; free some space "
                "and run the same command again."
            ) from e


def _sample_of(result: Result) -> tuple[str, int | None, int | None]:
    """Which rows a result is about: results with the same test rows share a file of them."""
    return result.cell.data, result.cell.limit, result.cell.folds


@contextmanager
def open_log(folder: Path | str) -> Iterator[Log]:
    """Open a run for writing, or start one. One process at a time."""
    folder = Path(folder)
    try:
        if folder.exists() and (not folder.is_dir() or (any(_visible(folder)) and not _is_run(folder))):
            raise RunError(f"{folder} exists and is not a run; choose a new folder, or one that `sentprobe run` wrote.")
        for path in (folder, folder / PREDICTIONS, folder / PROBES, folder / DATASETS):
            path.mkdir(parents=True, exist_ok=True)
    except OSError as e:
        raise RunError(f"The folder {folder} cannot be used: {e.strerror}. Choose another one.") from e
    job = run_job(folder.absolute())  # encoders may change the working directory
    with job.writing():
        log = Log(job)
        try:
            yield log
        except BaseException:
            with suppress(RunError):
                log.close()
            raise
        log.close()


@contextmanager
def removed_if_refused(folder: Path) -> Iterator[None]:
    """Remove a folder that a refused command has begun: the next one would say that it resumes it."""
    begun = folder.exists() and (not folder.is_dir() or any(folder.iterdir()))
    try:
        yield
    except (UsageError, DataError):
        if not begun and not any((folder / PREDICTIONS).glob("*")):
            shutil.rmtree(folder, ignore_errors=True)
        raise


def _visible(folder: Path) -> Iterator[Path]:
    """Files of a folder, except those that this module makes before there is a run.json."""
    ours = {PREDICTIONS, PROBES, DATASETS, ".lock"}
    return (p for p in folder.iterdir() if p.name not in ours and not p.name.endswith(".part"))


def _is_run(folder: Path) -> bool:
    """Whether a folder holds a run, possibly a damaged one."""
    job = run_job(folder)
    return info_or_damage(job)[0] is not None or bool(read_records(folder / RESULTS, job.salvage(RESULTS)).lines)
