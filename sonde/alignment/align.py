"""Aligning two spaces, from a request to a folder."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np

from sonde.alignment import METHODS
from sonde.alignment.card import write_card
from sonde.alignment.dictionary import (
    Matched,
    case_matters,
    identical_words,
    match,
    pairs_digest,
    read_dictionary,
    read_pairs,
    require_known,
)
from sonde.alignment.export import write_exports
from sonde.alignment.folder import CONFIG, FORMAT, MAP, MAPS, AlignmentFolder, read_map, write_map
from sonde.alignment.journal import RESULT, STATE, Report, Reporter, drop_unkept
from sonde.alignment.judge import comparable, start_range
from sonde.alignment.maps import WordMap, prepare
from sonde.alignment.method import Matrices
from sonde.alignment.precision import precision_at_1
from sonde.alignment.request import BEST, Request
from sonde.alignment.resume import check_same, check_unchanged
from sonde.alignment.seed import Task, best_of, quiet, run_seed
from sonde.alignment.space import Rows, Space, read_space
from sonde.core.files import make_folder
from sonde.core.json_files import write_json
from sonde.core.lock import locked
from sonde.core.workers import map_in_workers
from sonde.errors import DataError, SondeError, UsageError

IDENTICAL_WORDS = 300
"""Words that both spaces have from which on they are worth mentioning as a dictionary."""


class Inputs(NamedTuple):
    """What was read."""

    source: Space
    target: Space
    steps: WordMap
    dictionary: Matched | None
    held_out: Rows | None
    """(q, 2): the part of the dictionary that is held out."""
    dev: Matched | None
    about: dict[str, Any]
    """Digests and counts, as in ``alignment.json``."""


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
        The folder, with a map. If no seed found one, that is a DataError, and everything but the map is there.
    """
    check_same(request, folder)
    make_folder(folder)
    with locked(folder, folder, UsageError):
        chosen, candidates = request, []
        if request.method == BEST:
            from sonde.alignment.choose import choose

            chosen, candidates = choose(request, folder, report, jobs)
        inputs = _read(chosen, folder, report)
        check_unchanged(inputs.about, folder)
        config = _config(request, chosen, inputs, candidates)
        before = AlignmentFolder(folder).config if (folder / CONFIG).is_file() else {}
        if not before.get("finished"):
            write_json(folder / CONFIG, config)
            _run(chosen, folder, inputs, config, report, jobs)
        done = AlignmentFolder(folder)
        write_exports(done, request.export, report)
        write_card(done)
    return done


def _read(request: Request, folder: Path, report: Reporter) -> Inputs:
    """Read the spaces and dictionaries, and prepare the vectors."""
    source, target = (read_space(path, request.words) for path in (request.source, request.target))
    if source.dim != target.dim:
        raise UsageError(
            f"{source.name} has vectors of {source.dim} dimensions, and {target.name} of {target.dim}: expected as many. "
            "Reduce the larger ones, by principal components, say."
        )
    about: dict[str, Any] = {side: _facts(space, request.words, folder) for side, space in
                             (("source", source), ("target", target))}  # fmt: skip
    for space in (source, target):
        report(Report("note", text=f"{space.name}: {len(space):,} words, {space.dim} dimensions"))
    dictionary = held_out = dev = None
    if request.dictionary:
        pairs = read_pairs(request.dictionary, source, target)
        dictionary = _matched(pairs, ", ".join(request.dictionary), source, target, report)
        about["dictionary"] = _counts(dictionary, pairs, request.dictionary)
        if request.held_out:
            dictionary, held_out = hold_out(dictionary)
            about["dictionary"]["held_out"] = len(np.unique(held_out[:, 0]))
    elif len(same := identical_words(source, target)) >= IDENTICAL_WORDS:
        report(Report("note", text=f"{len(same):,} words are in both spaces: --dictionary identical would use them"))
    if request.dev:
        pairs = read_dictionary(request.dev)
        dev = _matched(pairs, request.dev, source, target, report)
        about["dev"] = _counts(dev, pairs, (request.dev,))
    steps = WordMap(prepare(source.vectors, request.steps), prepare(target.vectors, request.steps))
    return Inputs(source, target, steps, dictionary, held_out, dev, about)


def _matched(pairs: list[tuple[str, str]], name: str, source: Space, target: Space, report: Reporter) -> Matched:
    found = match(pairs, source, target)
    require_known(found, pairs, name, source, target)
    text = f"{name}: {len(found.known):,} of {found.total:,} pairs, {found.source_words:,} source words"
    if found.unknown_source or found.unknown_target:
        text += f"; left out: {found.unknown_source:,} with an unknown source word, {found.unknown_target:,} others with an unknown target word"
    report(Report("note", text=text))
    if would := case_matters(found, pairs, source, target):
        report(Report("note", text=f"{name}: {would:,} pairs would be known if upper and lower case were the same"))
    return found


def hold_out(dictionary: Matched) -> tuple[Matched, Rows]:
    """Four fifths of the source words with their pairs, and the pairs (q, 2) of the others; always the same."""
    words = np.unique(dictionary.rows[:, 0])
    out = np.random.default_rng(0).permutation(words)[: max(1, len(words) // 5)]
    held = np.isin(dictionary.rows[:, 0], out)
    if held.all():
        raise DataError("The dictionary has one source word; to compare methods, expected several.")
    known = tuple(pair for pair, is_out in zip(dictionary.known, held, strict=True) if not is_out)
    return replace(dictionary, rows=dictionary.rows[~held], known=known), dictionary.rows[held]


def _facts(space: Space, limit: int, folder: Path) -> dict[str, Any]:
    beside = os.path.relpath(Path(space.name).expanduser().resolve(), folder.resolve())
    return {"path": space.name, "beside": beside, "limit": limit, "words": len(space), "dim": space.dim,
            "digest": space.digest}  # fmt: skip


def _counts(found: Matched, pairs: list[tuple[str, str]], names: tuple[str, ...]) -> dict[str, Any]:
    return {
        "files": list(names),
        "digest": pairs_digest(pairs),
        "pairs": len(pairs),
        "known": len(found.known),
        "source_words": found.source_words,
        "unknown_source": found.unknown_source,
        "unknown_target": found.unknown_target,
    }


def _config(request: Request, chosen: Request, inputs: Inputs, candidates: list[dict[str, Any]]) -> dict[str, Any]:
    from sonde import __version__

    return {
        "format": FORMAT,
        "sonde": __version__,
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
    request: Request, folder: Path, inputs: Inputs, config: dict[str, Any], report: Reporter, jobs: int
) -> None:
    """Work on all seeds, and choose one."""
    method = METHODS.get(request.method)
    uses = inputs.dictionary is not None and method.dictionary != "unused"
    pairs = inputs.dictionary.rows if uses and inputs.dictionary is not None else None
    dev = inputs.dev.rows if inputs.dev is not None else None
    task = Task(folder, request, inputs.source.vectors, inputs.target.vectors, inputs.steps, pairs, dev)
    drop_unkept(folder, request.seeds)
    seeds = []
    for found in _seeds(task, report, jobs):
        facts = {key: value for key, value in found.items() if isinstance(value, int | float) and key != "seed"}
        report(Report("seed", found["seed"], facts=facts, text=found.get("error", "")))
        seeds.append(found)
    seeds.sort(key=lambda s: request.seeds.index(s["seed"]))
    config["seeds"] = seeds
    if all("error" in s for s in seeds):
        _fail(folder, config, seeds[0]["error"])
    best = best_of(seeds)
    place = folder / MAPS / f"seed-{best['seed']}" / RESULT
    chosen = read_map(place)
    assert chosen.source.matrix is not None
    matrices = Matrices(chosen.source.matrix, chosen.target.matrix)
    config["chosen"] = best["seed"]
    if not uses or inputs.held_out is not None:
        config["comparable"] = comparable(task.source, task.target, matrices)
    if inputs.held_out is not None:
        scores = precision_at_1(task.source, task.target, matrices, inputs.held_out)
        config["held_out"] = {"nn": scores.nn, "csls": scores.csls}
    if not uses:
        start = start_range(task.source, task.target)
        config["start"] = start._asdict()
        if config["comparable"] <= start.limit:
            _fail(folder, config, _no_better(config, start, request))
    config.pop("failed", None)
    write_map(folder / MAP, chosen)
    write_json(folder / CONFIG, {**config, "finished": True})
    state = folder / STATE
    if state.is_dir() and not any(state.iterdir()):
        state.rmdir()


def _seeds(task: Task, report: Reporter, jobs: int) -> Iterator[dict[str, Any]]:
    """The results of all seeds, as they end."""
    seeds = task.request.seeds
    if jobs == 1 or len(seeds) == 1:
        yield from (run_seed(task, seed, report) for seed in seeds)
    else:
        calls = ((task, seed) for seed in seeds)
        yield from map_in_workers(partial(run_seed), calls, min(jobs, len(seeds)), in_order=False)


def _no_better(config: Mapping[str, Any], start: Any, request: Request) -> str:
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
        f"The method {request.method} found no map with {tried}: the translations of the best one fit together no better "
        f"({config['comparable']:.3f}) than those of random rotations ({start.low:.3f} to {start.high:.3f}; more than "
        f"{start.limit:.3f} is needed). Try {'; '.join(advice)}; or vectors trained alike on similar texts."
    )


def _fail(folder: Path, config: dict[str, Any], why: str) -> None:
    """Record a failure; history and maps along the way stay."""
    write_json(folder / CONFIG, {**config, "failed": why})
    done = AlignmentFolder(folder)
    write_card(done)
    raise SondeError(why)
