"""Several runs → one, to be looked at together; nothing is written."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from sonde.core.arguments import as_list
from sonde.errors import UsageError
from sonde.result import Failure, Result
from sonde.run.folder import Run, in_order, request_of


def join(runs: Run | Iterable[Run]) -> Run:
    """Several runs as one. Of a cell that several have done, the first run's result counts.

    Lists of ``info`` grow by what each further run adds; predictions, rows and probes are found where they are. Where
    runs have other numbers for one cell, that is said in ``damaged``; of an encoder that does not say what it is, so
    that they may be of two encoders, it is refused.
    """
    runs = as_list(runs, Run, "a run")
    if not runs:
        raise UsageError("No run was given; name at least one.")
    if len(runs) == 1:
        return runs[0]
    results: dict[str, Result] = {}
    result_folders: dict[str, Path] = {}
    failures: dict[str, Failure] = {}
    notes: list[str] = []
    for run in runs:
        for result in (*run.results, *run.extras):
            first = results.setdefault(result.key, result)
            if first is result:
                result_folders[result.key] = run.folder_of(result)
            elif _differ(first, result):
                notes.append(_conflict(first, result_folders[result.key], result, run.folder_of(result)))
        for failure in run.failures:
            failures.setdefault(failure.key, failure)
    done = {request_of(result.cell) for result in results.values()}
    info = _merged([run.info for run in runs])
    return Run(
        runs[0].folder,
        info,
        in_order((r for r in results.values() if r.cell.variant is None), info),
        in_order((f for f in failures.values() if request_of(f.cell) not in done), info),
        {key: folder for key, folder in result_folders.items() if folder != runs[0].folder},
        in_order((r for r in results.values() if r.cell.variant is not None), info),
        tuple(dict.fromkeys([*(note for run in runs for note in run.damaged), *notes])),
    )


def _differ(one: Result, two: Result) -> bool:
    """Whether two results of one cell are not the same; of an encoder that may be two, their predictions too."""
    if one.cell.identity is not None or one.resamples != two.resamples:
        return one.score != two.score
    return (one.score, one.files.get("predictions")) != (two.score, two.files.get("predictions"))


def _conflict(one: Result, here: Path, two: Result, there: Path) -> str:
    cell = one.cell
    what = f"{cell.encoder} on {cell.dataset} has {one.score:.4f} in {here} and {two.score:.4f} in {there}"
    if cell.identity is None:
        raise UsageError(
            f"{what}, and the encoder does not say what it is, so that these may be two encoders. Look at the runs one "
            "by one, or give the encoder an identity (py:…?version=…) and run again."
        )
    return f"{what}, though it is the same encoder on the same rows. The first is shown."


def _merged(infos: Sequence[Any]) -> dict[str, Any]:
    """What was asked for in all; a set is the same one if its name and its rows are."""
    found: dict[str, Any] = {}
    for info in infos:
        for name, value in info.items():
            if name == "asked":
                found[name] = _merged([found.get(name, {}), value])
                continue
            if not isinstance(value, list):
                found.setdefault(name, value)
                continue
            there = found.setdefault(name, [])
            known = [_name(each) for each in there]
            there += [each for each in value if _name(each) not in known]
    return found


def _name(value: Any) -> Any:
    return (value["name"], value["digest"]) if isinstance(value, dict) else value
