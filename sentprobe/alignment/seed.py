"""One seed: the method, then rounds of refinement, then what is known of the map that is kept."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from sentprobe.alignment import METHODS
from sentprobe.alignment.criterion import criterion
from sentprobe.alignment.journal import Report, Reporter, SeedJournal, finished, orthogonality
from sentprobe.alignment.maps import WordMap
from sentprobe.alignment.method import Arrays, Matrices, Problem
from sentprobe.alignment.precision import precision_at_1
from sentprobe.alignment.refine import refine
from sentprobe.alignment.request import Request
from sentprobe.alignment.space import Matrix, Rows
from sentprobe.errors import DataError, SentProbeError


@dataclass(frozen=True, eq=False)
class Task:
    """All that the work on a seed needs; it may be done in another process."""

    folder: Path
    request: Request
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


def quiet(report: Report) -> None:
    """Report nothing."""


def run_seed(task: Task, seed: int, reporter: Reporter = quiet) -> dict[str, Any]:
    """What is known of the map of a seed, which is in the folder then; with ``error`` instead if there is none."""
    if (done := finished(task.folder, seed)) is not None:
        return done
    journal = SeedJournal(task.folder, seed, task.steps, partial(_dev_scores, task), reporter)
    try:
        found, known = _refined(task, journal, _solved(task, seed, journal))
        _check(found)
    except SentProbeError as e:
        return {"seed": seed, "error": str(e)}
    facts = {"seed": seed, **known, "orthogonality": orthogonality(found), **_dev_scores(task, found)}
    journal.finish(found, facts)
    return facts


def _solved(task: Task, seed: int, journal: SeedJournal) -> Matrices:
    """What the method finds, now or before it was interrupted."""
    if (kept := journal.load("refine")) is not None:
        return _matrices(kept, "now")
    request = task.request
    problem = Problem(
        task.source,
        task.target,
        task.pairs,
        request.settings,
        seed,
        partial(criterion, task.source, task.target),
        journal.report,
        journal.load,
        journal.save,
    )
    try:
        found = METHODS.get(request.method).solve(problem)
    except np.linalg.LinAlgError as e:
        raise DataError(f"The method {request.method} broke off with seed {seed}: {e}. Try other steps.") from None
    _check(found)
    return found


def _refined(task: Task, journal: SeedJournal, matrices: Matrices) -> tuple[Matrices, dict[str, float]]:
    """The best map by the criterion: that of the method, or of a round of refinement; with facts on it."""
    kept, about = journal.load("refine"), journal.about()
    if kept is None:
        value = criterion(task.source, task.target, matrices)
        best, facts, round = matrices, {"criterion": value}, 0
        if task.pairs is not None:
            facts["pairs"] = len(task.pairs)
        if task.request.refine:
            journal.report("refine", 0, matrices, facts)
            journal.save(_arrays(matrices, best), "refine", round=0, best=facts)
    else:
        best, facts, round = _matrices(kept, "best"), dict(about["best"]), int(about["round"])
    left, above = task.request.refine - round, facts["criterion"] if round else -math.inf
    for found, pairs, value in refine(task.source, task.target, matrices, left, above=above) if left > 0 else ():
        round += 1
        now = {"criterion": value, "pairs": len(pairs)}
        if value > facts["criterion"]:
            best, facts = found, {**now, "round": round}
        journal.report("refine", round, found, now)
        journal.save(_arrays(found, best), "refine", round=round, best=facts)
    return best, facts


def _dev_scores(task: Task, matrices: Matrices) -> Mapping[str, float]:
    if task.dev is None:
        return {}
    found = precision_at_1(task.source, task.target, matrices, task.dev)
    return {"dev_nn": found.nn, "dev_csls": found.csls}


def _check(matrices: Matrices) -> None:
    if not all(np.isfinite(m).all() for m in matrices if m is not None):
        raise DataError("The map has numbers that are not finite: the search diverged. Try a smaller learning rate.")


def _arrays(now: Matrices, best: Matrices) -> Arrays:
    named = {"now": now, "best": best}
    sides = {f"{name}.{side}": m for name, both in named.items() for side, m in both._asdict().items()}
    return {name: matrix for name, matrix in sides.items() if matrix is not None}


def _matrices(arrays: Arrays, name: str) -> Matrices:
    return Matrices(arrays[f"{name}.source"], arrays.get(f"{name}.target"))


def best_of(seeds: list[dict[str, Any]]) -> dict[str, Any]:
    """The seed with the highest criterion; of equal ones, the first."""
    return max((s for s in seeds if "error" not in s), key=lambda s: _sortable(s.get("criterion")))


def _sortable(value: float | None) -> float:
    return -math.inf if value is None or math.isnan(value) else value
