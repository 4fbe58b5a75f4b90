"""The summary of a run as columns of text, which every kind of table is made from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sentprobe.core.numbers import BITS, POINTS
from sentprobe.report.cells import value_of
from sentprobe.report.published_results import EXTENT_NOTES
from sentprobe.report.scores import LOSSES
from sentprobe.report.types import Cell, LayerTable, Score, SetSummary, Summary
from sentprobe.report.verdict import mark_of
from sentprobe.run.variant import CellText

ABSENT = "–"


@dataclass(frozen=True, eq=False)  # hashed by identity: layouts measure each column many times
class Column:
    """A heading, in parts that may be on lines of their own, and a cell per row."""

    head: Sequence[str]
    cells: Sequence[CellText]

    def without_margin(self) -> Column:
        """The same numbers alone."""
        return Column(self.head, [words._replace(margin="") for words in self.cells])


@dataclass(frozen=True)
class MainTable:
    """The columns of the table of sets."""

    names: Column
    test_size: Column
    encoders: Sequence[Column]
    baselines: Sequence[Column]
    best_baseline: Sequence[Column]
    """What is shown of the baselines where there is little room: the best one, per sample of rows."""
    human: Sequence[Column]
    """One column, or none."""

    def all(self) -> list[Column]:
        """What is shown where there is room for everything."""
        return [self.names, self.test_size, *self.encoders, *self.baselines, *self.human]


def main_columns(summary: Summary) -> MainTable:
    """The table of results: rows are sets."""
    sets, metric = summary.sets, summary.metric
    baselines = [
        found
        for i, column in enumerate(summary.baselines)
        for found in _with_calibrated(
            column.label, [cell_text(s.baselines[i], metric, s.failed_baselines.get(i)) for s in sets],
            [s.baselines[i] for s in sets], metric,
        )
    ]  # fmt: skip
    encoders = [
        found
        for i, column in enumerate(summary.columns)
        for found in _with_calibrated(
            column.label, [cell_text(s.cells[i], metric, s.failed.get(i)) for s in sets],
            [s.cells[i] for s in sets], metric,
        )
    ]  # fmt: skip
    return MainTable(
        names=Column(["set"], [CellText(s.label) for s in sets]),
        test_size=Column(["test"], [CellText(_test_size(s)) for s in sets]),
        encoders=encoders,
        # those that only predict labels have no loss
        baselines=[column for column in baselines if any(cell.text != ABSENT for cell in column.cells)],
        best_baseline=_best_baseline(summary),
        human=list(_human(summary)),
    )


def _human(summary: Summary) -> Iterator[Column]:
    if summary.metric == "accuracy" and any(s.human or s.people for s in summary.sets):
        yield Column(["human"], [human_text(s) for s in summary.sets])


def human_text(s: SetSummary) -> CellText:
    """The accuracy of people: of one's own annotators if there are some, or else as it was printed."""
    if s.people is not None:
        return CellText(POINTS.number(s.people.accuracy), POINTS.half_width(s.people.low, s.people.high))
    if s.human is None or s.printed_for is None:
        return CellText("")
    return CellText(POINTS.number(s.human.accuracy), note=EXTENT_NOTES[s.printed_for])


def _with_calibrated(
    label: Sequence[str], texts: Sequence[CellText], cells: Sequence[Cell | None], metric: str
) -> Iterator[Column]:
    """The column of an encoder; next to raw bits, the calibrated ones."""
    yield Column(label, texts)
    scores = [Score() if cell is None or cell.calibrated is None else cell.calibrated for cell in cells]
    if any(score.value is not None for score in scores):
        yield Column([*label, "calibrated"], [_number(score, metric) for score in scores])


def _number(score: Score, metric: str) -> CellText:
    """A number with half the width of its interval: points with one decimal, or bits with three."""
    if score.value is None:
        return CellText(ABSENT)
    form = BITS if metric in LOSSES else POINTS
    return CellText(form.number(score.value), form.half_width(score.low, score.high))


def layer_columns(summary: Summary, table: LayerTable) -> list[Column]:
    """The table of one encoder: rows are its layers, columns sets."""
    names = Column(["layer"], [CellText(ABSENT if name is None else name) for name in table.names])
    return [names] + [
        Column([s.label], [_layer_text(row[i], summary.metric) for row in table.cells])
        for i, s in enumerate(summary.sets)
    ]


def _layer_text(cell: Cell | None, metric: str) -> CellText:
    if cell is None or (found := _number(cell.score, metric)).text == ABSENT:
        return CellText(ABSENT)
    return found._replace(mark=mark_of(cell) + "*" * cell.partial, note="dev" * cell.by_dev)


def cell_text(cell: Cell | None, metric: str, error: str | None = None) -> CellText:
    """The text of a cell; ``error``: why there is none, if it failed."""
    if cell is None:
        return CellText(ABSENT if error is None else "failed")
    found = _number(cell.score, metric)
    if found.text == ABSENT:
        return found
    layer = cell.layer or ""
    note = f"({'L' * layer.isdecimal()}{layer})" if layer else ""
    mark = (cell.letters or "") + mark_of(cell) + "*" * cell.partial
    return found._replace(mark=mark, note=note, best=cell.best)


def _test_size(s: SetSummary) -> str:
    """The number of test rows; several numbers if there are samples of different sizes."""
    rows = sorted({cell.n for cell in (*s.cells, *s.baselines) if cell is not None})
    return " / ".join(f"{n:,}" for n in rows) or f"{s.n.get('te', 0):,}"


def _best_baseline(summary: Summary) -> list[Column]:
    columns, lower = summary.baselines, summary.metric in LOSSES
    found = []
    for sample in dict.fromkeys((c.limit, c.sentprobe) for c in columns):
        same = [i for i, c in enumerate(columns) if (c.limit, c.sentprobe) == sample]
        cells = []
        for s in summary.sets:
            values = [(value, i) for i in same if (value := value_of(s.baselines[i])) is not None]
            _, best = (min if lower else max)(values, key=lambda pair: pair[0], default=(None, None))
            if best is None:
                cells.append(CellText(ABSENT))
            else:
                cells.append(cell_text(s.baselines[best], summary.metric)._replace(note=columns[best].encoder))
        found.append(Column(["best baseline", *columns[same[0]].label[1:]], cells))
    return found
