"""What a score of words is made of, as tables: precision at 5 and 10, by frequency; other scores; what was left out."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from sentprobe.core.formatting import POINTS
from sentprobe.core.table import CellText, Table, TableColumn, cell_text
from sentprobe.report.types import CellSummary, Column, SetSummary, Summary


class _Number(NamedTuple):
    """A number of a table: its heading, and how it is printed."""

    key: str
    heading: str
    scale: float = 100
    digits: int = 1


_SHARE, _COUNT = 100, 1
_PRECISION = (_Number("precision@5", "at 5"), _Number("precision@10", "at 10"), _Number("chance", "chance", digits=2))
NUMBERS: Mapping[str, tuple[str, tuple[_Number, ...]]] = {
    "word_translation": (
        "precision at 1, at 5 and at 10; at 1 by the frequency rank of the source word, or its part of speech",
        (*_PRECISION, _Number("pairs left out", "pairs left out", _COUNT, 0)),
    ),
    "sentence_retrieval": (
        "precision at 1, at 5 and at 10",
        (
            *_PRECISION,
            _Number("candidates", "candidates", _COUNT, 0),
            _Number("sentences left out", "pairs left out", _COUNT, 0),
        ),
    ),
    "word_similarity": (
        "Pearson's and Spearman's correlation of cosines and scores of people, times 100",
        (
            _Number("spearman", "Spearman"),
            _Number("coverage", "known (%)"),
            _Number("pairs left out", "pairs left out", _COUNT, 0),
        ),
    ),
    "word_by_word": (
        "BLEU, and the share of n-grams that are in the reference",
        (
            *(_Number(f"{n}-gram precision", f"{n}-grams") for n in range(1, 5)),
            _Number("sentences left out", "pairs left out", _COUNT, 0),
        ),
    ),
    "translation_closeness": (
        "mean cosine of words and their translations, of those that are not the same string, and of random pairs, "
        "times 100; mean Euclidean distance",
        (
            _Number("cosine, spelled otherwise", "spelled otherwise"),
            _Number("random pairs", "random pairs"),
            _Number("l2", "distance", 1, 3),
            _Number("l2 of unit vectors", "of unit vectors", 1, 3),
            _Number("pairs left out", "pairs left out", _COUNT, 0),
        ),
    ),
}
"""By task, the title of its tables, and their numbers after the score."""
FIRST = {"precision@1": "at 1", "pearson": "Pearson", "bleu": "BLEU", "cosine": "cosine"}
"""The heading of the score."""
_BAND = re.compile(r"rank (\d+)-(\d*)")


def word_tables(summary: Summary) -> Iterator[Table]:
    """A table for each set of words: rows are systems."""
    if summary.metric != "accuracy":
        return
    for s in summary.sets:
        rows = list(_rows(summary, s)) if s.task in NUMBERS else []
        if rows:
            title, numbers = NUMBERS[s.task]
            names, cells = [name for name, _ in rows], [cell for _, cell in rows]
            columns = [
                TableColumn(["system"], names, "left"),
                TableColumn([FIRST.get(s.scored_by, s.scored_by)], cells, format=_score),
                *(_column([n.heading], cells, n) for n in numbers if any(n.key in cell.details for cell in cells)),
                *_groups(cells),
            ]
            yield Table(columns, f"{s.label}: {title}")


def _rows(summary: Summary, s: SetSummary) -> Iterator[tuple[str, CellSummary]]:
    """Systems and baselines; one for all retrievals if the score does not depend on them."""
    unique_cells: dict[tuple[str, ...], tuple[Column, CellSummary]] = {}
    for column, cell in zip((*summary.columns, *summary.baselines), (*s.cells, *s.baselines), strict=True):
        if cell is not None:
            unique_cells.setdefault(cell.signatures, (column, cell))
    without_scoring = s.task in ("word_similarity", "translation_closeness")
    names = [_without_retrieval(column) if without_scoring else column.name for column, _ in unique_cells.values()]
    name_counts = Counter(names)
    for name, (column, cell) in zip(names, unique_cells.values(), strict=True):
        # of two states of a system, each retrieved in its own way, only these ways are in the labels
        yield name if name_counts[name] == 1 else f"{name}, id {column.identity}", cell


def _without_retrieval(column: Column) -> str:
    return ", ".join([column.encoder, *(part for part in column.label[1:] if part != column.probe)])


def _score(cell: CellSummary) -> CellText:
    return CellText(POINTS.number(cell.accuracy), POINTS.half_width(cell.low, cell.high))


def _column(heading: Sequence[str], cells: Sequence[CellSummary], number: _Number) -> TableColumn:
    def text(value: float | None) -> CellText:
        return cell_text(None if value is None else f"{number.scale * value:,.{number.digits}f}")

    return TableColumn(heading, [cell.details.get(number.key) for cell in cells], format=text)


def _groups(cells: Sequence[CellSummary]) -> Iterator[TableColumn]:
    """Precision at 1 of bands of frequency and of parts of speech, with how many words they have."""
    keys = dict.fromkeys(key for cell in cells for key in cell.details if key.startswith("precision@1 "))
    for key in keys:
        group = key.removeprefix("precision@1 ")
        n = next(int(cell.details[f"words {group}"]) for cell in cells if key in cell.details)
        yield _column([*_heading(group), f"n = {n:,}"], cells, _Number(key, group))


def _heading(group: str) -> list[str]:
    band = _BAND.fullmatch(group)
    if band is None:
        return [group]
    return ["rank", f"{int(band[1]):,}–{f'{int(band[2]):,}' if band[2] else ''}"]
