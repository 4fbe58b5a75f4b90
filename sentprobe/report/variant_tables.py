"""Controls and measures as tables, to be read together with the scores.

The columns come from the objects: each control and measure has ``columns`` that say what is printed of its results.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from sentprobe.core.formatting import ABSENT, BITS, PLAIN, POINTS
from sentprobe.core.table import CellText, Table, TableColumn
from sentprobe.report.attempt import attempt
from sentprobe.report.types import Cell, Summary
from sentprobe.report.variant_results import part_of, variant_order
from sentprobe.run.measure import Measure
from sentprobe.run.variant import VariantColumn, VariantSummary

ERASED_NOTE = "after a property (column) is erased"

Variants = Sequence[VariantSummary]
"""Those of one set and column."""


def variant_tables(summary: Summary) -> Iterator[Table]:
    """Per encoder, a table of controls, one of measures and one of erasures, in this order."""
    for i in range(len(summary.columns)):
        yield from column_tables(summary, i)


def column_tables(summary: Summary, number: int) -> Iterator[Table]:
    """The tables of one column."""
    name = summary.columns[number].name
    rows = [s.variants[number] if s.variants else () for s in summary.sets]
    cells = [s.cells[number] for s in summary.sets]
    names = TableColumn(["set"], [s.label for s in summary.sets], "left")
    scores = TableColumn(["score"], cells, format=_accuracy)
    measures = _columns(rows, lambda v: v.kind == "measure" and not _erases(v))
    for title, columns in (
        (f"Controls of {name}", _columns(rows, lambda v: v.kind == "control")),
        (f"Measures of {name}", [*_information(cells), *measures] if measures else []),
        (f"Erasure of {name}: accuracy on a set (row) {ERASED_NOTE}", _columns(rows, _erases)),
    ):
        if columns:
            yield Table([names, scores, *columns], title)


def interpretations(summary: Summary) -> list[str]:
    """How to read each control and measure, in a sentence."""
    return [f"{name}: {text}" for name, text in summary.interpretations.items()]


def _erases(variant: VariantSummary) -> bool:
    """Whether it is of a measure with a result for every set whose property is erased."""
    part = part_of(variant.of)
    return isinstance(part, Measure) and part.erases


def _columns(rows: Sequence[Variants], belongs: Callable[[VariantSummary], bool]) -> list[TableColumn]:
    """The columns of those variants that belong to a table, without empty ones."""
    found = []
    by_name = [{v.name: v for v in row if belongs(v)} for row in rows]
    there = dict.fromkeys((v.name, v.of) for row in by_name for v in row.values())
    for name, of in sorted(there, key=lambda pair: variant_order(pair[1])):
        part = part_of(of)
        for column in (GENERIC,) if part is None else part.columns:
            heading = [line.replace("{name}", name) for line in column.heading]
            what = f"The column {' '.join(heading)!r}"
            texts = [attempt(what, partial(column.text, row[name])) if name in row else None for row in by_name]
            if any(texts):
                found.append(TableColumn(heading, texts))
    return found


def _generic(variant: VariantSummary) -> CellText:
    """The number as it was recorded: without its object, nothing is known about its unit."""
    return CellText(PLAIN.number(variant.value), PLAIN.half_width(variant.low, variant.high))


GENERIC = VariantColumn(("{name}",), _generic)
"""The column of a control or measure whose package is not installed."""


def _accuracy(cell: Cell | None) -> CellText:
    if cell is None:
        return CellText(ABSENT)
    return CellText(POINTS.number(cell.accuracy), POINTS.half_width(cell.low, cell.high))


def _information(cells: Sequence[Cell | None]) -> Iterator[TableColumn]:
    """Usable information of the plain probe, which measures are read with."""
    found = [cell.information if cell is not None else None for cell in cells]
    if any(found):
        texts = [
            CellText(ABSENT) if each is None else CellText(BITS.number(each.bits), BITS.half_width(each.low, each.high))
            for each in found
        ]
        yield TableColumn(["information", "bits"], texts)
