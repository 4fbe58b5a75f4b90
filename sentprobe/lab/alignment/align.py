"""Aligning two spaces, from a request to a folder; with the best method, if that is requested."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec

from sentprobe.core.workers import map_in_workers
from sentprobe.errors import DataError, SentProbeError, UsageError
from sentprobe.lab.alignment import METHODS
from sentprobe.lab.alignment.card import write_card
from sentprobe.lab.alignment.export import check_exportable, write_exports
from sentprobe.lab.alignment.folder import (
    CANDIDATES,
    CONFIG,
    FORMAT,
    MAP,
    MAPS,
    AlignmentFolder,
    encode_map,
    read_map,
)
from sentprobe.lab.alignment.inputs import AlignmentInputs, read_inputs
from sentprobe.lab.alignment.map_scores import precision_at_1
from sentprobe.lab.alignment.method import Matrices, ProgressReport, Reporter, note
from sentprobe.lab.alignment.request import BEST, AlignmentRequest, applicable, count_of_tries, make_request
from sentprobe.lab.alignment.seed import SeedInputs, best_of, quiet, run_seed
from sentprobe.lab.alignment.validation import Validation, can_validate, validate

WORTH_REFINING = 0.05
"""What a map may gain from rounds of refinement until they are recommended."""


def align(request: AlignmentRequest, folder: Path, report: Reporter = quiet, jobs: int = 1) -> AlignmentFolder:
    """Align two spaces, or resume where an earlier call was interrupted.

    Parameters
    ----------
    request : AlignmentRequest
        What to do, from ``make_request``.
    folder : Path
        Where everything is written; a new folder, or one of the same request.
    report : callable
        Called with a ProgressReport after every epoch or round, at the end of a seed, and with notes.
    jobs : int
        Tries that are worked on at the same time, in processes of their own.

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


def _align(request: AlignmentRequest, folder: AlignmentFolder, report: Reporter, jobs: int) -> AlignmentFolder:
    with folder.job.writing():
        resolved = request
        candidates: list[dict[str, Any]] = []
        if request.method == BEST:
            resolved, candidates = _best_method(request, folder.path, report, jobs)
        inputs = read_inputs(resolved, folder.path, report)
        folder.check_unchanged(inputs.about)
        config = _config(request, resolved, inputs, candidates)
        previous = folder.config if (folder.path / CONFIG).is_file() else {}
        if not previous.get("finished") or not _has_map(folder):
            check_exportable(request)
            folder.write_config(config)
            _run(resolved, folder, inputs, config, report, jobs)
        finished = AlignmentFolder(folder.path)
        write_exports(finished, request.export, report)
        write_card(finished)
    return finished


def _has_map(folder: AlignmentFolder) -> bool:
    """Whether the map is there, and intact; otherwise it is written again, from that of its seed."""
    try:
        read_map(folder.job, MAP)
    except DataError:
        return False
    return True


def _config(
    request: AlignmentRequest, resolved: AlignmentRequest, inputs: AlignmentInputs, candidates: list[dict[str, Any]]
) -> dict[str, Any]:
    from sentprobe import __version__

    return {
        "format": FORMAT,
        "sentprobe": __version__,
        "request": msgspec.to_builtins(request),
        **inputs.about,
        "method": resolved.method,
        "why": resolved.why,
        "steps": list(resolved.steps),
        "settings": dict(resolved.settings),
        "refine": resolved.refine,
        **({"candidates": candidates} if candidates else {}),
        "finished": False,
    }


def _run(
    request: AlignmentRequest,
    folder: AlignmentFolder,
    inputs: AlignmentInputs,
    config: dict[str, Any],
    report: Reporter,
    jobs: int,
) -> None:
    """Work on all seeds, and keep the map of the best one."""
    pairs = inputs.dictionary.rows if inputs.dictionary is not None else None
    dev = inputs.dev.rows if inputs.dev is not None else None
    seed_inputs = SeedInputs(
        folder.path, request, inputs.source.vectors, inputs.target.vectors, inputs.steps, pairs, dev
    )
    seeds = []
    for seed in _seeds(seed_inputs, report, jobs):
        facts = {key: value for key, value in seed.items() if isinstance(value, int | float) and key != "seed"}
        report(ProgressReport("seed", seed["seed"], facts=facts, text=seed.get("error", "")))
        seeds.append(seed)
    seeds.sort(key=lambda s: request.tries.index(s["seed"]))
    config["seeds"] = seeds
    if all("error" in s for s in seeds):
        _fail(folder, config, seeds[0]["error"])
    best_seed = best_of(seeds)["seed"]
    best_map = folder.result(best_seed)
    assert best_map.source.matrix is not None
    matrices = Matrices(best_map.source.matrix, best_map.target.matrix)
    config["chosen"] = best_seed
    if inputs.held_out is not None:
        scores = precision_at_1(seed_inputs.source, seed_inputs.target, matrices, inputs.held_out)
        config["held_out"] = {"nn": scores.nn, "csls": scores.csls}
    if pairs is None:
        _validate(seed_inputs, matrices, folder, config, report)
    config.pop("failed", None)
    folder.job.write({MAP: encode_map(best_map)})
    folder.write_config({**config, "finished": True})


def _seeds(inputs: SeedInputs, report: Reporter, jobs: int) -> Iterator[dict[str, Any]]:
    """The results of all seeds, as they end."""
    seeds = inputs.request.tries
    if jobs == 1 or len(seeds) == 1:
        yield from (run_seed(inputs, seed, report) for seed in seeds)
    else:
        calls = ((inputs, seed) for seed in seeds)
        yield from map_in_workers(run_seed, calls, min(jobs, len(seeds)), in_order=False)


def _validate(
    inputs: SeedInputs, matrices: Matrices, folder: AlignmentFolder, config: dict[str, Any], report: Reporter
) -> None:
    """Compare a map that was found without a dictionary with chance; an error if it is no better."""
    validation = validate(inputs.source, inputs.target, matrices)
    config["start"] = validation._asdict()
    if not can_validate(inputs.source, inputs.target):
        size = f"{min(len(inputs.source), len(inputs.target)):,} words in {inputs.source.shape[1]} dimensions"
        report(note(f"{size} are too few to tell whether the map is right: look at translations"))
    elif not validation.passed:
        _fail(folder, config, _validation_error(validation, inputs.request))
    if validation.value - validation.fit > WORTH_REFINING:
        report(note("refinement would improve this map a lot: --refine 5, in another folder"))


def _validation_error(validation: Validation, request: AlignmentRequest) -> str:
    alternatives = [m for m in METHODS if m != request.method and METHODS[m].dictionary != "needed"]
    advice = ["a dictionary, even a small one (--dictionary FILE, identical or numerals)"]
    if METHODS.get(request.method).seeded:
        advice.append(f"more tries (--tries {2 * len(request.tries)})")
    if alternatives:
        advice.append(f"another method ({', '.join(alternatives)})")
    if "center" not in request.steps:
        advice.append("centring (--steps unit,center,unit)")
    return (
        f"The method {request.method} found no map with {count_of_tries(request.tries)}: the translations of the best "
        f"one fit together no better ({validation.value:.3f}) than those of rotations that only match the "
        f"distributions ({validation.low:.3f} to {validation.high:.3f}). A map is accepted above "
        f"{validation.limit:.3f}, or where one of these rotations ends at the same map. Try {'; '.join(advice)}; or "
        "vectors trained alike on similar texts."
    )


def _fail(folder: AlignmentFolder, config: dict[str, Any], why: str) -> None:
    """Record a failure; history and maps along the way stay."""
    folder.write_config({**config, "failed": why})
    write_card(AlignmentFolder(folder.path))
    raise SentProbeError(why)


# The best method


def _best_method(
    request: AlignmentRequest, folder: Path, report: Reporter, jobs: int
) -> tuple[AlignmentRequest, list[dict[str, Any]]]:
    """A request for the best method, and the results of each, which is tried in a folder of its own.

    With a dictionary, the score is P@1 under CSLS of a held-out fifth of its source words, and the best method is then
    trained on all of it. Without one, it is the criterion after a fit to the method's own translations, which is
    comparable between methods.
    """
    methods = applicable(bool(request.dictionary))
    candidates = [_try_method(request, method.name, folder, report, jobs) for method in methods]
    if all("error" in candidate for candidate in candidates):
        first = candidates[0]
        raise SentProbeError(f"No method could be used. The first one, {first['method']}: {first['error']}")
    best = max((c for c in candidates if "error" not in c), key=lambda c: c["score"])
    measure = "P@1 on held-out words" if request.dictionary else "the criterion"
    resolved = make_request(
        request.source,
        request.target,
        method=best["method"],
        words=request.words,
        dictionary=request.dictionary,
        dev=request.dev,
        tries=request.tries or None,
    )
    if not request.dictionary:  # nothing was held out, so that the candidate is the result
        _adopt(folder / CANDIDATES / best["method"], folder)
    return replace(resolved, why=f"{measure} is highest, {best['score']:.3f}"), candidates


def _try_method(request: AlignmentRequest, name: str, folder: Path, report: Reporter, jobs: int) -> dict[str, Any]:
    report(note(f"trying {name}"))
    candidate_request = make_request(
        request.source,
        request.target,
        method=name,
        words=request.words,
        dictionary=request.dictionary,
        dev=request.dev,
        tries=request.tries or None,
        held_out=bool(request.dictionary),
    )
    try:
        config = align(candidate_request, folder / CANDIDATES / name, report, jobs).config
    except UsageError:
        raise
    except SentProbeError as e:
        report(note(f"{name}: {e}"))
        return {"method": name, "error": str(e)}
    score = float(config["held_out"]["csls"] if "held_out" in config else config["start"]["fit"])
    candidate: dict[str, Any] = {"method": name, "score": score, "criterion": _criterion_of_chosen_seed(config)}
    if "held_out" in config:
        candidate.update({f"held_out_{key}": value for key, value in config["held_out"].items()})
    report(note(f"{name}: {score:.3f}"))
    return candidate


def _criterion_of_chosen_seed(config: Mapping[str, Any]) -> float | None:
    """The criterion of the seed that was chosen."""
    return next((s.get("criterion") for s in config["seeds"] if s["seed"] == config.get("chosen")), None)


def _adopt(candidate: Path, folder: Path) -> None:
    """Take over the maps and the history of a candidate, whose request is the same."""
    if (folder / CONFIG).is_file():
        return
    shutil.copytree(candidate / MAPS, folder / MAPS, dirs_exist_ok=True)
