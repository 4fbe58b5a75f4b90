"""All that a page about a run needs, as plain data: its summary and what follows from it.

Beside what ``summarise`` says there are

    mistakes, curves, correlations, languages, checks    as the modules of these names say
    repeat     commands (as they were given, or as they must have been), signatures (how many), versions, folders
    try        null; what a server sets that lets a sentence be tried
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from sonde.encoders import scheme_names
from sonde.report.curves import curves
from sonde.report.error_analysis import error_analysis
from sonde.report.escape import plain
from sonde.report.grid import BASELINE_NAMES
from sonde.report.summary import VERSION, summarise
from sonde.result import FLOAT16_FACT, Cell
from sonde.run.controls import CONTROLS
from sonde.run.folder import Run
from sonde.run.variants import base_variant

if TYPE_CHECKING:
    from sonde.report.correlations import Adjustment

__all__ = ["VERSION", "full_summary"]


def full_summary(run: Run, *, adjust: Adjustment = "holm", published: bool = False) -> dict[str, Any]:
    """Everything that is to be shown of a run, and everything that follows from it.

    ``adjust`` says how the p-values of the correlation matrix are adjusted: by holm, bonferroni, bh (Benjamini and
    Hochberg's false discovery rate) or none. ``published``: also what papers printed for other sets.
    """
    from sonde.report.checks import checks
    from sonde.report.correlations import correlations
    from sonde.report.languages import languages

    summary = summarise(run, published=published)
    summary["mistakes"] = error_analysis(run, summary)
    summary["curves"] = curves(summary)
    summary["correlations"] = correlations(summary, adjust)
    summary["languages"] = languages(summary)
    summary["repeat"] = {
        "commands": list(run.info.get("commands", ())) or list(_commands(run)),
        "signatures": len(run.results),
        "versions": summary["versions"],
        "folders": [str(folder) for folder in run.folders],
    }
    summary["try"] = None
    summary["checks"] = [{**msgspec.to_builtins(found), "where": list(found.where)} for found in checks(summary)]
    return summary


# Commands of runs that do not say how they were started


Way = tuple[str, int | None, str | None, bool]
"""Cells of one command have these in common: folder, limit, device, and whether vectors were rounded."""


def _commands(run: Run) -> Iterator[str]:
    """Commands that ask for what a run holds, in a line each; what no command can ask for stands in a comment."""
    asked = [name for name in run.info.get("encoders", ()) if name not in BASELINE_NAMES]
    datasets = run.info.get("datasets", ())
    own = [name for name in asked if ":" not in name or name.partition(":")[0] not in scheme_names()]
    ways: dict[Way, list[Cell]] = {}
    for r in run.results:
        if r.cell.encoder in asked:
            folder = str(run.result_folders.get(r.key, run.folder))
            way = (folder, r.cell.limit, r.cell.device, FLOAT16_FACT in (r.cell.identity or ""))
            ways.setdefault(way, []).append(r.cell)
    for way, cells in ways.items() or [((str(run.folder), None, None, False), [])]:
        used = {(name, getattr(cell, name)) for cell in cells for name in ("encoder", "data", "probe", "seed")}
        every = len(ways) < 2  # all that was asked for, done or not
        encoders = [name for name in asked if name not in own and (every or ("encoder", name) in used)]
        sets = [said for said in datasets if every or ("data", said["digest"]) in used]
        seeds = [seed for seed in run.info.get("seeds", ()) if every or ("seed", seed) in used]
        # some may be the baselines' only
        probes = [name for name in run.info.get("probes", ()) if not cells or ("probe", name) in used]
        sources = [said["source"] for said in sets if said.get("source")]
        if encoders and sources:
            more = _variants([r.cell for r in run.extras if r.cell.encoder in encoders])
            yield from (shlex.join([*words, *more]) for words in _with(way, encoders, sources, probes, seeds))
    if own:
        yield f"# from Python, with encoders of one's own: {plain(', '.join(own))}"
    if left := [said["name"] for said in datasets if not said.get("source")]:
        yield f"# from Python, with sets of one's own: {plain(', '.join(left))}"


def _with(
    way: Way,
    encoders: Sequence[str],
    sources: Sequence[Mapping[str, Any]],
    probes: Sequence[str],
    seeds: Sequence[int],
) -> Iterator[list[str]]:
    folder, limit, device, half = way
    for places, stretch in product(_places(sources), _stretches(seeds)):
        words = ["sonde", "run", *places]
        words += [word for name in encoders for word in ("-e", name)]
        words += [word for name in probes if probes != ["linear"] for word in ("-p", name)]
        words += _option("--seeds", len(stretch), 1) + _option("--seed", stretch[0], 1111)
        words += _option("--limit", limit) + _option("--device", device) + ["--half"] * half
        yield [*words, "-o", folder]


def _variants(cells: Sequence[Cell]) -> list[str]:
    """The options that ask for these controls and measures."""
    names = list(dict.fromkeys(base_variant(cell.variant) for cell in cells if cell.variant))
    controls = [name for name in names if name in CONTROLS]
    measures = [name for name in names if name not in CONTROLS]
    return _option("--controls", ",".join(controls), "") + _option("--measures", ",".join(measures), "")


def _option(name: str, value: object, usual: object = None) -> list[str]:
    return [] if value == usual else [name, str(value)]


def _stretches(seeds: Sequence[int]) -> list[list[int]]:
    """The seeds, in stretches of numbers that follow each other."""
    found: list[list[int]] = []
    for seed in sorted(seeds) or [1111]:
        if found and seed == found[-1][-1] + 1:
            found[-1].append(seed)
        else:
            found.append([seed])
    return found


def _places(sources: Sequence[Mapping[str, Any]]) -> list[list[str]]:
    """The words of a command that name the sets: one list for those that can be read with the same options."""
    found: dict[tuple[str, ...], dict[str, None]] = {}
    for source in sources:
        found.setdefault(tuple(_reading(source)), {}).update(dict.fromkeys(_typed(source)))
    return [[*paths, *options] for options, paths in found.items()]


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
    """The options that say how a set is to be read, where that cannot be told from its place."""
    columns = source.get("columns") or {}
    yield from (word for name in columns.get("text", ()) for word in ("--text", str(name)))
    for name in ("label", "split"):
        yield from _option(f"--{name}", columns.get(name))
    if columns and not columns.get("header", True):
        yield "--no-header"
    if source["kind"] in ("senteval", "table"):  # others are in folders that tell, or in a manifest
        yield from _option("--language", source["language"])
    if source["kind"] in ("senteval", "table", "xprobe"):
        yield from _option("--task", source["task"], source["name"].split("/")[-1])
    yield from _option("--train", source.get("train"))
