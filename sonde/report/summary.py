"""A run as plain data, from which tables, texts and pages are made.

    version    of this description: 2
    folder     of the run, as it was named
    metric     what ``score`` in a cell is about: accuracy, macro_f1 or log2_loss (in bits; lower is better)
    columns    encoder, probe, limit, device, sonde, identity (its digest), and label: the encoder, and what sets the
               column apart from others
    baselines  the same of the columns that each number is shown beside
    sets       name, label, data (its digest), task, version, language, classes, n (rows by split), scored_by,
               synthetic, question, corpus, source (where it came from, in a few words), inputs (what the probe is given
               besides the sentence), audit (how many findings of each severity, and these; null: none was made), human,
               paper and printed (what was printed of the suite's own set), cells and baselines (a cell per column)
    transfer   per column the mean over transfer tasks, or null
    layers     for columns with several: column (its number), names, and cells by layer and set
    meaning    controls and measures, as ``meaning`` describes them; null if none were asked for
    diagnoses  what was seen of encoders when they were run: name, symptoms (code, message)
    failures   encoder, dataset, variant (the control or measure), layer, probe, seed, kind, error
    notes      what should be here and is not
    versions   by program, all that were used
    seconds    encode, fit and score, all cells together

A cell is null where nothing was run, and has only ``failure``, the error, where all failed. Otherwise it has

    score            value, low, high (95 % interval) and sd (over seeds) of the metric
    accuracy, low, high, sd, macro_f1, log2_loss, dev_score, seeds, n
    interval         what low and high are from: wilson, or cluster (target forms, too) and how many ``clusters``
    information      bits about the label, low, high, and the entropy of the labels; null where it was not measured
    layer            the one that was best on dev, of as many as ``layers``
    dimension        of what the probe reads: of pairs, more than the vectors have
    train_n          rows that were learned from
    edge             weakest or strongest where dev chose the L2 at that end of the grid, by the first seed
    chosen, signatures, partial     the first two by seed
    above            the strongest baseline on the same rows, its value, and whether the whole interval is better
    letters, best    tie groups, by the first seed; whether it was not found to differ from the best

In place of the last three, cells of layers have ``by_dev``: whether it is the layer that dev chose.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from typing import Any, Literal

from sonde.compare import best_layer, tied
from sonde.errors import SondeError
from sonde.probes.probe import parse
from sonde.report.aggregate import aggregate
from sonde.report.grid import Column, Grid, Layers, Place, grid_of, labelled
from sonde.report.meaning import meaning
from sonde.report.scores import Metric, checked, ranges_of, score
from sonde.report.sets import described
from sonde.result import Failure, Result
from sonde.run.diagnosed import read_diagnoses
from sonde.run.folder import Run

VERSION = 2
LEAST_GRID = 3
"""Of two values, each is an end, and none says that the grid is too short."""


def summarise(run: Run, *, metric: str = "accuracy") -> dict[str, Any]:
    """Everything that is to be shown of a run, as plain data."""
    wanted, grid = checked(metric), grid_of(run)
    notes = _absent(run, grid)
    sets = [described(run, grid, place) for place in grid.sets]
    for place, said in zip(grid.sets, sets, strict=True):
        said["cells"] = [_cell(run, grid, column, place, wanted, notes) for column in grid.columns]
        said["baselines"] = [_cell(run, grid, column, place, wanted, notes) for column in grid.baselines]
        _compare(grid, said, wanted)
        if wanted == said["scored_by"] == "accuracy":  # the test is about right and wrong
            _tie(run, grid, place, said, notes)
    return {
        "version": VERSION,
        "folder": str(run.folder),
        "metric": wanted,
        "columns": labelled(grid.columns),
        "baselines": labelled(grid.baselines),
        "sets": sets,
        "transfer": [aggregate(_chosen(grid, column)) for column in grid.columns],
        "layers": [found for i, column in enumerate(grid.columns) if (found := _by_layer(grid, i, column, wanted))],
        "meaning": meaning(run, grid, [said["label"] for said in sets]),
        "diagnoses": [{"name": d.name, "symptoms": [*map(asdict, d.symptoms)]} for d in read_diagnoses(run)],
        "failures": [_failure(failure) for failure in run.failures],
        "notes": list(dict.fromkeys(notes)),
        "versions": _versions(run.results),
        "seconds": _seconds(run.results),
    }


def _chosen(grid: Grid, column: Column) -> list[Result]:
    """The first seed of what is shown of a column, set by set."""
    return [best_layer(layers)[0] for place in grid.sets if (layers := grid.layers(column, place))]


# Cells


def done(cell: Mapping[str, Any] | None) -> bool:
    """Whether a cell has a result, and not a failure or nothing."""
    return cell is not None and "score" in cell


def value_of(cell: Mapping[str, Any] | None) -> float | None:
    """The number in a cell, if it has one."""
    found: float | None = cell["score"]["value"] if cell is not None and done(cell) else None
    return found


def _cell(
    run: Run, grid: Grid, column: Column, place: Place, metric: Metric, notes: list[str]
) -> dict[str, Any] | None:
    layers = grid.layers(column, place)
    if not layers:
        failure = grid.failure(column, place)
        return {"failure": failure.error} if failure else None
    results = best_layer(layers)
    try:
        ranges = ranges_of(run, results, metric)
    except SondeError as e:
        ranges = []
        notes.append(f"An interval is missing: {e}")
    own = {"layers": len(layers), "score": asdict(score(results, metric, ranges))}
    return {**_numbers(results), **own, "above": None, "letters": None, "best": False}


def _numbers(results: Sequence[Result]) -> dict[str, Any]:
    """What the results of one cell say themselves."""
    first, accuracy = results[0], score(results, "accuracy", [r.range for r in results])
    dev = [r.dev_score for r in results if r.dev_score is not None]
    return {
        "accuracy": accuracy.value,
        "low": accuracy.low,
        "high": accuracy.high,
        "interval": "cluster" if first.cluster_interval else first.interval_kind,
        "clusters": first.clusters,
        "sd": accuracy.sd,
        "seeds": len(results),
        "n": first.n["te"],
        "macro_f1": score(results, "macro_f1").value,
        "log2_loss": score(results, "log2_loss").value,
        "dev_score": sum(dev) / len(dev) if dev else None,
        "layer": first.cell.layer,
        "information": _information(first),
        "dimension": first.dimension,
        "train_n": first.n["tr"],
        "edge": _edge(first),
        "chosen": [dict(r.chosen) for r in results],
        "partial": first.partial,
        "signatures": [r.signature for r in results],
    }


def _edge(result: Result) -> Literal["weakest", "strongest"] | None:
    """Whether dev chose the L2 at one end of its grid, so that a better one may lie beyond."""
    chosen = result.chosen.get("l2")
    if result.cell.probe is None or chosen is None:
        return None
    with suppress(SondeError):  # a probe that a later version knows
        grid = set(parse(result.cell.probe)[1].l2)
        if len(grid) >= LEAST_GRID and chosen in (min(grid), max(grid)):
            return "weakest" if chosen == min(grid) else "strongest"
    return None


def _information(result: Result) -> dict[str, float] | None:
    """Bits about the label, at the first seed; None of results that have none."""
    scores = result.scores
    if "information" not in scores:
        return None
    names = {"bits": "information", "low": "information_low", "high": "information_high", "entropy": "entropy"}
    return {name: scores[key] for name, key in names.items()}


def _compare(grid: Grid, said: Mapping[str, Any], metric: Metric) -> None:
    """Put the strongest baseline on the same rows beside each number of a set."""
    lower = metric == "log2_loss"
    for column, cell in zip(grid.columns, said["cells"], strict=True):
        beside = [
            (value, other.encoder)
            for other, found in zip(grid.baselines, said["baselines"], strict=True)
            if other.sample == column.sample and (value := value_of(found)) is not None
        ]
        if not done(cell) or not beside:
            continue
        best, name = (min if lower else max)(beside, key=lambda pair: pair[0])
        end = cell["score"]["high" if lower else "low"]
        above = None if end is None else end < best if lower else end > best
        cell["above"] = {"baseline": name, "value": best, "above": above}


def _tie(run: Run, grid: Grid, place: Place, said: Mapping[str, Any], notes: list[str]) -> None:
    """Letters for columns on the same rows: those that share one were not found to differ."""
    first = {i: best_layer(found)[0] for i, c in enumerate(grid.columns) if (found := grid.layers(c, place))}
    for sample in dict.fromkeys(grid.columns[i].sample for i in first):
        # by number, with leading zeros: names may be alike, and of encoders as good the first comes first
        rivals = {f"{i:06}": result for i, result in first.items() if grid.columns[i].sample == sample}
        if len(rivals) < 2:
            continue
        try:
            letters = tied(run, rivals)
        except SondeError as e:
            notes.append(f"The letters of {place.name} are missing: {e}")
            continue
        top = set(next(iter(letters.values())))
        for i, own in letters.items():
            said["cells"][int(i)] |= {"letters": own, "best": not top.isdisjoint(own)}


def _by_layer(grid: Grid, number: int, column: Column, metric: Metric) -> dict[str, Any] | None:
    """Every layer of an encoder on every set; None if there is only one."""
    found = [grid.layers(column, place) for place in grid.sets]
    names = list(dict.fromkeys(name for layers in found for name in layers))
    if len(names) < 2:
        return None
    return {
        "column": number,
        "names": names,
        "cells": [[_of_layer(layers, name, metric) for layers in found] for name in names],
    }


def _of_layer(layers: Layers, name: str | None, metric: Metric) -> dict[str, Any] | None:
    if name not in layers:
        return None
    results = layers[name]
    ranges = [r.range for r in results] if metric == "accuracy" else []  # to draw them for every layer takes too long
    return {
        **_numbers(results),
        "score": asdict(score(results, metric, ranges)),
        "by_dev": best_layer(layers) is results,
    }


# The run as a whole


def _absent(run: Run, grid: Grid) -> list[str]:
    """What was asked for and is neither done nor failed. A result has one name, the last that it was asked for by."""
    encoders = {column.encoder for column in (*grid.columns, *grid.baselines)} | grid.lost.keys()
    digests = {place.data for place in grid.sets}
    missing = [name for name in run.info.get("encoders", ()) if name not in encoders]
    missing += [said["name"] for said in run.info.get("datasets", ()) if said["digest"] not in digests]
    why = "not done yet, or the same as something else that is here"
    return [f"There are no results of {', '.join(missing)}: {why}."] if missing else []


def _failure(failure: Failure) -> dict[str, Any]:
    cell = failure.cell
    return {
        "encoder": cell.encoder or None, "dataset": cell.dataset or None, "variant": cell.variant, "layer": cell.layer,
        "probe": cell.probe,
        "seed": cell.seed if cell.data else None, "kind": failure.kind, "error": failure.error,
    }  # fmt: skip


def _versions(results: Iterable[Result]) -> dict[str, list[str]]:
    found: dict[str, dict[str, None]] = {}
    for r in results:
        for name, version in r.versions.items():
            found.setdefault(name, {})[version] = None
    return {name: list(versions) for name, versions in found.items()}


def _seconds(results: Sequence[Result]) -> dict[str, float]:
    """Time by stage. Layers, probes and seeds share the time in which their set was encoded: it counts once."""
    encode = {(r.cell.encoder, r.cell.data, r.cell.limit, r.seconds.get("encode", 0.0)) for r in results}
    return {
        "encode": sum(seconds for *_, seconds in encode),
        **{stage: sum(r.seconds.get(stage, 0.0) for r in results) for stage in ("fit", "score")},
    }
