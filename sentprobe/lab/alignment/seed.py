"""One seed: the method, then rounds of refinement, then what is known of the map that is chosen.

A line of history and a map are written after every epoch or round; and a state, which a method saves when it likes,
with the number of lines that were written before it. After an interruption, later lines are dropped, and written again,
so that the seed ends as if it had never stopped.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from sentprobe.core.job_folder import JobFolder
from sentprobe.errors import DataError, SentProbeError
from sentprobe.lab.alignment import METHODS
from sentprobe.lab.alignment.folder import (
    HISTORY,
    RESULT,
    STATE,
    AlignmentFolder,
    MapCheckpoint,
    decode_arrays,
    encode_arrays,
    encode_map,
)
from sentprobe.lab.alignment.map_scores import criterion, precision_at_1
from sentprobe.lab.alignment.maps import SideMap, WordMap
from sentprobe.lab.alignment.method import Arrays, Matrices, Problem, ProgressReport, Reporter
from sentprobe.lab.alignment.refine import refine
from sentprobe.lab.alignment.request import AlignmentRequest
from sentprobe.lab.alignment.space import Matrix, Rows


@dataclass(frozen=True, eq=False)
class SeedInputs:
    """All that the work on a seed needs; it may be done in another process."""

    folder: Path
    request: AlignmentRequest
    source: Matrix
    """(n, d), prepared."""
    target: Matrix
    """(m, d), prepared."""
    steps: WordMap
    """How they were prepared."""
    pairs: Rows | None
    """(p, 2): the dictionary."""
    dev: Rows | None
    """(q, 2): the dictionary whose P@1 is recorded."""


def quiet(report: ProgressReport) -> None:
    """Report nothing."""


class SeedJournal:
    """Writes the lines, maps and states of one seed, within ``writing`` of its folder."""

    def __init__(
        self,
        job: JobFolder,
        seed: int,
        steps: WordMap,
        dev: Callable[[Matrices], Mapping[str, float]],
        reporter: Reporter,
    ) -> None:
        self._job, self._seed, self._steps, self._dev, self._reporter = job, seed, steps, dev, reporter
        self._lines = self.about().get("lines", 0)
        if job.log(HISTORY)[self._lines :]:  # written after the last state
            job.cut(HISTORY, self._lines)
        self._began = time.perf_counter()

    def report(self, stage: str, number: int, matrices: Matrices | None, facts: Mapping[str, float]) -> None:
        """After an epoch or a round: write the map and a line."""
        measures = {key: float(value) for key, value in facts.items()}
        if matrices is not None:
            measures["orthogonality"] = orthogonality(matrices)
            measures.update(self._dev(matrices))
            file = MapCheckpoint(self._seed, stage, number).file
            self._job.write({file: encode_map(_with_matrices(self._steps, matrices))})
        now = time.perf_counter()
        line = {"seed": self._seed, "stage": stage, "number": number, **_json_numbers(measures)}
        self._job.append(HISTORY, {**line, "seconds": round(now - self._began, 3)})
        self._began, self._lines = now, self._lines + 1
        self._reporter(ProgressReport(stage, self._seed, number, measures))

    def about(self) -> dict[str, Any]:
        """What is known of the state; nothing if there is none."""
        return _facts(self._job, STATE) or {}

    def save(self, arrays: Arrays, stage: str = "method", **progress: Any) -> None:
        """Save a state."""
        facts = {"stage": stage, "lines": self._lines, **progress}
        # as text: a criterion may be infinite, for which JSON has no number
        self._job.write({STATE: encode_arrays(arrays)}, {"facts": json.dumps(facts)})

    def load(self, stage: str = "method") -> Arrays | None:
        """The state that was saved in this stage; None if there is none."""
        if self.about().get("stage") != stage:
            return None
        return decode_arrays(self._job.read(STATE), self._job.path / STATE)

    def finish(self, matrices: Matrices, facts: Mapping[str, Any]) -> None:
        """Write the map that the seed ended with."""
        content = encode_map(_with_matrices(self._steps, matrices))
        self._job.write({RESULT: content}, {"facts": json.dumps(facts)})
        self._job.remove(STATE)


def run_seed(inputs: SeedInputs, seed: int, reporter: Reporter = quiet) -> dict[str, Any]:
    """What is known of the map of a seed, which is in the folder then; with ``error`` instead if there is none."""
    job = AlignmentFolder(inputs.folder).seed_job(seed)
    if job.is_begun and (finished := _facts(job, RESULT)) is not None:
        return finished
    with job.writing():
        journal = SeedJournal(job, seed, inputs.steps, partial(_dev_scores, inputs), reporter)
        try:
            matrices, facts_of_map = _refine(inputs, journal, _solve(inputs, seed, journal))
            _check_finite(matrices)
        except SentProbeError as e:
            return {"seed": seed, "error": str(e)}
        facts = {
            "seed": seed,
            **facts_of_map,
            "orthogonality": orthogonality(matrices),
            **_dev_scores(inputs, matrices),
        }
        journal.finish(matrices, facts)
        return facts


def _facts(job: JobFolder, name: str) -> dict[str, Any] | None:
    """What was noted with a state or a result; None if there is none."""
    if not job.is_begun or not job.is_there(name):
        return None
    facts: dict[str, Any] = json.loads(job.verify(name).about["facts"])
    return facts


def orthogonality(matrices: Matrices) -> float:
    """The largest entry of W Wᵀ − I of either side; 0 for orthogonal matrices."""
    return max((_deviation(matrix) for matrix in matrices if matrix is not None), default=0.0)


def _deviation(matrix: Matrix) -> float:
    doubles = matrix.astype(np.float64)
    return float(np.abs(doubles @ doubles.T - np.eye(len(doubles))).max())


def _with_matrices(steps: WordMap, matrices: Matrices) -> WordMap:
    """The full map: the steps that prepare each side, then a matrix."""
    source, target = steps.source, steps.target
    return WordMap(
        SideMap(source.steps, source.means, matrices.source), SideMap(target.steps, target.means, matrices.target)
    )


def _json_numbers(facts: Mapping[str, float]) -> dict[str, float | int | None]:
    """Numbers as JSON has them: what is not finite is null, and counts are integers."""
    return {
        key: None if not math.isfinite(value) else int(value) if value == int(value) and abs(value) > 1 else value
        for key, value in facts.items()
    }


def _solve(inputs: SeedInputs, seed: int, journal: SeedJournal) -> Matrices:
    """What the method finds, now or before it was interrupted."""
    if (saved := journal.load("refine")) is not None:
        return _matrices(saved, "now")
    request = inputs.request
    problem = Problem(
        inputs.source,
        inputs.target,
        inputs.pairs,
        request.settings,
        seed,
        partial(criterion, inputs.source, inputs.target),
        journal.report,
        journal.load,
        journal.save,
    )
    try:
        matrices = METHODS.get(request.method).solve(problem)
    except np.linalg.LinAlgError as e:
        raise DataError(f"The method {request.method} failed with seed {seed}: {e}. Try other steps.") from None
    _check_finite(matrices)
    return matrices


def _refine(inputs: SeedInputs, journal: SeedJournal, matrices: Matrices) -> tuple[Matrices, dict[str, float]]:
    """The best map by the criterion: that of the method, or of a round of refinement; with facts on it."""
    saved, about = journal.load("refine"), journal.about()
    if saved is None:
        value = criterion(inputs.source, inputs.target, matrices)
        best, facts, round = matrices, {"criterion": value}, 0
        if inputs.pairs is not None:
            facts["pairs"] = len(inputs.pairs)
        if inputs.request.refine:
            journal.report("refine", 0, matrices, facts)
            journal.save(_arrays(matrices, best), "refine", round=0, best=facts)
    else:
        best, facts, round = _matrices(saved, "best"), dict(about["best"]), int(about["round"])
    remaining, above = inputs.request.refine - round, facts["criterion"] if round else -math.inf
    for refined, pairs, value in (
        refine(inputs.source, inputs.target, matrices, remaining, above=above) if remaining > 0 else ()
    ):
        round += 1
        round_facts = {"criterion": value, "pairs": len(pairs)}
        if value > facts["criterion"]:
            best, facts = refined, {**round_facts, "round": round}
        journal.report("refine", round, refined, round_facts)
        journal.save(_arrays(refined, best), "refine", round=round, best=facts)
    return best, facts


def _dev_scores(inputs: SeedInputs, matrices: Matrices) -> Mapping[str, float]:
    if inputs.dev is None:
        return {}
    scores = precision_at_1(inputs.source, inputs.target, matrices, inputs.dev)
    return {"dev_nn": scores.nn, "dev_csls": scores.csls}


def _check_finite(matrices: Matrices) -> None:
    if not all(np.isfinite(m).all() for m in matrices if m is not None):
        raise DataError("The map has numbers that are not finite: the search diverged. Try a smaller learning rate.")


def _arrays(latest: Matrices, best: Matrices) -> Arrays:
    named = {"now": latest, "best": best}
    sides = {f"{name}.{side}": m for name, matrices in named.items() for side, m in matrices._asdict().items()}
    return {name: matrix for name, matrix in sides.items() if matrix is not None}


def _matrices(arrays: Arrays, name: str) -> Matrices:
    return Matrices(arrays[f"{name}.source"], arrays.get(f"{name}.target"))


def best_of(seeds: list[dict[str, Any]]) -> dict[str, Any]:
    """The seed with the highest criterion; of equal ones, the first."""
    return max((s for s in seeds if "error" not in s), key=lambda s: _sort_key(s.get("criterion")))


def _sort_key(value: float | None) -> float:
    return -math.inf if value is None or math.isnan(value) else value
