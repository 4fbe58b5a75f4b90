"""Recipes: encoders that were trained with several seeds, whose scores are means over trainings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sentprobe.core.formatting import ABSENT, POINTS, NumberFormat
from sentprobe.core.table import CellText, Table, TableColumn
from sentprobe.report.types import CellSummary, Summary
from sentprobe.results.metric import metric_named

FIXED = "What is said of it is about this encoder, and not about how it was trained."


def recipe_columns(summary: Summary) -> list[int]:
    """The numbers of the columns that have several trainings."""
    return [i for i in range(len(summary.columns)) if any(cell and cell.trainings for cell in _cells(summary, i))]


def recipe_tables(summary: Summary) -> Iterator[Table]:
    """Per recipe, on each set the mean over trainings, how much they differ, and the score of each."""
    for number in recipe_columns(summary):
        cells = _cells(summary, number)
        titles = dict.fromkeys(title for cell in cells if cell is not None for title in cell.trainings)
        scores = [[None if cell is None else cell.trainings.get(title) for cell in cells] for title in titles]
        columns = [
            TableColumn(["set"], [s.label for s in summary.sets], "left"),
            TableColumn(["trainings"], [None if cell is None else _count(cell) for cell in cells]),
            TableColumn(["mean"], _with_intervals(summary, cells)),
            TableColumn(["sd"], _numbers(summary, [None if cell is None else cell.sd for cell in cells])),
            *(TableColumn([title], _numbers(summary, values)) for title, values in zip(titles, scores, strict=True)),
        ]
        by = "" if summary.by_set_metric else ", by what they are scored by"
        yield Table(columns, f"Trainings of {summary.columns[number].name}{by}")


def _with_intervals(summary: Summary, cells: Sequence[CellSummary | None]) -> list[CellText]:
    """Means over trainings with half the width of their intervals."""
    means = _numbers(summary, [None if cell is None else cell.accuracy for cell in cells])
    margins = [
        "" if cell is None else form.half_width(cell.low, cell.high)
        for form, cell in zip(_forms(summary), cells, strict=True)
    ]
    return [text._replace(margin=margin) for text, margin in zip(means, margins, strict=True)]


def recipe_notes(summary: Summary, *, tables: bool = True) -> Iterator[str]:
    """For a legend: which scores are means over trainings, what intervals and tests are about, and what they cover.

    ``tables``: whether those of trainings, controls and measures are shown.
    """
    several = recipe_columns(summary)
    if not several:
        return
    names: dict[str, list[int]] = {}
    for i in several:
        counts = sorted({_count(cell) for cell in _cells(summary, i) if cell is not None})
        names.setdefault(" to ".join(map(str, dict.fromkeys((counts[0], counts[-1])))), []).append(i)
    means = "; ".join(f"{_names(summary, columns)}: means of {count} trainings" for count, columns in names.items())
    yield (
        f"{means}, with intervals and tests about the recipe: they cover other seeds, with as many degrees of freedom "
        "as there are trainings less one."
    )
    if tables:
        yield "sd: the standard deviation of the scores of trainings."
    same = [i for i in several if all(cell is None or cell.sd == 0 for cell in _cells(summary, i))]
    if same:
        yield f"The trainings of {_names(summary, same)} have equal scores on every set: are they the same encoder?"
    if tables and any(s.variants and s.variants[i] for s in summary.sets for i in several):
        yield f"Controls and measures of {_names(summary, several)} are means over trainings, as are their intervals."
    if fixed := [i for i in range(len(summary.columns)) if i not in several]:
        yield f"One training: {_names(summary, fixed)}. {FIXED}"


def _cells(summary: Summary, number: int) -> list[CellSummary | None]:
    """A column on every set."""
    return [s.cells[number] for s in summary.sets]


def _count(cell: CellSummary) -> int:
    return max(1, len(cell.trainings))


def _numbers(summary: Summary, values: Sequence[float | None]) -> list[CellText]:
    return [CellText(ABSENT if v is None else form.number(v)) for form, v in zip(_forms(summary), values, strict=True)]


def _forms(summary: Summary) -> list[NumberFormat]:
    """How the numbers of each set are written: those that its results are scored by, whatever is shown elsewhere."""
    return [metric_named(s.scored_by).number if summary.by_set_metric else POINTS for s in summary.sets]


def _names(summary: Summary, columns: Sequence[int]) -> str:
    """Encoders without their probes and layers, of which each has as many trainings."""
    return ", ".join(dict.fromkeys(summary.columns[i].label[0] for i in columns))
