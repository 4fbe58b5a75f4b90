"""How to reproduce a run: the commands as they were typed, or reconstructed where a run does not record them."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

from sentprobe.core.table import plain
from sentprobe.encoders import SCHEMES
from sentprobe.probes.baselines import ALL_BASELINES
from sentprobe.report.types import RunProvenance
from sentprobe.results.records import read_recipes
from sentprobe.results.result import FLOAT16_FACT, Cell, Result
from sentprobe.results.run import Run
from sentprobe.run.control import CONTROLS
from sentprobe.run.measure import MEASURES
from sentprobe.run.variant import base_variant


def reproduction(run: Run, versions: Mapping[str, tuple[str, ...]]) -> RunProvenance:
    """How to reproduce a run whose programs had these versions."""
    return RunProvenance(
        commands=tuple(run.info.get("commands", ())) or tuple(_commands(run)),
        signatures=len(run.results),
        versions=versions,
        folders=tuple(map(str, run.folders)),
    )


# Commands of runs that do not say how they were started


CommandKey = tuple[str, int | None, str | None, bool]
"""Cells of one command have these in common: folder, limit, device, and whether vectors were rounded."""


def _commands(run: Run) -> Iterator[str]:
    """Commands that request what a run holds, in a line each; what no command can request is in a comment."""
    requested = [name for name in run.info.get("encoders", ()) if name not in ALL_BASELINES]
    datasets = run.info.get("datasets", ())
    python_encoders = [name for name in requested if ":" not in name or name.partition(":")[0] not in SCHEMES]
    recipes = {name: recipe for name, recipe in read_recipes(run.info).items() if recipe.typed}
    by_key: dict[CommandKey, list[Cell]] = {}
    for r in run.results:
        if r.cell.encoder in requested:
            folder = str(run.result_folders.get(r.key, run.folder))
            key = (folder, r.cell.limit, r.cell.device, FLOAT16_FACT in (r.cell.identity or ""))
            by_key.setdefault(key, []).append(r.cell)
    for key, cells in by_key.items() or [((str(run.folder), None, None, False), [])]:
        used = {(name, getattr(cell, name)) for cell in cells for name in ("encoder", "data", "probe", "seed")}
        every = len(by_key) < 2  # all that was requested, finished or not
        encoders = [name for name in requested if name not in python_encoders and (every or ("encoder", name) in used)]
        sets = [d for d in datasets if every or ("data", d["digest"]) in used]
        seeds = [seed for seed in run.info.get("seeds", ()) if every or ("seed", seed) in used]
        # some may be the baselines' only
        probes = [name for name in run.info.get("probes", ()) if not cells or ("probe", name) in used]
        sources = [d["source"] for d in sets if d.get("source")]
        if encoders and sources:
            extras = [r for r in run.extras if r.cell.encoder in encoders]
            typed = [recipes[name].typed if name in recipes else name for name in encoders]
            folds = {cell.folds for cell in cells}  # sets that differ have the number that is the default
            variant_options = [
                *_option("--folds", folds.pop() if len(folds) == 1 else None),
                *_variants([r.cell for r in extras]),
                *_measure_rows(run.results, extras),
            ]
            yield from (
                shlex.join([*words, *variant_options])
                for words in _command_words(key, list(dict.fromkeys(typed)), sources, probes, seeds)
            )
    if python_encoders:
        yield f"# from Python, with your own encoders: {plain(', '.join(python_encoders))}"
    if python_sets := [d["name"] for d in datasets if not d.get("source")]:
        yield f"# from Python, with your own sets: {plain(', '.join(python_sets))}"


def _command_words(
    key: CommandKey,
    encoders: Sequence[str],
    sources: Sequence[Mapping[str, Any]],
    probes: Sequence[str],
    seeds: Sequence[int],
) -> Iterator[list[str]]:
    folder, limit, device, half = key
    for set_words, seed_range in product(_set_words(sources), _ranges(seeds)):
        words = ["sentprobe", "run", *set_words]
        words += [word for name in encoders for word in ("-e", name)]
        words += [word for name in probes if probes != ["linear"] for word in ("-p", name)]
        words += _option("--probe-seeds", len(seed_range), 1) + _option("--seed", seed_range[0], 1111)
        words += _option("--limit", limit) + _option("--device", device) + ["--half"] * half
        yield [*words, "-o", folder]


def _variants(cells: Sequence[Cell]) -> list[str]:
    """The options that request these controls and measures."""
    names = list(dict.fromkeys(base_variant(cell.variant) for cell in cells if cell.variant))
    controls = [name for name in names if name in CONTROLS]
    measures = [name for name in names if name not in CONTROLS]
    return _option("--controls", ",".join(controls), "") + _option("--measures", ",".join(measures), "")


def _measure_rows(results: Sequence[Result], extras: Sequence[Result]) -> list[str]:
    """The option that requests as many training rows for measures as these have used, if it is not the usual number."""
    all_rows = {r.cell.data: r.n["tr"] for r in results if r.cell.probe is not None}
    row_counts = set()
    for r in extras:
        name, rows = base_variant(str(r.cell.variant)), all_rows.get(r.cell.data)
        most = MEASURES[name].max_rows if name in MEASURES else None
        if most is not None and rows is not None and r.n["tr"] != min(rows, most):
            row_counts.add(r.n["tr"])
    return _option("--measure-rows", max(row_counts)) if row_counts else []


def _option(name: str, value: object, usual: object = None) -> list[str]:
    return [] if value == usual else [name, str(value)]


def _ranges(seeds: Sequence[int]) -> list[list[int]]:
    """The seeds, in ranges of consecutive numbers."""
    ranges: list[list[int]] = []
    for seed in sorted(seeds) or [1111]:
        if ranges and seed == ranges[-1][-1] + 1:
            ranges[-1].append(seed)
        else:
            ranges.append([seed])
    return ranges


def _set_words(sources: Sequence[Mapping[str, Any]]) -> list[list[str]]:
    """The words of a command that name the sets: one list for those that can be read with the same options."""
    by_options: dict[tuple[str, ...], dict[str, None]] = {}
    for source in sources:
        by_options.setdefault(tuple(_reading(source)), {}).update(dict.fromkeys(_typed(source)))
    return [[*paths, *options] for options, paths in by_options.items()]


def _typed(source: Mapping[str, Any]) -> list[str]:
    """What was typed to find a set: its files or folder, or the folder from which its name begins."""
    if source["kind"] == "table":
        return list(source["paths"])
    path = Path(source["paths"][0])
    if source["kind"] == "xprobe":
        path = path.parent
    above = tuple(source["name"].split("/")[:-1])
    return [str(path.parents[len(above)] if above and path.parent.parts[-len(above) :] == above else path)]


def _reading(source: Mapping[str, Any]) -> Iterator[str]:
    """The options that say how to read a set, where its place does not."""
    columns = source.get("columns") or {}
    yield from (word for name in columns.get("text", ()) for word in ("--text", str(name)))
    for name in ("label", "split"):
        yield from _option(f"--{name}", columns.get(name))
    if columns and not columns.get("header", True):
        yield "--no-header"
    if source["kind"] in ("senteval", "table"):  # others are in folders that say it, or in a manifest
        yield from _option("--as-language", source["language"])
    if source["kind"] in ("senteval", "table", "xprobe"):
        yield from _option("--as-task", source["task"], source["name"].split("/")[-1])
    if source.get("merge_labels"):
        yield "--merge-labels"
    yield from _option("--train", source.get("train"))
