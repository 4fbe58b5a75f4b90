"""What the report of a run of `sentprobe pairs` adds: other similarities and ties, the worst rows, what is used."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from sentprobe.core.formatting import POINTS
from sentprobe.core.table import CellText, Table, TableColumn, cell_text
from sentprobe.errors import SentProbeError
from sentprobe.report.error_analysis import by_length, shown_row, tally
from sentprobe.report.extension import SummaryExtension
from sentprobe.report.result_grid import Grid, SetKey
from sentprobe.report.types import CellSummary, ColumnErrors, SetErrors, SetSummary, Summary
from sentprobe.report.used import TRIPLETS, used_tables
from sentprobe.results.metric import metric_named
from sentprobe.results.run import Run
from sentprobe.results.run_kinds.pairs import SIMILARITIES
from sentprobe.results.sides import best_layer

MAX_WORST = 20
"""Rows that are shown of a column."""
DIFFERENT = 0.0005
"""Shares that differ by less are printed as the same."""
DETAILS_TITLE = "Triplets: the share of rows whose positive is nearer by other similarities, and ties"


def tables(summary: Summary) -> Iterator[Table]:
    """What is contained and used; and what other similarities say, where that is something else."""
    yield from used_tables(summary)
    yield from detail_tables(summary)


def detail_tables(summary: Summary) -> Iterator[Table]:
    """Rows are columns on sets of triplets where there is anything to add: another share, or ties."""
    if not summary.by_set_metric:
        return
    rows = [
        (s.label, column.name, cell)
        for s in summary.sets
        if s.task == TRIPLETS
        for column, cell in zip(summary.columns, s.cells, strict=True)
        if cell is not None and _adds(cell)
    ]
    if not rows:
        return
    cells = [cell for *_, cell in rows]
    shares = [name for name in SIMILARITIES if any(name in cell.details for cell in cells)]
    yield Table(
        [
            TableColumn(["set"], [label for label, *_ in rows], "left"),
            TableColumn(["encoder"], [name for _, name, _ in rows], "left"),
            *(TableColumn([name], [cell.details.get(name) for cell in cells], format=_points) for name in shares),
            TableColumn(["ties"], [f"{cell.details.get('ties', 0):,.0f} of {cell.n:,}" for cell in cells]),
        ],
        DETAILS_TITLE,
    )


def _adds(cell: CellSummary) -> bool:
    shares = [cell.details[name] for name in SIMILARITIES if name in cell.details]
    return bool(cell.details.get("ties")) or any(abs(share - cell.accuracy) > DIFFERENT for share in shares)


def _points(value: float | None) -> CellText:
    return cell_text(None if value is None else POINTS.number(value))


def worst_rows(run: Run, grid: Grid, set_key: SetKey, s: SetSummary, notes: dict[str, None]) -> SetErrors | None:
    """The rows of triplets whose contrast is nearer than the positive, those with the largest difference first."""
    if metric_named(s.scored_by).predicts != "margins":
        return None
    columns: list[ColumnErrors | None] = [None] * len(grid.columns)
    for i, column in enumerate(grid.columns):
        if not (layers := grid.layers(column, set_key)):
            continue
        result = best_layer(layers)[0]
        try:
            margin, rows = run.predictions(result, "predicted")["predicted"], run.rows(result)
        except SentProbeError as e:
            notes[f"The worst rows of {result.cell.encoder} on {s.label} are missing: {e}"] = None
            continue
        order = np.argsort(margin, kind="stable")[: min(MAX_WORST, int((margin < 0).sum()))]
        texts = [dict(row.extra) for row in rows]
        columns[i] = ColumnErrors(
            confusion=None,
            pairs=(),
            length=tally(by_length(rows, ()), margin > 0),
            target=None,
            errors=tuple(
                replace(
                    shown_row(rows[j], ()),
                    label=texts[j]["positive"],
                    predicted=texts[j]["contrast"],
                    confidence=round(float(-margin[j]), 4),
                )
                for j in order.tolist()
            ),
            label_counts=None,
        )
    return SetErrors(labels=(), columns=tuple(columns), doubtful=(), easiest=()) if any(columns) else None


summary_extension = SummaryExtension(
    name="pairs",
    summary="What vectors contain beside what similarity uses, other similarities, and the worst triplets.",
    analyse=lambda run, summary: summary,
    tables=tables,
    set_errors=worst_rows,
    order=100,
)
