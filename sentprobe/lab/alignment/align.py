"""Aligning two spaces, from a request to a folder."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from sentprobe.core.workers import map_in_workers
from sentprobe.errors import DataError, SentProbeError
from sentprobe.lab.alignment import METHODS
from sentprobe.lab.alignment.card import write_card
from sentprobe.lab.alignment.choose import choose
from sentprobe.lab.alignment.export import check_exportable, write_exports
from sentprobe.lab.alignment.folder import CONFIG, FORMAT, MAP, AlignmentFolder, encode_map, read_map
from sentprobe.lab.alignment.inputs import Inputs, read_inputs
from sentprobe.lab.alignment.judge import Verdict, can_judge, judge
from sentprobe.lab.alignment.method import Matrices, Report, Reporter
from sentprobe.lab.alignment.precision import precision_at_1
from sentprobe.lab.alignment.request import BEST, Request
from sentprobe.lab.alignment.seed import Task, best_of, quiet, run_seed

WORTH_REFINING = 0.05
"""What a map may gain from rounds of refinement until they are recommended."""


def align(request: Request, folder: Path, report: Reporter = quiet, jobs: int = 1) -> AlignmentFolder:
    """Align two spaces, or go on where an earlier call was interrupted.

    Parameters
    ----------
    request : Request
        What to do, from ``make_request``.
    folder : Path
        Where everything is written; a new folder, or one of the same request.
    report : callable
        Called with a Report as it goes on.
    jobs : int
        Seeds that are worked on at the same time, in processes of their own.

    Returns
    -------
    AlignmentFolder
        The folder, with a map. If no seed found one, that is a SentProbeError, and everything but the map is there.
    """
    alignment = AlignmentFolder(folder)
    alignment.check_same(request)
    try:
        return _align(request, alignment, report, jobs)
    except SentProbeError:
        with suppress(OSError):  # nothing was written, not even what was requested
            folder.rmdir()
        raise


def _align(request: Request, folder: AlignmentFolder, report: Reporter, jobs: int) -> AlignmentFolder:
    with folder.job.writing():
        chosen = request
        candidates: list[dict[str, Any]] = []
        if request.method == BEST:
            chosen, candidates = choose(request, folder.path, report, partial(align, report=report, jobs=jobs))
        inputs = read_inputs(chosen, folder.path, report)
        folder.check_unchanged(inputs.about)
        config = _config(request, chosen, inputs, candidates)
        before = folder.config if (folder.path / CONFIG).is_file() else {}
        if not before.get("finished") or not _has_map(folder):
            check_exportable(request)
            folder.write_config(config)
            _run(chosen, folder, inputs, config, report, jobs)
        done = AlignmentFolder(folder.path)
        write_exports(done, request.export, report)
        write_card(done)
    return done


def _has_map(folder: AlignmentFolder) -> bool:
    """Whether the map is there, and intact; otherwise it is written again, from that of its seed."""
    try:
        read_map(folder.job, MAP)
    except DataError:
        return False
    return True


def _config(request: Request, chosen: Request, inputs: Inputs, candidates: list[dict[str, Any]]) -> dict[str, Any]:
    from sentprobe import __version__

    return {
        "format": FORMAT,
        "sentprobe": __version__,
        "request": msgspec.to_builtins(request),
        **inputs.about,
        "method": chosen.method,
        "why": chosen.why,
        "steps": list(chosen.steps),
        "settings": dict(chosen.settings),
        "refine": chosen.refine,
        **({"candidates": candidates} if candidates else {}),
        "finished": False,
    }


def _run(
    request: Request, folder: AlignmentFolder, inputs: Inputs, config: dict[str, Any], report: Reporter, jobs: int
) -> None:
    """Work on all seeds, and choose one."""
    pairs = inputs.dictionary.rows if inputs.dictionary is not None else None
    dev = inputs.dev.rows if inputs.dev is not None else None
    task = Task(folder.path, request, inputs.source.vectors, inputs.target.vectors, inputs.steps, pairs, dev)
    seeds = []
    for seed in _seeds(task, report, jobs):
        facts = {key: value for key, value in seed.items() if isinstance(value, int | float) and key != "seed"}
        report(Report("seed", seed["seed"], facts=facts, text=seed.get("error", "")))
        seeds.append(seed)
    seeds.sort(key=lambda s: request.seeds.index(s["seed"]))
    config["seeds"] = seeds
    if all("error" in s for s in seeds):
        _fail(folder, config, seeds[0]["error"])
    best = best_of(seeds)
    chosen = folder.result(best["seed"])
    assert chosen.source.matrix is not None
    matrices = Matrices(chosen.source.matrix, chosen.target.matrix)
    config["chosen"] = best["seed"]
    if inputs.held_out is not None:
        scores = precision_at_1(task.source, task.target, matrices, inputs.held_out)
        config["held_out"] = {"nn": scores.nn, "csls": scores.csls}
    if pairs is None:
        verdict = judge(task.source, task.target, matrices)
        config["start"] = verdict._asdict()
        if not verdict.passed and can_judge(task.source, task.target):
            _fail(folder, config, _no_better(verdict, request))
        if not can_judge(task.source, task.target):
            few = f"{min(len(task.source), len(task.target)):,} words in {task.source.shape[1]} dimensions"
            report(Report("note", text=f"{few} are too few to tell whether the map is right: look at translations"))
        if verdict.value - verdict.fit > WORTH_REFINING:
            report(Report("note", text="refinement would make this map better by far: --refine 5, in another folder"))
    config.pop("failed", None)
    folder.job.write({MAP: encode_map(chosen)})
    folder.write_config({**config, "finished": True})


def _seeds(task: Task, report: Reporter, jobs: int) -> Iterator[dict[str, Any]]:
    """The results of all seeds, as they end."""
    seeds = task.request.seeds
    if jobs == 1 or len(seeds) == 1:
        yield from (run_seed(task, seed, report) for seed in seeds)
    else:
        calls = ((task, seed) for seed in seeds)
        yield from map_in_workers(run_seed, calls, min(jobs, len(seeds)), in_order=False)


def _no_better(verdict: Verdict, request: Request) -> str:
    tried = f"{len(request.seeds)} seed{'s' * (len(request.seeds) != 1)}"
    others = [m for m in METHODS if m != request.method and METHODS[m].dictionary != "needed"]
    advice = ["a dictionary, even a small one (--dictionary FILE, identical or numerals)"]
    if METHODS.get(request.method).seeded:
        advice.append(f"more seeds (--seeds {2 * len(request.seeds)})")
    if others:
        advice.append(f"another method ({', '.join(others)})")
    if "center" not in request.steps:
        advice.append("centring (--steps unit,center,unit)")
    return (
        f"The method {request.method} found no map with {tried}: the translations of the best one fit together no "
        f"better ({verdict.value:.3f}) than those of rotations that only match the distributions ({verdict.low:.3f} to "
        f"{verdict.high:.3f}; more than {verdict.limit:.3f} is needed). Try {'; '.join(advice)}; or vectors trained "
        "alike on similar texts."
    )


def _fail(folder: AlignmentFolder, config: dict[str, Any], why: str) -> None:
    """Record a failure; history and maps along the way stay."""
    folder.write_config({**config, "failed": why})
    write_card(AlignmentFolder(folder.path))
    raise SentProbeError(why)
