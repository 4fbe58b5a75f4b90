"""A run as plain data, from which tables, texts and pages are made.

    version    of this description: 3
    folder     of the run, as it was named
    metric     what ``score`` in a cell is about: accuracy, macro_f1, or log2_loss and log2_loss_calibrated (in bits;
               lower is better)
    columns    encoder, probe, limit, device, sonde, identity (its digest), and label: the encoder, and what sets the
               column apart from others
    baselines  the same of the columns that each number is shown beside
    sets       name, label, data (its digest), task, version, language, classes, n (rows by split), scored_by,
               synthetic, question, corpus, source (where it came from, in a few words), inputs (what the probe is given
               besides the sentence), audit (how many findings of each severity, and these; null: none was made),
               printed_for (this set, the whole of which it is a part, or another; null: nothing was), human and
               printed (what papers printed), letters_about (what letters are about, as in ``sonde.compare``; absent
               where there are none), cells and baselines (a cell per column)
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
    calibrated       the same of log2_loss_calibrated, to stand beside raw bits: of the metric log2_loss only
    accuracy, low, high, sd, macro_f1, log2_loss, log2_loss_calibrated, dev_score, seeds, n
    interval         what low and high are from: wilson, or cluster (target forms, too) and how many ``clusters``; or
                     constant, of an answer that is the same for every row: its score is a fact of the set, and low and
                     high are null
    about            what low and high are about: the encoder, when training rows could have been others too; or the
                     trained probe, whose own interval is always probe_low, probe_high
    training_sd      standard deviation that training and dev rows give the accuracy, at the first seed; or null
    information      bits about the label, low, high, and the entropy of the labels; null where it was not measured
    temperature      what the probe's log-probabilities are divided by for calibrated bits, by dev
    layer            the one that was best on dev, of as many as ``layers``
    dimension        of what the probe reads: of pairs, more than the vectors have
    train_n          rows that were learned from
    edge             weakest or strongest where dev chose the L2 at that end of the grid, by the first seed
    chosen, signatures, partial     the first two by seed
    against          the best baseline on the same rows, its value, the verdict (above, not_significant, below or
                     untested, as ``sonde.report.verdict`` explains), p and the number of tests it is adjusted for
    letters          of the set: encoders that share one are not significantly different
    best             whether it is shown in bold: not significantly different from the best of the set, and above

In place of the last two, cells of layers have ``by_dev``: whether it is the layer that dev chose, which alone is
compared with the baselines.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from typing import Any, Literal

from sonde.compare import best_layer, tie_letters
from sonde.errors import SondeError
from sonde.probes import parse
from sonde.report.aggregate import aggregate
from sonde.report.grid import ColumnKey, Grid, Layers, SetKey, grid_of, label_columns
from sonde.report.scores import Metric, accuracy_intervals, check_metric, intervals_of, over_seeds, score
from sonde.report.sets import describe_set
from sonde.report.variant_results import variant_results
from sonde.report.verdict import Scored, compare_with_baseline, verdict_of
from sonde.result import Failure, Result
from sonde.run.diagnoses import read_diagnoses
from sonde.run.folder import Run

VERSION = 3
MIN_GRID_SIZE = 3
"""Of two values, each is an end, and none says that the grid is too short."""


def summarise(run: Run, *, metric: str = "accuracy", published: bool = False) -> dict[str, Any]:
    """Everything that is to be shown of a run, as plain data.

    ``published``: also what papers printed for other sets of the same task, which is no yardstick for these.
    """
    wanted, grid = check_metric(metric), grid_of(run)
    notes = [*run.damaged, *_absent(run, grid)]
    sets = [describe_set(run, grid, place, published=published) for place in grid.sets]
    for place, said in zip(grid.sets, sets, strict=True):
        said["cells"] = [_cell(run, grid, column, place, wanted, notes) for column in grid.columns]
        said["baselines"] = [_cell(run, grid, column, place, wanted, notes) for column in grid.baselines]
        _judge(run, grid, place, said, wanted, notes)
        if wanted == said["scored_by"] == "accuracy":  # the test is about right and wrong
            _tie(run, grid, place, said, notes)
    return {
        "version": VERSION,
        "folder": str(run.folder),
        "metric": wanted,
        "columns": label_columns(grid.columns),
        "baselines": label_columns(grid.baselines),
        "sets": sets,
        "transfer": [aggregate(_chosen(grid, column)) for column in grid.columns],
        "layers": [
            found for i, column in enumerate(grid.columns) if (found := _by_layer(grid, i, column, wanted, sets))
        ],
        "meaning": variant_results(run, grid, [said["label"] for said in sets]),
        "diagnoses": [{"name": d.name, "symptoms": [*map(asdict, d.symptoms)]} for d in read_diagnoses(run)],
        "failures": [_failure(failure) for failure in run.failures],
        "notes": list(dict.fromkeys(notes)),
        "versions": _versions(run.results),
        "seconds": _seconds(run.results),
    }


def _chosen(grid: Grid, column: ColumnKey) -> list[Result]:
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
    run: Run, grid: Grid, column: ColumnKey, place: SetKey, metric: Metric, notes: list[str]
) -> dict[str, Any] | None:
    layers = grid.layers(column, place)
    if not layers:
        failure = grid.failure(column, place)
        return {"failure": failure.error} if failure else None
    results = best_layer(layers)
    own: dict[str, Any] = {"layers": len(layers), "score": _ranged(run, results, metric, notes)}
    if metric == "log2_loss":
        own["calibrated"] = _ranged(run, results, "log2_loss_calibrated", notes)
    return {**_numbers(results), **own, "against": None, "letters": None, "best": False}


def _ranged(run: Run, results: Sequence[Result], metric: Metric, notes: list[str]) -> dict[str, Any]:
    """A metric over seeds, with its interval if that can be had."""
    try:
        intervals = intervals_of(run, results, metric)
    except SondeError as e:
        intervals = []
        notes.append(f"An interval is missing: {e}")
    return asdict(score(results, metric, intervals))


def _numbers(results: Sequence[Result]) -> dict[str, Any]:
    """What the results of one cell say themselves."""
    first, accuracy = results[0], score(results, "accuracy", accuracy_intervals(results))
    probe = score(results, "accuracy", [] if first.constant else [r.range for r in results])
    return {
        "accuracy": accuracy.value,
        "low": accuracy.low,
        "high": accuracy.high,
        "interval": "cluster" if first.cluster_interval else first.interval_kind,
        "about": "encoder" if all(r.encoder_interval for r in results) else "probe",
        "probe_low": probe.low,
        "probe_high": probe.high,
        "training_sd": first.training_sd,
        "clusters": first.clusters,
        "sd": accuracy.sd,
        "seeds": len(results),
        "n": first.n["te"],
        "macro_f1": score(results, "macro_f1").value,
        "log2_loss": score(results, "log2_loss").value,
        "log2_loss_calibrated": score(results, "log2_loss_calibrated").value,
        "temperature": _mean(r.scores.get("temperature") for r in results),
        "dev_score": _mean(r.dev_score for r in results),
        "layer": first.cell.layer,
        "information": _information(results),
        "dimension": first.dimension,
        "train_n": first.n["tr"],
        "edge": _edge(first),
        "chosen": [dict(r.chosen) for r in results],
        "partial": first.partial,
        "signatures": [r.signature for r in results],
    }


def _mean(values: Iterable[float | None]) -> float | None:
    """Of those that are there."""
    found = [value for value in values if value is not None]
    return sum(found) / len(found) if found else None


def _edge(result: Result) -> Literal["weakest", "strongest"] | None:
    """Whether dev chose the L2 at one end of its grid, so that a better one may lie beyond."""
    chosen = result.chosen.get("l2")
    if result.cell.probe is None or chosen is None:
        return None
    with suppress(SondeError):  # a probe that a later version knows
        grid = set(parse(result.cell.probe)[1].l2)
        if len(grid) >= MIN_GRID_SIZE and chosen in (min(grid), max(grid)):
            return "weakest" if chosen == min(grid) else "strongest"
    return None


def _information(results: Sequence[Result]) -> dict[str, float | None] | None:
    """Bits about the label over all seeds; None of results that have none."""
    if any("information" not in r.scores for r in results):
        return None
    intervals = [(r.scores["information_low"], r.scores["information_high"]) for r in results]
    said = over_seeds([r.scores["information"] for r in results], intervals, lower=-math.inf, upper=math.inf)
    return {"bits": said.value, "low": said.low, "high": said.high, "entropy": results[0].scores["entropy"]}


def _judge(run: Run, grid: Grid, place: SetKey, said: Mapping[str, Any], metric: Metric, notes: list[str]) -> None:
    """Put the best baseline on the same rows beside each number of a set."""

    def scored(columns: Sequence[ColumnKey], cells: Sequence[dict[str, Any] | None]) -> list[tuple[int, Scored]]:
        return [
            (i, Scored(column.encoder, value, best_layer(grid.layers(column, place))))
            for i, (column, cell) in enumerate(zip(columns, cells, strict=True))
            if (value := value_of(cell)) is not None
        ]

    numbers, baselines = scored(grid.columns, said["cells"]), scored(grid.baselines, said["baselines"])
    for sample in dict.fromkeys(column.sample for column in grid.columns):
        here = [(i, each) for i, each in numbers if grid.columns[i].sample == sample]
        beside = [each for i, each in baselines if grid.baselines[i].sample == sample]
        found = compare_with_baseline(run, [each for _, each in here], beside, metric, notes)
        for (i, _), against in zip(here, found, strict=True):
            said["cells"][i]["against"] = against and asdict(against)


def _tie(run: Run, grid: Grid, place: SetKey, said: dict[str, Any], notes: list[str]) -> None:
    """Letters for columns on the same rows: those that share one do not differ significantly."""
    shown = {i: best_layer(found) for i, c in enumerate(grid.columns) if (found := grid.layers(c, place))}
    for sample in dict.fromkeys(grid.columns[i].sample for i in shown):
        # by number, with leading zeros: names may be alike, and of encoders as good the first comes first
        rivals = {f"{i:06}": results for i, results in shown.items() if grid.columns[i].sample == sample}
        if len(rivals) < 2:
            continue
        try:
            letters, about = tie_letters(run, rivals)
        except SondeError as e:
            notes.append(f"The letters of {place.name} are missing: {e}")
            continue
        said["letters_about"] = about
        top = set(next(iter(letters.values())))
        for i, own in letters.items():
            cell = said["cells"][int(i)]
            cell |= {"letters": own, "best": verdict_of(cell) == "above" and not top.isdisjoint(own)}


def _by_layer(
    grid: Grid, number: int, column: ColumnKey, metric: Metric, sets: Sequence[Mapping[str, Any]]
) -> dict[str, Any] | None:
    """Every layer of an encoder on every set; None if there is only one."""
    found = [grid.layers(column, place) for place in grid.sets]
    names = list(dict.fromkeys(name for layers in found for name in layers))
    if len(names) < 2:
        return None
    return {
        "column": number,
        "names": names,
        "cells": [
            [_of_layer(layers, name, metric, said["cells"][number]) for layers, said in zip(found, sets, strict=True)]
            for name in names
        ],
    }


def _of_layer(
    layers: Layers, name: str | None, metric: Metric, shown: Mapping[str, Any] | None
) -> dict[str, Any] | None:
    """A layer on a set, of which the table of sets shows the one that dev chose."""
    if name not in layers:
        return None
    results = layers[name]
    intervals = (
        accuracy_intervals(results) if metric == "accuracy" else []
    )  # to draw them for every layer takes too long
    by_dev = best_layer(layers) is results
    return {
        **_numbers(results),
        "score": asdict(score(results, metric, intervals)),
        "against": shown["against"] if by_dev and shown else None,
        "by_dev": by_dev,
    }


# The run as a whole


def _absent(run: Run, grid: Grid) -> list[str]:
    """What the last command asked for and is neither done nor failed.

    A result has one name, the last that it was asked for by.
    """
    encoders = {column.encoder for column in (*grid.columns, *grid.baselines)} | grid.failed_encoders.keys()
    digests = {place.data for place in grid.sets}
    asked: Mapping[str, Any] = run.info.get("asked", {})  # by the last command
    datasets = run.info.get("datasets", ())
    missing = [name for name in asked.get("encoders", run.info.get("encoders", ())) if name not in encoders]
    wanted = asked.get("datasets", [said["digest"] for said in datasets])
    missing += [said["name"] for said in datasets if said["digest"] in wanted and said["digest"] not in digests]
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
