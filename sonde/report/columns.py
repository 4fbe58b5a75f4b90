"""The summary of a run as columns of words: what every kind of table is made from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from sonde.report.interval import half_width
from sonde.report.published_results import EXTENT_NOTES
from sonde.report.scores import LOSSES
from sonde.report.summary import done, value_of
from sonde.report.verdict import mark_of

ABSENT = "–"


class CellText(NamedTuple):
    """A cell in words."""

    text: str
    """The number; or a name, or why there is no number."""
    margin: str = ""
    """± and half the width of the interval."""
    mark: str = ""
    """Letters of what is not significantly different, † where the number is not significantly better than the best
    baseline, and an asterisk where it is partial."""
    note: str = ""
    """The layer, or the name of a baseline."""
    best: bool = False


@dataclass(frozen=True)
class Column:
    """A heading, in parts that may stand in lines of their own, and a cell per row."""

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
    """What is left of the baselines where there is no room: the strongest one, per sample of rows."""
    human: Sequence[Column]
    """One column, or none."""

    def all(self) -> list[Column]:
        """What is shown where there is room for everything."""
        return [self.names, self.test_size, *self.encoders, *self.baselines, *self.human]


def main_columns(summary: Mapping[str, Any]) -> MainTable:
    """Rows are sets."""
    sets, metric = summary["sets"], summary["metric"]
    people = [set_summary["human"] if metric == "accuracy" else None for set_summary in sets]
    human = Column(
        ["human"],
        [
            CellText(f"{100 * row['accuracy']:.1f}", note=EXTENT_NOTES[set_summary["printed_for"]])
            if row
            else CellText("")
            for row, set_summary in zip(people, sets, strict=True)
        ],
    )
    baselines = [
        found
        for i, column in enumerate(summary["baselines"])
        for found in _with_calibrated(column["label"], [set_summary["baselines"][i] for set_summary in sets], metric)
    ]
    return MainTable(
        names=Column(["set"], [CellText(set_summary["label"]) for set_summary in sets]),
        test_size=Column(["te"], [CellText(_tested(set_summary)) for set_summary in sets]),
        encoders=[
            found
            for i, column in enumerate(summary["columns"])
            for found in _with_calibrated(column["label"], [set_summary["cells"][i] for set_summary in sets], metric)
        ],
        # those that give labels only have no loss
        baselines=[column for column in baselines if any(words.text != ABSENT for words in column.cells)],
        best_baseline=_best_baseline(summary),
        human=[human] if any(people) else [],
    )


def _with_calibrated(label: Sequence[str], cells: Sequence[Mapping[str, Any] | None], metric: str) -> Iterator[Column]:
    """The column of an encoder; where it is of raw bits, those after calibration stand beside it."""
    yield Column(label, [cell_text(cell, metric) for cell in cells])
    scores = [(cell or {}).get("calibrated") or {"value": None} for cell in cells]
    if any(score["value"] is not None for score in scores):
        yield Column([*label, "calibrated"], [_number(score, metric) for score in scores])


def _number(score: Mapping[str, Any], metric: str) -> CellText:
    """A number with half the width of its interval: points with one decimal, or bits with three."""
    value = score["value"]
    if value is None:
        return CellText(ABSENT)
    scale, digits = (1, 3) if metric in LOSSES else (100, 1)
    margin = half_width(score["low"], score["high"], scale=scale, digits=digits)
    return CellText(f"{scale * value:.{digits}f}", margin)


def layer_columns(summary: Mapping[str, Any], found: Mapping[str, Any]) -> list[Column]:
    """Rows are the layers of one encoder, columns sets."""
    names = Column(["layer"], [CellText(ABSENT if name is None else name) for name in found["names"]])
    return [names] + [
        Column([set_summary["label"]], [cell_text(row[i], summary["metric"]) for row in found["cells"]])
        for i, set_summary in enumerate(summary["sets"])
    ]


def cell_text(cell: Mapping[str, Any] | None, metric: str) -> CellText:
    """What is written for a cell."""
    if cell is None or not done(cell):
        return CellText(ABSENT if cell is None else "failed")
    found = _number(cell["score"], metric)
    if found.text == ABSENT:
        return found
    marks = mark_of(cell) + "*" * cell["partial"]
    if "by_dev" in cell:
        return found._replace(mark=marks, note="dev" * cell["by_dev"])
    layer = cell["layer"] or ""
    note = f"({'L' * layer.isdecimal()}{layer})" if layer else ""
    return found._replace(mark=(cell["letters"] or "") + marks, note=note, best=cell["best"])


def _tested(set_summary: Mapping[str, Any]) -> str:
    """On how many rows; different numbers if there are samples of different sizes."""
    rows = sorted({cell["n"] for cell in (*set_summary["cells"], *set_summary["baselines"]) if done(cell)})
    return " / ".join(f"{n:,}" for n in rows) or f"{set_summary['n'].get('te', 0):,}"


def _best_baseline(summary: Mapping[str, Any]) -> list[Column]:
    columns, lower = summary["baselines"], summary["metric"] in LOSSES
    found = []
    for sample in dict.fromkeys((c["limit"], c["sonde"]) for c in columns):
        same = [i for i, c in enumerate(columns) if (c["limit"], c["sonde"]) == sample]
        cells = []
        for set_summary in summary["sets"]:
            values = [(value, i) for i in same if (value := value_of(set_summary["baselines"][i])) is not None]
            _, best = (min if lower else max)(values, key=lambda pair: pair[0], default=(None, None))
            if best is None:
                cells.append(CellText(ABSENT))
            else:
                name = columns[best]["encoder"].removeprefix("baseline:")
                cells.append(cell_text(set_summary["baselines"][best], summary["metric"])._replace(note=name))
        found.append(Column(["best baseline", *columns[same[0]]["label"][1:]], cells))
    return found
