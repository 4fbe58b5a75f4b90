"""What a score of words is made of, as tables: precision at 5 and 10, by frequency; other scores; what was left out."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from sentprobe.core.formatting import POINTS
from sentprobe.core.table import CellText, Table, TableColumn, cell_text
from sentprobe.lab.run_kinds.words import RETRIEVALS
from sentprobe.report.types import CellSummary, Column, SetSummary, Summary
from sentprobe.results.metric import metric_named

if TYPE_CHECKING:
    from sentprobe.lab.words.evaluation import DetailNumber, WordEvaluation

_BAND = re.compile(r"rank (\d+)-(\d*)")


def word_tables(summary: Summary) -> Iterator[Table]:
    """A table for each set of words: rows are systems."""
    if not summary.by_set_metric:
        return
    if not any(column.probe is None or column.probe in RETRIEVALS for column in summary.columns):
        return
    from sentprobe.lab.words import WORD_EVALUATIONS  # not for runs of probes: it loads the code of word spaces

    evaluations = {part.task: part for part in WORD_EVALUATIONS.parts().values()}
    for s in summary.sets:
        evaluation = evaluations.get(s.task)
        rows = [] if evaluation is None else list(_rows(summary, s, evaluation))
        if evaluation is not None and rows:
            names, cells = [name for name, _ in rows], [cell for _, cell in rows]
            columns = [
                TableColumn(["system"], names, "left"),
                TableColumn([evaluation.heading or metric_named(s.scored_by).title], cells, format=_score),
                *(
                    _column([n.heading], cells, n)
                    for n in evaluation.numbers
                    if any(n.key in cell.details for cell in cells)
                ),
                *_groups(cells),
            ]
            yield Table(columns, f"{s.label}: {evaluation.table_title or evaluation.summary}")


def _rows(summary: Summary, s: SetSummary, evaluation: WordEvaluation) -> Iterator[tuple[str, CellSummary]]:
    """Systems and baselines; one for all retrievals if the score does not depend on them."""
    unique_cells: dict[tuple[str, ...], tuple[Column, CellSummary]] = {}
    for column, cell in zip((*summary.columns, *summary.baselines), (*s.cells, *s.baselines), strict=True):
        if cell is not None:
            unique_cells.setdefault(cell.signatures, (column, cell))
    names = [column.name if evaluation.retrieves else _without_retrieval(column) for column, _ in unique_cells.values()]
    name_counts = Counter(names)
    for name, (column, cell) in zip(names, unique_cells.values(), strict=True):
        # of two states of a system, each retrieved in its own way, only these ways are in the labels
        yield name if name_counts[name] == 1 else f"{name}, id {column.identity}", cell


def _without_retrieval(column: Column) -> str:
    return ", ".join([column.encoder, *(part for part in column.label[1:] if part != column.probe)])


def _score(cell: CellSummary) -> CellText:
    return CellText(POINTS.number(cell.accuracy), POINTS.half_width(cell.low, cell.high))


def _column(heading: Sequence[str], cells: Sequence[CellSummary], number: DetailNumber) -> TableColumn:
    def text(value: float | None) -> CellText:
        return cell_text(None if value is None else f"{number.scale * value:,.{number.digits}f}")

    return TableColumn(heading, [cell.details.get(number.key) for cell in cells], format=text)


def _groups(cells: Sequence[CellSummary]) -> Iterator[TableColumn]:
    """Precision at 1 of bands of frequency and of parts of speech, with how many words they have."""
    from sentprobe.lab.words.evaluation import DetailNumber

    keys = dict.fromkeys(key for cell in cells for key in cell.details if key.startswith("precision@1 "))
    for key in keys:
        group = key.removeprefix("precision@1 ")
        n = next(int(cell.details[f"words {group}"]) for cell in cells if key in cell.details)
        yield _column([*_heading(group), f"n = {n:,}"], cells, DetailNumber(key, group))


def _heading(group: str) -> list[str]:
    band = _BAND.fullmatch(group)
    if band is None:
        return [group]
    return ["rank", f"{int(band[1]):,}–{f'{int(band[2]):,}' if band[2] else ''}"]
