"""Several runs → one, to be read together; nothing is written."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from sentprobe.core.arguments import as_list
from sentprobe.errors import UsageError
from sentprobe.result import Cell, Failure, Result
from sentprobe.run.folder import Run, in_order, request_of


def join(runs: Run | Iterable[Run]) -> Run:
    """Join runs to read them as one; if several runs have a result for the same cell, the first run wins.

    Nothing is written: predictions, test rows and probes are read from where they are. If runs disagree about a cell,
    ``Run.damaged`` says so.

    Parameters
    ----------
    runs
        The runs to join, in order of precedence.

    Raises
    ------
    UsageError
        If there is no run, or if two runs disagree about an encoder without an identity, such as a plain function: it
        may be two encoders of the same name.

    Examples
    --------
    >>> import tempfile
    >>> from sentprobe import Dataset, Example, evaluate
    >>> from sentprobe.run import join
    >>> rows = [Example(("even", "odd")[i % 2], ("number", str(i)), f"number {i}") for i in range(80)]
    >>> splits = {"tr": rows[:40], "va": rows[40:60], "te": rows[60:]}
    >>> parity = Dataset("mine/parity", "parity", 1, "en", ("even", "odd"), splits)
    >>> def last_digit(texts):
    ...     return [[int(text[-1]) % 2, 1] for text in texts]
    >>> def length(texts):
    ...     return [[len(text), 1] for text in texts]
    >>> folder = tempfile.TemporaryDirectory()
    >>> one = evaluate(last_digit, parity, f"{folder.name}/one", baselines=[], resample=0)
    >>> two = evaluate(length, parity, f"{folder.name}/two", baselines=[], resample=0)
    >>> join([one, two]).encoders
    ['last_digit', 'length']
    >>> folder.cleanup()
    """
    runs = as_list(runs, Run, "a run")
    if not runs:
        raise UsageError("Expected at least one run, got none.")
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
    superseded = _superseded(results.values())
    for older, _ in superseded:
        del results[older.key]
        del result_folders[older.key]
    if superseded:
        (older, newer), cells = superseded[0], len(superseded)
        notes.append(
            f"{cells} result{'s' * (cells != 1)}, such as {older.cell.encoder} on {older.cell.dataset}, "
            f"{'were' if cells != 1 else 'was'} computed with different versions of a probe, control or measure "
            f"({older.cell.parts or 'the first'} and {newer.cell.parts}). The newer is shown."
        )
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


def _superseded(results: Iterable[Result]) -> list[tuple[Result, Result]]:
    """Results of older versions of a control, measure or kind of probe, each with the one of the newest versions."""
    newest: dict[Cell, Result] = {}
    found: list[Result] = []
    for result in results:
        cell = replace(result.cell, parts=None)
        known = newest.setdefault(cell, result)
        if known is not result:
            older, newest[cell] = sorted((known, result), key=_versions)
            found.append(older)
    return [(older, newest[replace(older.cell, parts=None)]) for older in found]


def _versions(result: Result) -> int:
    """The versions of its parts, added up: they only rise."""
    return sum(int(part.rpartition(".v")[2]) for part in (result.cell.parts or "").split(",") if part)


def _differ(one: Result, two: Result) -> bool:
    """Whether two results of one cell differ; without an identity of the encoder, predictions count, too."""
    if one.cell.identity is not None or one.resamples != two.resamples:
        return one.score != two.score
    return (one.score, one.files.get("predictions")) != (two.score, two.files.get("predictions"))


def _conflict(one: Result, here: Path, two: Result, there: Path) -> str:
    cell = one.cell
    what = f"{cell.encoder} on {cell.dataset} has {one.score:.4f} in {here} and {two.score:.4f} in {there}"
    if cell.identity is None:
        raise UsageError(
            f"{what}, and the encoder has no identity, so these may be two encoders. Read the runs one by one, or give "
            "the encoder an identity (py:…?version=…) and run again."
        )
    return f"{what}, although encoder and rows are the same. The first is shown."


def _merged(infos: Sequence[Any]) -> dict[str, Any]:
    """The requests of all runs; two sets are the same if their names and rows are."""
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
