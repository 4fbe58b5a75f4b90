"""Word translation by the frequency of the source word, and along the way of an alignment, of each column by its first
seed."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sentprobe.errors import SentProbeError
from sentprobe.report.bins import by_rank, tally
from sentprobe.report.grid import ColumnKey, Grid, grid_of
from sentprobe.report.scores import accuracy_intervals
from sentprobe.report.types import FrequencyCurve, MapPoint, Summary, WordSpaces
from sentprobe.result import Result
from sentprobe.run.folder import Run

TASK = "word_translation"
STAGES = ("epoch", "round", "refine")
"""What maps along the way are named by, in the order in which they are made."""
_MAP = re.compile(rf"(.*)\?(?:seed=(\d+)&)?({'|'.join(STAGES)})=(\d+)", re.DOTALL)


def word_spaces(run: Run, summary: Summary) -> tuple[WordSpaces | None, tuple[str, ...]]:
    """Curves of the sets that are translations of words, and notes on what cannot be read; None if there are none."""
    grid = grid_of(run)
    numbers = [i for i, s in enumerate(summary.sets) if s.task == TASK]
    found = [
        (i, j, layers[None][0])
        for i in numbers
        for j, column in enumerate(grid.columns)
        if (layers := grid.layers(column, grid.sets[i])) and column.probe is not None and None in layers
    ]
    if not found:
        return None, ()
    notes: dict[str, None] = {}
    curves = []
    for i, j, result in found:
        try:
            curves.append(_by_frequency(run, result, i, j))
        except SentProbeError as e:
            notes[f"Words by frequency are missing of {result.cell.encoder} on {summary.sets[i].label}: {e}"] = None
    maps = (point for i, j, result in found for point in _along(grid, result, i, j))
    return WordSpaces(frequency=tuple(curves), maps=tuple(maps)), tuple(notes)


def _by_frequency(run: Run, result: Result, i: int, j: int) -> FrequencyCurve:
    arrays = run.predictions(result, "predicted", "truth", "frequency")
    ranks = by_rank((arrays["frequency"].astype(int) + 1).tolist())
    return FrequencyCurve(set=i, column=j, bands=tally(ranks, arrays["predicted"] == arrays["truth"]))


def _along(grid: Grid, result: Result, i: int, j: int) -> Iterator[MapPoint]:
    """The point of a column that is a map along the way."""
    column = grid.columns[j]
    if (match := _MAP.fullmatch(column.encoder)) is None:
        return
    low, high = next(iter(accuracy_intervals([result])), (None, None))
    yield MapPoint(
        set=i, column=j, alignment=match[1], seed=None if match[2] is None else int(match[2]), stage=match[3],
        number=int(match[4]), criterion=result.scores.get("criterion"), value=result.score, low=low, high=high,
        chosen=_is_chosen(grid, column, match[1]),
    )  # fmt: skip


def _is_chosen(grid: Grid, column: ColumnKey, alignment: str) -> bool:
    """Whether the alignment itself, without the name of a map, is the same map."""
    return column.identity is not None and any(
        other.encoder == alignment and other.identity == column.identity for other in grid.columns
    )
