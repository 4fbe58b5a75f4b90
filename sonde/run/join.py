"""Several runs → one, to be looked at together; nothing is written."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from sonde.errors import UsageError
from sonde.result import Failure, Result
from sonde.run.folder import Run, asked, in_order
from sonde.several import several


def join(runs: Run | Iterable[Run]) -> Run:
    """Several runs as one. Of a cell that several have done, the first run's result counts.

    Lists of ``info`` grow by what each further run adds; predictions, rows and probes are found where they are.
    """
    runs = several(runs, Run, "a run")
    if not runs:
        raise UsageError("No run was given; name at least one.")
    if len(runs) == 1:
        return runs[0]
    results: dict[str, Result] = {}
    homes: dict[str, Path] = {}
    failures: dict[str, Failure] = {}
    for run in runs:
        for result in (*run.results, *run.extras):
            if result.key not in results:
                results[result.key] = result
                homes[result.key] = run.home(result)
        for failure in run.failures:
            failures.setdefault(failure.key, failure)
    done = {asked(result.cell) for result in results.values()}
    info = _merged([run.info for run in runs])
    return Run(
        runs[0].folder,
        info,
        in_order((r for r in results.values() if r.cell.variant is None), info),
        in_order((f for f in failures.values() if asked(f.cell) not in done), info),
        {key: folder for key, folder in homes.items() if folder != runs[0].folder},
        in_order((r for r in results.values() if r.cell.variant is not None), info),
        tuple(dict.fromkeys(note for run in runs for note in run.damaged)),
    )


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
