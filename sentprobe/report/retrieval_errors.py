"""What was retrieved wrongly: words and sentences with the wrong neighbour, those with the highest cosine first."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sentprobe.compare import best_layer
from sentprobe.errors import SentProbeError
from sentprobe.report.bins import by_length, tally
from sentprobe.report.grid import Grid, SetKey
from sentprobe.report.shown_rows import shown_row
from sentprobe.report.types import ColumnErrors, SetErrors, SetSummary
from sentprobe.run.folder import Run

MAX_ERRORS = 20
"""Errors that are shown of a column."""


def of_words(run: Run, grid: Grid, place: SetKey, s: SetSummary, notes: dict[str, None]) -> SetErrors | None:
    """The errors of each column on a set; None if none can be read."""
    columns: list[ColumnErrors | None] = [None] * len(grid.columns)
    for i, column in enumerate(grid.columns):
        if not (layers := grid.layers(column, place)):
            continue
        result = best_layer(layers)[0]
        try:
            found = run.predictions(result, "predicted", "truth", "answer", "cosine")
            rows = run.rows(result)
        except SentProbeError as e:
            notes[f"The errors of {result.cell.encoder} on {s.label} are missing: {e}"] = None
            continue
        right = found["predicted"] == found["truth"]
        wrong = np.flatnonzero(~right)
        order = wrong[np.argsort(-found["cosine"][wrong], kind="stable")][:MAX_ERRORS]
        columns[i] = ColumnErrors(
            confusion=None,
            pairs=(),
            length=tally(by_length(rows, ()), right),
            target=None,
            errors=tuple(
                replace(
                    shown_row(rows[j], ()),
                    label=rows[j].label,
                    predicted=str(found["answer"][j]),
                    confidence=round(float(found["cosine"][j]), 4),
                )
                for j in order.tolist()
            ),
            label_counts=None,
        )
    return SetErrors(labels=(), columns=tuple(columns), doubtful=(), easiest=()) if any(columns) else None
