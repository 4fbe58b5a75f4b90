"""A run in two small tables: how hard each task is, over encoders and languages, and how often each encoder is best.

The standard deviation is that of the numbers at hand, as if they were all there are, as in table 1 of Ravishankar et
al. (2019); wins are counted as Krasnowska-Kieraś and Wróblewska (2019) count them. Neither says anything about
significance: how often an encoder is among the best that cannot be told apart, and above the best baseline, is counted
beside it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from sentprobe.core.table import CellText, Table, TableColumn
from sentprobe.report.cells import value_of
from sentprobe.report.languages import class_note, language_of, named_tasks, task_of, titles_of
from sentprobe.report.types import Summary
from sentprobe.results.metric import metric_named

MIN_COLUMNS = 2
"""With a single encoder there is nothing to average over, and nothing to win."""
TOLERANCE = 1e-9


class TaskSpread(NamedTuple):
    """A task over all encoders and languages."""

    task: str
    mean: float | None
    """None: the sets have different numbers of classes."""
    sd: float | None
    """As if the numbers were all there are."""
    lowest: float
    highest: float
    n: int
    languages: tuple[str, ...]


class Wins(NamedTuple):
    """How often an encoder is the best one."""

    sole: int
    shared: int
    """Best together with others, at the same number."""
    significant: int
    """Sets on which it is above the best baseline, and no other is significantly better."""
    of: int
    """Sets that it, and another, has a number for."""


def task_spreads(summary: Summary) -> list[TaskSpread]:
    """Mean and standard deviation of each task over encoders and sets, in whatever languages."""
    values: dict[tuple[str, str], list[float]] = {}
    languages: dict[tuple[str, str], dict[str, None]] = {}
    classes: dict[tuple[str, str], set[int]] = {}
    for s in summary.sets:
        scores = [value for cell in s.cells if (value := value_of(cell)) is not None]
        if scores:
            values.setdefault(task_of(s), []).extend(scores)
            languages.setdefault(task_of(s), {})[language_of(s) or "?"] = None
            classes.setdefault(task_of(s), set()).add(s.classes)
    names = named_tasks(list(values), titles_of(summary.sets))
    spreads = []
    for task, scores in values.items():
        # with different chance levels, a mean would be of numbers that do not compare
        mean, sd = (float(np.mean(scores)), float(np.std(scores))) if len(classes[task]) == 1 else (None, None)
        spreads.append(TaskSpread(names[task], mean, sd, min(scores), max(scores), len(scores), tuple(languages[task])))
    return spreads


def count_wins(table: Sequence[Mapping[int, float]], columns: int) -> list[tuple[int, int]]:
    """How often each column has the highest number of a row, alone and together with others; rows need two numbers.

    Means over seeds that differ by rounding are equal.
    """
    wins = [[0, 0] for _ in range(columns)]
    for row in table:
        if len(row) < MIN_COLUMNS:
            continue
        best = max(row.values())
        winners = [column for column, value in row.items() if abs(value - best) < TOLERANCE]
        for column in winners:
            wins[column][len(winners) > 1] += 1
    return [(sole, shared) for sole, shared in wins]


def encoder_wins(summary: Summary) -> list[Wins]:
    """Per column."""
    table = [
        {
            i: metric_named(s.scored_by).gain(value, 0.0)
            for i, cell in enumerate(s.cells)
            if (value := value_of(cell)) is not None
        }
        for s in summary.sets
    ]
    counted = count_wins(table, len(summary.columns))
    contested = [(s.cells, row) for s, row in zip(summary.sets, table, strict=True) if len(row) >= MIN_COLUMNS]
    return [
        Wins(
            *counted[i],
            sum(cell is not None and cell.best for cells, _ in contested for cell in cells[i : i + 1]),
            sum(i in row for _, row in contested),
        )
        for i in range(len(summary.columns))
    ]


def overview_tables(summary: Summary) -> Iterator[Table]:
    """Tasks over encoders and languages, and wins of encoders; nothing for a single encoder."""
    if len(summary.columns) < MIN_COLUMNS:
        return
    spreads, wins = task_spreads(summary), encoder_wins(summary)
    if not spreads:
        return
    form = metric_named(summary.metric).number

    def numbers(heading: str, values: Sequence[float | None]) -> TableColumn:
        return TableColumn([heading], values, format=lambda value: CellText(form.number(value)))

    columns = [
        TableColumn(["task"], [s.task for s in spreads], "left"),
        numbers("mean", [s.mean for s in spreads]),
        numbers("sd", [s.sd for s in spreads]),
        numbers("lowest", [s.lowest for s in spreads]),
        numbers("highest", [s.highest for s in spreads]),
        TableColumn(["n"], [str(s.n) for s in spreads]),
    ]
    if len({language for s in spreads for language in s.languages}) > 1:
        columns.append(TableColumn(["languages"], [", ".join(s.languages) for s in spreads]))
    note = class_note(summary.sets).removesuffix(".")
    title = "Tasks over encoders and languages: mean, standard deviation and range of all numbers"
    yield Table(columns, f"{title}. {note}" if note else title)
    columns = [
        TableColumn(["encoder"], [column.name for column in summary.columns], "left"),
        TableColumn(["wins"], [str(w.sole) for w in wins]),
        TableColumn(["shared"], [str(w.shared) for w in wins]),
    ]
    title = "Wins: on how many sets an encoder has the best number"
    if summary.by_set_metric:
        columns.append(TableColumn(["among the best"], [str(w.significant) for w in wins]))
        title += "; and is above the best baseline with no other significantly better"
    columns.append(TableColumn(["of"], [str(w.of) if w.of else None for w in wins]))
    yield Table(columns, title)
