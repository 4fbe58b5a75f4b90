"""The table of results: a row per set, a column per encoder and baseline; and how it fits a narrow terminal.

Numbers are never cut, and those of encoders never without their interval. Where there is little room, baselines are
shown without theirs, or only the best one is, and names are short or folded; the layout says what was left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from sentprobe.core.formatting import ABSENT, POINTS
from sentprobe.core.table import CellText, Table, TableColumn, folded_width, in_blocks, table_width
from sentprobe.report.cells import value_of
from sentprobe.report.published import EXTENT_NOTES
from sentprobe.report.types import CellSummary, Column, LayerTable, Score, SetSummary, Summary
from sentprobe.report.verdict import mark_of
from sentprobe.results.metric import metric_named


@dataclass(frozen=True)
class ScoreTable:
    """The columns of the table of results."""

    names: TableColumn
    test_size: TableColumn
    encoders: Sequence[TableColumn]
    baselines: Sequence[TableColumn]
    best_baseline: Sequence[TableColumn]
    """What is shown of the baselines where there is little room: the best one, per sample of rows."""
    human: Sequence[TableColumn]
    """One column, or none."""

    def table(self) -> Table:
        """The table where there is room for everything."""
        return Table([self.names, self.test_size, *self.encoders, *self.baselines, *self.human])


def score_table(summary: Summary) -> ScoreTable:
    """The table of results of a summary."""
    sets = summary.sets
    baselines = [
        column
        for i, baseline in enumerate(summary.baselines)
        for column in _score_columns(
            sets, baseline, [s.baselines[i] for s in sets], [s.failed_baselines.get(i) for s in sets]
        )
    ]
    return ScoreTable(
        names=TableColumn(["set"], [s.label for s in sets], "left"),
        test_size=TableColumn(["test"], [_test_size(s) for s in sets]),
        encoders=[
            column
            for i, encoder in enumerate(summary.columns)
            for column in _score_columns(sets, encoder, [s.cells[i] for s in sets], [s.failed.get(i) for s in sets])
        ],
        # those that only predict labels have no loss
        baselines=[column for column in baselines if any(cell.text != ABSENT for cell in column.cells)],
        best_baseline=best_baseline(summary),
        human=list(_human(summary)),
    )


def layer_table(summary: Summary, layers: LayerTable) -> Table:
    """The table of one encoder: rows are its layers, columns sets."""
    columns = [
        TableColumn([s.label], [row[i] for row in layers.cells], format=partial(_layer_text, metric=s.scored_by))
        for i, s in enumerate(summary.sets)
    ]
    title = "(dev: the one that was best there, and is compared with the baselines)"
    return Table(
        [TableColumn(["layer"], layers.names, "left"), *columns],
        f"Layers of {summary.columns[layers.column].name} {title}",
    )


# Columns and cells


def _score_columns(
    sets: Sequence[SetSummary],
    column: Column,
    cells: Sequence[CellSummary | None],
    errors: Sequence[str | None],
) -> Iterator[TableColumn]:
    """The column of an encoder or a baseline; next to raw bits, the calibrated ones."""
    texts = [score_text(cell, s.scored_by, error) for s, cell, error in zip(sets, cells, errors, strict=True)]
    yield TableColumn(column.label, texts)
    calibrated = [None if cell is None else cell.calibrated for cell in cells]
    if any(score is not None and score.value is not None for score in calibrated):
        texts = [_number(score or Score(), s.scored_by) for s, score in zip(sets, calibrated, strict=True)]
        yield TableColumn([*column.label, "calibrated"], texts)


def score_text(cell: CellSummary | None, metric: str, error: str | None = None) -> CellText:
    """A score as it is printed; ``error``: why there is none, if it failed."""
    if cell is None:
        return CellText(ABSENT if error is None else "failed")
    text = _number(cell.score, metric)
    if text.text == ABSENT:
        return text
    layer = cell.layer or ""
    note = f"({'L' * layer.isdecimal()}{layer})" if layer else ""
    mark = (cell.letters or "") + mark_of(cell) + "*" * cell.partial
    return text._replace(mark=mark, note=note, best=cell.best)


def _layer_text(cell: CellSummary | None, metric: str) -> CellText:
    if cell is None or (text := _number(cell.score, metric)).text == ABSENT:
        return CellText(ABSENT)
    return text._replace(mark=mark_of(cell) + "*" * cell.partial, note="dev" * cell.by_dev)


def _number(score: Score, metric: str) -> CellText:
    """A number with half the width of its interval: points with one decimal, or bits with three."""
    if score.value is None:
        return CellText(ABSENT)
    form = metric_named(metric).number
    return CellText(form.number(score.value), form.half_width(score.low, score.high))


def _human(summary: Summary) -> Iterator[TableColumn]:
    if summary.by_set_metric and any(s.human or s.people for s in summary.sets):
        yield TableColumn(["human"], summary.sets, format=human_text)


def human_text(s: SetSummary) -> CellText:
    """The accuracy of people: of your annotators if there are any, or else as a paper printed it."""
    if s.people is not None:
        return CellText(POINTS.number(s.people.accuracy), POINTS.half_width(s.people.low, s.people.high))
    if s.human is None or s.printed_for is None:
        return CellText("")
    return CellText(POINTS.number(s.human.accuracy), note=EXTENT_NOTES[s.printed_for])


def _test_size(s: SetSummary) -> str:
    """The number of test rows; several numbers if there are samples of different sizes."""
    sizes = sorted({cell.n for cell in (*s.cells, *s.baselines) if cell is not None})
    return " / ".join(f"{n:,}" for n in sizes) or f"{s.n.get('te', 0):,}"


def best_baseline(summary: Summary) -> list[TableColumn]:
    """The best baseline of each set, with its name as a note: a column per sample of rows."""
    baselines = summary.baselines
    columns = []
    for sample in dict.fromkeys(column.sample for column in baselines):
        indices = [i for i, c in enumerate(baselines) if c.sample == sample]
        cells = []
        for s in summary.sets:
            values = {i: value for i in indices if (value := value_of(s.baselines[i])) is not None}
            if not values:
                cells.append(CellText(ABSENT))
            else:
                better = max if metric_named(s.scored_by).higher_is_better else min
                best = better(values, key=values.__getitem__)
                cells.append(score_text(s.baselines[best], s.scored_by)._replace(note=baselines[best].encoder))
        columns.append(TableColumn(["best baseline", *baselines[indices[0]].label[1:]], cells))
    return columns


# Layout


@dataclass(frozen=True)
class ShortNames:
    """Names that are short enough for a narrow table."""

    sets: TableColumn
    encoders: Sequence[str]


@dataclass(frozen=True)
class TableLayout:
    """The table of results as tables that are printed one below the other."""

    tables: Sequence[Table]
    dropped: tuple[str, ...] = ()
    """What there is no room for, in a few words each."""


def lay_out(main: ScoreTable, short: ShortNames, width: int) -> TableLayout:
    """The table of results in this many characters: at once if it fits, otherwise in as few lines as possible."""
    bare = [column.without_margin() for column in main.baselines]
    best = main.best_baseline
    choices = (
        [*main.baselines, *main.human],
        main.baselines,
        bare,
        [*best, *main.human],
        best,
        [column.without_margin() for column in best],
    )
    brief = replace(main, names=short.sets)
    for table in (main, brief):
        for baselines in choices:
            columns = [table.names, table.test_size, *table.encoders, *baselines]
            if table_width(columns) <= width:
                return TableLayout([Table(columns)], _dropped(main, columns))
    by_encoder = _tables_of_encoders(brief, width)
    by_set = _tables_of_sets(main, short, width)
    tables = min(by_encoder, by_set, key=lambda tables: sum(map(_line_count, tables)))  # the first of equals
    if tables is by_set:  # which has the baselines and people as rows
        columns = [*main.best_baseline, *main.human]
    else:
        columns = [column for table in tables for column in table.columns]
    return TableLayout(tables, _dropped(main, columns))


def _dropped(main: ScoreTable, columns: Sequence[TableColumn]) -> tuple[str, ...]:
    """What of the table is not among these columns."""
    titles = {column.title for column in columns}
    with_margin = {column.title for column in columns if any(cell.margin for cell in column.cells)}
    bare = any(
        column.title in titles - with_margin and any(cell.margin for cell in column.cells)
        for column in (*main.baselines, *main.best_baseline)
    )
    only_best = len(main.baselines) > len(main.best_baseline) and any(c.title not in titles for c in main.baselines)
    no_people = any(column.title not in titles for column in main.human)
    left_out = {"the human column": no_people, "the ± of baselines": bare, "baselines other than the best": only_best}
    return tuple(what for what, missing in left_out.items() if missing)


def _tables_of_encoders(main: ScoreTable, width: int) -> list[Table]:
    """Rows are sets; the best baseline is in every table, or in the last one where there is no room for it."""
    names, size, best = main.names, main.test_size, main.best_baseline
    if all(folded_width([names, size, column, *best], width) <= width for column in main.encoders):
        blocks = list(in_blocks([names, size], main.encoders, best, width))
    else:
        blocks = list(in_blocks([names], [*main.encoders, *best], [], width))
    return _numbered(blocks, main.encoders, "Encoder")


def _tables_of_sets(main: ScoreTable, short: ShortNames, width: int) -> list[Table]:
    """Rows are encoders, followed by the best baseline; the number of test rows is part of the heading of a set."""
    rows = list(zip(_row_names(main, short), (column.cells for column in main.encoders), strict=True))
    for column in main.best_baseline:
        rows += [
            (column.title, column.without_notes().cells),
            ("which one", [CellText(cell.note) for cell in column.cells]),
        ]
    rows += [(column.title, column.cells) for column in main.human]
    names = TableColumn(["encoder"], [name for name, _ in rows], "left")
    sets = [
        TableColumn([label.text, f"n={size.text}"], [cells[i] for _, cells in rows])
        for i, (label, size) in enumerate(zip(short.sets.cells, main.test_size.cells, strict=True))
    ]
    return _numbered(list(in_blocks([names], sets, [], width)), sets, "Set")


def _row_names(main: ScoreTable, short: ShortNames) -> list[str]:
    """A name per column of an encoder: next to one of raw bits there is one of calibrated bits."""
    if len(main.encoders) == len(short.encoders):
        return list(short.encoders)
    return [column.title for column in main.encoders]


def _numbered(blocks: Sequence[Sequence[TableColumn]], counted: Sequence[TableColumn], noun: str) -> list[Table]:
    """Tables whose titles have the numbers of the columns that each has, if there are several."""
    tables, done = [], 0
    for block in blocks:
        n = sum(any(column is c for c in counted) for column in block)
        numbers = f" {done + 1}" if n == 1 else f"s {done + 1}–{done + n}"
        tables.append(Table(block, f"{noun}{numbers} of {len(counted)}" if n and len(blocks) > 1 else ""))
        done += n
    return tables


def _line_count(table: Table) -> int:
    """How many lines a table takes, with its title and an empty line; names that are folded count once."""
    headings = max(len(column.heading_lines) for column in table.columns)
    return headings + len(table.columns[0].cells) + 1 + bool(table.title)
