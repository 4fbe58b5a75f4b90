"""The numbers of one cell: the results of its seeds as a ``Cell``."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Literal

from sentprobe.errors import SentProbeError
from sentprobe.probes import parse
from sentprobe.report.grid import ColumnKey, Grid, Layers, SetKey
from sentprobe.report.scores import Metric, accuracy_intervals, intervals_of, over_seeds, score
from sentprobe.report.types import BaselineComparison, Cell, Information, Score
from sentprobe.results.result import Result
from sentprobe.results.run import Run
from sentprobe.results.sides import best_layer

MIN_GRID_SIZE = 3
"""In a grid of two values each is an end, and neither shows that the grid is too short."""


def value_of(cell: Cell | None) -> float | None:
    """The number in a cell, if it has one."""
    return None if cell is None else cell.score.value


def make_cell(run: Run, grid: Grid, column: ColumnKey, place: SetKey, metric: Metric, notes: list[str]) -> Cell | None:
    """The layer that dev chose, over all seeds; None without results. Missing intervals are added to ``notes``."""
    layers = grid.layers(column, place)
    if not layers:
        return None
    results = best_layer(layers)
    shown = _with_interval(run, results, metric, notes)
    calibrated = _with_interval(run, results, "log2_loss_calibrated", notes) if metric == "log2_loss" else None
    return _cell(results, shown, calibrated=calibrated, layers=len(layers))


def make_layer_cell(layers: Layers, name: str | None, metric: Metric, shown: Cell | None) -> Cell | None:
    """One layer on a set; ``shown`` is the cell of the layer that dev chose, which alone has a baseline comparison."""
    if name not in layers:
        return None
    results = layers[name]
    # intervals of the loss are left out: to resample them for every layer takes too long
    intervals = accuracy_intervals(results) if metric == "accuracy" else []
    by_dev = best_layer(layers) is results
    against = shown.against if by_dev and shown is not None else None
    return _cell(results, score(results, metric, intervals), against=against, by_dev=by_dev)


def _with_interval(run: Run, results: Sequence[Result], metric: Metric, notes: list[str]) -> Score:
    """A metric over seeds, with its interval if that can be computed."""
    try:
        intervals = intervals_of(run, results, metric)
    except SentProbeError as e:
        intervals = []
        notes.append(f"An interval is missing: {e}")
    return score(results, metric, intervals)


def _cell(
    results: Sequence[Result],
    shown: Score,
    *,
    calibrated: Score | None = None,
    layers: int = 1,
    against: BaselineComparison | None = None,
    by_dev: bool = True,
) -> Cell:
    first, accuracy = results[0], score(results, "accuracy", accuracy_intervals(results))
    probe = score(results, "accuracy", [] if first.constant else [r.range for r in results])
    assert accuracy.value is not None  # every result has a score
    return Cell(
        score=shown,
        calibrated=calibrated,
        accuracy=accuracy.value,
        low=accuracy.low,
        high=accuracy.high,
        interval="cluster" if first.cluster_interval else first.interval_kind,
        about="encoder" if all(r.encoder_interval for r in results) else "probe",
        probe_low=probe.low,
        probe_high=probe.high,
        training_sd=first.training_sd,
        clusters=first.clusters,
        sd=accuracy.sd,
        seeds=len(results),
        n=first.n["te"],
        macro_f1=score(results, "macro_f1").value,
        log2_loss=score(results, "log2_loss").value,
        log2_loss_calibrated=score(results, "log2_loss_calibrated").value,
        temperature=_mean(r.scores.get("temperature") for r in results),
        dev_score=_mean(r.dev_score for r in results),
        layer=first.cell.layer,
        layers=layers,
        information=_information(results),
        dimension=first.dimension,
        train_n=first.n["tr"],
        edge=_edge(first),
        chosen=tuple(dict(r.chosen) for r in results),
        details={} if first.trained_on else {**first.baselines, **first.scores},
        partial=first.partial,
        signatures=tuple(r.signature for r in results),
        against=against,
        by_dev=by_dev,
    )


def _mean(values: Iterable[float | None]) -> float | None:
    """The mean of the values that are there."""
    found = [value for value in values if value is not None]
    return sum(found) / len(found) if found else None


def _edge(result: Result) -> Literal["weakest", "strongest"] | None:
    """Whether dev chose the L2 at one end of its grid, so that a better one may lie beyond."""
    chosen = result.chosen.get("l2")
    if result.cell.probe is None or chosen is None:
        return None
    with suppress(SentProbeError):  # a probe that only a later version knows
        grid = set(parse(result.cell.probe)[1].l2)
        if len(grid) >= MIN_GRID_SIZE and chosen in (min(grid), max(grid)):
            return "weakest" if chosen == min(grid) else "strongest"
    return None


def _information(results: Sequence[Result]) -> Information | None:
    """Bits about the label over all seeds; None if a result has none."""
    if any("information" not in r.scores for r in results):
        return None
    intervals = [(r.scores["information_low"], r.scores["information_high"]) for r in results]
    bits = over_seeds([r.scores["information"] for r in results], intervals, lower=-math.inf, upper=math.inf)
    assert bits.value is not None
    return Information(bits=bits.value, low=bits.low, high=bits.high, entropy=results[0].scores["entropy"])
