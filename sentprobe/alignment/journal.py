"""What is written while the map of one seed is found, so that it goes on as if it had never stopped.

A line of history and a map after every epoch or round; and a state, which a method keeps when it likes, with the number
of lines that were written before it. After an interruption, later lines are dropped, and written again.
"""

from __future__ import annotations

import json
import math
import os
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from sentprobe.alignment.folder import (
    HISTORY,
    MAPS,
    AlignmentFolder,
    MapCheckpoint,
    read_arrays,
    write_arrays,
    write_map,
)
from sentprobe.alignment.maps import SideMap, WordMap
from sentprobe.alignment.method import Arrays, Matrices
from sentprobe.alignment.space import Matrix
from sentprobe.core.checksum import seal_line
from sentprobe.core.files import make_folder, write_atomically
from sentprobe.errors import DataError

STATE = ".state"
"""The folder of unfinished seeds."""
RESULT = "result.safetensors"


@dataclass(frozen=True)
class Report:
    """Where an alignment is: after an epoch or a round (``stage``), at the end of a seed, or a line to be shown."""

    stage: str
    seed: int = 0
    number: int = 0
    facts: Mapping[str, float] = field(default_factory=dict)
    text: str = ""
    """For stage ``note``."""


Reporter = Callable[[Report], None]


def orthogonality(matrices: Matrices) -> float:
    """The largest entry of W Wᵀ − I of either side; 0 for orthogonal matrices."""
    found = [_deviation(matrix) for matrix in matrices if matrix is not None]
    return max(found, default=0.0)


def _deviation(matrix: Matrix) -> float:
    wide = matrix.astype(np.float64)
    return float(np.abs(wide @ wide.T - np.eye(len(wide))).max())


def with_matrices(steps: WordMap, matrices: Matrices) -> WordMap:
    """The full map: the steps that prepare each side, then a matrix."""
    source, target = steps.source, steps.target
    return WordMap(
        SideMap(source.steps, source.means, matrices.source), SideMap(target.steps, target.means, matrices.target)
    )


class SeedJournal:
    """Writes the lines, maps and states of one seed."""

    def __init__(
        self,
        folder: Path,
        seed: int,
        steps: WordMap,
        dev: Callable[[Matrices], Mapping[str, float]],
        reporter: Reporter,
    ) -> None:
        self._folder, self._seed, self._steps, self._dev, self._reporter = folder, seed, steps, dev, reporter
        self._state = folder / STATE / f"seed-{seed}.safetensors"
        self._lines = self.about().get("lines", 0)
        self._began = time.perf_counter()

    @property
    def _result(self) -> Path:
        return self._folder / MAPS / f"seed-{self._seed}" / RESULT

    def report(self, stage: str, number: int, matrices: Matrices | None, facts: Mapping[str, float]) -> None:
        """After an epoch or a round: write the map and a line."""
        known = {key: float(value) for key, value in facts.items()}
        if matrices is not None:
            known["orthogonality"] = orthogonality(matrices)
            known.update(self._dev(matrices))
            place = self._folder / MAPS / f"{MapCheckpoint(self._seed, stage, number).name}.safetensors"
            write_map(place, with_matrices(self._steps, matrices))
        now = time.perf_counter()
        line = {"seed": self._seed, "stage": stage, "number": number, **_plain(known)}
        _append(self._folder / HISTORY, {**line, "seconds": round(now - self._began, 3)})
        self._began, self._lines = now, self._lines + 1
        self._reporter(Report(stage, self._seed, number, known))

    def about(self) -> dict[str, Any]:
        """What is known of the kept state; nothing if there is none."""
        return read_arrays(self._state)[1] if self._state.is_file() else {}

    def save(self, arrays: Arrays, stage: str = "method", **more: Any) -> None:
        """Keep a state."""
        make_folder(self._state.parent)
        write_arrays(self._state, arrays, {"stage": stage, "lines": self._lines, **more})

    def load(self, stage: str = "method") -> Arrays | None:
        """The state that was kept in this stage; None if there is none."""
        return read_arrays(self._state)[0] if self.about().get("stage") == stage else None

    def finish(self, matrices: Matrices, facts: Mapping[str, Any]) -> None:
        """Write the map that the seed ended with."""
        write_map(self._result, with_matrices(self._steps, matrices), {"result": dict(facts)})
        self._state.unlink(missing_ok=True)


def finished(folder: Path, seed: int) -> dict[str, Any] | None:
    """What is known of the result of a seed; None if it has not ended."""
    file = folder / MAPS / f"seed-{seed}" / RESULT
    return read_arrays(file)[1].get("result") if file.is_file() else None


def drop_unkept(folder: Path, seeds: Iterable[int]) -> None:
    """Leave out lines that seeds wrote after their last state, from which they go on."""
    history = AlignmentFolder(folder).history()
    if not (folder / HISTORY).is_file():
        return
    kept: dict[int, float] = {}
    for seed in seeds:
        state = folder / STATE / f"seed-{seed}.safetensors"
        done = finished(folder, seed) is not None
        kept[seed] = math.inf if done else read_arrays(state)[1].get("lines", 0) if state.is_file() else 0
    seen: Counter[int] = Counter()
    lines = []
    for line in history:
        seen[line["seed"]] += 1
        if seen[line["seed"]] <= kept.get(line["seed"], 0):
            lines.append(_sealed(line))
    write_atomically(folder / HISTORY, b"".join(lines))


def _plain(facts: Mapping[str, float]) -> dict[str, float | int | None]:
    """Numbers as JSON has them: what is not finite is null, and counts are integers."""
    return {
        key: None if not math.isfinite(value) else int(value) if value == int(value) and abs(value) > 1 else value
        for key, value in facts.items()
    }


def _sealed(line: Mapping[str, Any]) -> bytes:
    return seal_line(json.dumps(line).encode()) + b"\n"


def _append(file: Path, line: Mapping[str, Any]) -> None:
    """Add a line in one piece, since several seeds may write at once, and sync it."""
    try:
        with file.open("ab", buffering=0) as out:
            out.write(_sealed(line))
            os.fsync(out.fileno())
    except OSError as e:
        raise DataError(f"{file} cannot be written: {e.strerror}. Free some space, and repeat the command.") from e
