"""What the report of a run of `sentprobe words` adds.

Word translation by the frequency of the source word, and along the way of an alignment, of each column by its first
seed; tables of what scores are made of; and what was retrieved wrongly.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from sentprobe.errors import SentProbeError
from sentprobe.lab.extensions._word_tables import word_tables
from sentprobe.report.cells import accuracy_intervals
from sentprobe.report.error_analysis import by_length, by_rank, shown_row, tally
from sentprobe.report.extension import SummaryExtension
from sentprobe.report.result_grid import ColumnKey, Grid, SetKey, grid_of
from sentprobe.report.types import ColumnErrors, FrequencyCurve, MapPoint, SetErrors, SetSummary, Summary, WordSpaces
from sentprobe.results.metric import metric_named
from sentprobe.results.result import Result
from sentprobe.results.run import Run
from sentprobe.results.sides import best_layer

TASK = "word_translation"
STAGES = ("epoch", "round", "refine")
"""What maps along the way are named by, in the order in which they are made."""
MAX_ERRORS = 20
"""Errors that are shown of a column."""
_MAP = re.compile(rf"(.*)\?(?:seed=(\d+)&)?({'|'.join(STAGES)})=(\d+)", re.DOTALL)


def analyse(run: Run, summary: Summary) -> Summary:
    """Add curves of the sets that are translations of words, and notes on what cannot be read."""
    grid = grid_of(run)
    numbers = [i for i, s in enumerate(summary.sets) if s.task == TASK]
    results = [
        (i, j, layers[None][0])
        for i in numbers
        for j, column in enumerate(grid.columns)
        if (layers := grid.layers(column, grid.sets[i])) and column.probe is not None and None in layers
    ]
    if not results:
        return summary
    notes = dict.fromkeys(summary.notes)
    curves = []
    for i, j, result in results:
        try:
            curves.append(_by_frequency(run, result, i, j))
        except SentProbeError as e:
            notes[f"Words by frequency are missing of {result.cell.encoder} on {summary.sets[i].label}: {e}"] = None
    maps = (point for i, j, result in results for point in _map_points(grid, result, i, j))
    return replace(summary, word_spaces=WordSpaces(frequency=tuple(curves), maps=tuple(maps)), notes=tuple(notes))


def _by_frequency(run: Run, result: Result, i: int, j: int) -> FrequencyCurve:
    arrays = run.predictions(result, "predicted", "truth", "frequency")
    ranks = by_rank((arrays["frequency"].astype(int) + 1).tolist())
    return FrequencyCurve(set=i, column=j, bands=tally(ranks, arrays["predicted"] == arrays["truth"]))


def _map_points(grid: Grid, result: Result, i: int, j: int) -> Iterator[MapPoint]:
    """The point of a column that is a map along the way."""
    column = grid.columns[j]
    if (match := _MAP.fullmatch(column.encoder)) is None:
        return
    low, high = next(iter(accuracy_intervals([result])), (None, None))
    yield MapPoint(
        set=i,
        column=j,
        alignment=match[1],
        seed=None if match[2] is None else int(match[2]),
        stage=match[3],
        number=int(match[4]),
        criterion=result.scores.get("criterion"),
        value=result.score,
        low=low,
        high=high,
        chosen=_is_chosen(grid, column, match[1]),
    )


def _is_chosen(grid: Grid, column: ColumnKey, alignment: str) -> bool:
    """Whether the alignment itself, without the name of a map, is the same map."""
    return column.identity is not None and any(
        candidate.encoder == alignment and candidate.identity == column.identity for candidate in grid.columns
    )


def retrieval_errors(run: Run, grid: Grid, set_key: SetKey, s: SetSummary, notes: dict[str, None]) -> SetErrors | None:
    """What each column retrieved wrongly on a set, the highest cosine first; None if nothing is retrieved, or read."""
    if metric_named(s.scored_by).predicts != "neighbours":
        return None
    columns: list[ColumnErrors | None] = [None] * len(grid.columns)
    for i, column in enumerate(grid.columns):
        if not (layers := grid.layers(column, set_key)):
            continue
        result = best_layer(layers)[0]
        try:
            arrays = run.predictions(result, "predicted", "truth", "answer", "cosine")
            rows = run.rows(result)
        except SentProbeError as e:
            notes[f"The errors of {result.cell.encoder} on {s.label} are missing: {e}"] = None
            continue
        right = arrays["predicted"] == arrays["truth"]
        wrong = np.flatnonzero(~right)
        order = wrong[np.argsort(-arrays["cosine"][wrong], kind="stable")][:MAX_ERRORS]
        columns[i] = ColumnErrors(
            confusion=None,
            pairs=(),
            length=tally(by_length(rows, ()), right),
            target=None,
            errors=tuple(
                replace(
                    shown_row(rows[j], ()),
                    label=rows[j].label,
                    predicted=str(arrays["answer"][j]),
                    confidence=round(float(arrays["cosine"][j]), 4),
                )
                for j in order.tolist()
            ),
            label_counts=None,
        )
    return SetErrors(labels=(), columns=tuple(columns), doubtful=(), easiest=()) if any(columns) else None


summary_extension = SummaryExtension(
    name="words",
    summary="Word translation by frequency and along alignments, what scores are made of, and wrong translations.",
    analyse=analyse,
    tables=word_tables,
    set_errors=retrieval_errors,
)
