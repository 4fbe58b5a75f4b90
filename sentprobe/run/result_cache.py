"""A cache of the results of baselines, beside the vectors of the store: they are the same in every run on the same set.

A result that is read is recorded in the run like one that was computed, with its predictions and its probe. What is
damaged is computed again.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import astuple, dataclass, replace
from pathlib import Path

import msgspec
import numpy as np
import scipy

from sentprobe.core.files import write_atomically
from sentprobe.core.hashing import digest
from sentprobe.data.splits import Splits
from sentprobe.encoders.store import RESULT_SUFFIX, RESULTS_FOLDER, Store, StoreWarning
from sentprobe.errors import DataError
from sentprobe.results.log import Log
from sentprobe.results.records import from_line, to_line
from sentprobe.results.result import Cell, Result
from sentprobe.results.verify import UNREADABLE, Arrays, from_npz, predictions_path, probe_path
from sentprobe.run.scoring import versions
from sentprobe.stats import level as levels

CACHE_VERSION = 3
"""Raise it if a baseline has other results within one version of sentprobe."""
_DIGITS = 32
"""Of the checksum that a file begins with."""
_Content = tuple[bytes, bytes, bytes | None]
"""The line of the result, its predictions and its probe."""


@dataclass(frozen=True)
class ResultCache:
    """The results of baselines in the folder of a store; without a store, nothing is cached."""

    store: Store | None

    def restore(self, log: Log, cell: Cell, splits: Splits, baselines: Mapping[str, float]) -> Result | None:
        """Add the cached result of a cell to a run, if there is one, along with the accuracies of other baselines."""
        started = time.perf_counter()
        cached = _read(_path(self.store, cell, splits)) if self.store is not None else None
        if cached is None:
            return None
        old, predictions, probe = cached
        result = replace(
            old,
            key=cell.key,
            cell=cell,
            language=splits.language,
            synthetic=splits.synthetic,
            split=splits.split,
            merged_labels=splits.merged_labels,
            baselines=baselines,
            versions=versions(),
            files={},
            seconds={**dict.fromkeys(old.seconds, 0.0), "fit": time.perf_counter() - started},
        )
        log.add(result, predictions, probe)
        return result

    def save(self, log: Log, cell: Cell, splits: Splits) -> None:
        """Cache the result of a cell that a run has computed."""
        result = log.done.get(cell.key)
        if self.store is None or result is None:
            return
        path = _path(self.store, cell, splits)
        try:
            probe = probe_path(log.folder, result).read_bytes() if "probe" in result.files else None
            content = to_line(result, 0), predictions_path(log.folder, result).read_bytes(), probe
            encoded = msgspec.msgpack.encode(content)
            path.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(path, digest(encoded).encode() + encoded)
            if self.store.limit is not None:
                self.store.evict()
        except (OSError, DataError) as e:
            _warn(path.parent, f"cannot be written to: {e}", "Results of baselines are not cached for later runs.")


def _path(store: Store, cell: Cell, splits: Splits) -> Path:
    """The file of a cell: it depends on all that can change the result, and not on the name of the set."""
    facts = (
        CACHE_VERSION,
        np.__version__,
        scipy.__version__,
        levels.LEVEL,  # results have intervals
        [*splits.train.inputs],
        astuple(replace(cell, dataset="")),
    )
    return store.root / RESULTS_FOLDER / f"{digest(msgspec.json.encode(facts))}{RESULT_SUFFIX}"


def _read(path: Path) -> tuple[Result, Arrays, Arrays | None] | None:
    try:
        content = path.read_bytes()
        encoded = content[_DIGITS:]
        if digest(encoded).encode() != content[:_DIGITS]:
            raise ValueError("its checksum does not match")
        line, predictions, probe = msgspec.msgpack.decode(encoded, type=_Content)
        record = from_line(line)
        if record is None or not isinstance(record[0], Result):
            raise ValueError("it holds no result")
        return record[0], from_npz(predictions), None if probe is None else from_npz(probe)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except UNREADABLE as e:
        _warn(path, f"cannot be used: {e}", "The baseline is computed again.")
        with suppress(OSError):
            path.unlink()
        return None


def _warn(path: Path, problem: str, consequence: str) -> None:
    warnings.warn(f"{path} {problem}. {consequence}", StoreWarning, stacklevel=3)
