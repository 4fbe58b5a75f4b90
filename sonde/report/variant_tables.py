"""Controls and measures as tables: what a score is to be read beside."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from sonde.report.columns import ABSENT, CellText, Column
from sonde.report.interval import half_width

Cell = Mapping[str, Any]


def variant_tables(summary: Mapping[str, Any]) -> Iterator[tuple[str, list[Column]]]:
    """Per encoder, a table of controls, one of measures and one of erasures, each with its title."""
    found = summary.get("meaning")
    if not found:
        return
    for i, column in enumerate(summary["columns"]):
        cells = [row[i] for row in found["sets"]]
        if not any(cells):
            continue
        label = ", ".join(column["label"])
        names = [said["label"] for said in summary["sets"]]
        scores = Column(["score"], [_points(said["cells"][i], "accuracy") for said in summary["sets"]])
        for title, columns in (
            (f"Controls of {label}", _controls(cells)),
            (f"Measures of {label}", _measures(cells, [said["cells"][i] for said in summary["sets"]])),
            (f"What is left of a set (rows) of {label} when a property (columns) is erased", _erasures(cells)),
        ):
            if columns:
                yield title, [Column(["set"], [CellText(name) for name in names]), scores, *columns]


def interpretations(summary: Mapping[str, Any]) -> list[str]:
    """How to read each control and measure, in a sentence."""
    found = summary.get("meaning") or {"readings": {}}
    return [f"{name}: {reading}" for name, reading in found["readings"].items()]


def _points(cell: Cell | None, name: str = "value") -> CellText:
    """Shares in points, with half the width of the interval."""
    if cell is None or cell.get(name) is None:
        return CellText(ABSENT)
    return CellText(f"{100 * cell[name]:.1f}", half_width(cell.get("low"), cell.get("high")))


def _column(
    head: Sequence[str], cells: Sequence[Cell | None], words: Callable[[Cell], CellText | None]
) -> Iterator[Column]:
    """A column, unless there is nothing in it."""
    found = [(cell and words(cell)) or CellText(ABSENT) for cell in cells]
    if any(each.text != ABSENT for each in found):
        yield Column(head, found)


def _controls(cells: Sequence[Cell | None]) -> list[Column]:
    names = dict.fromkeys(name for cell in cells if cell for name in cell["controls"])
    found = list(_column(["selectivity"], cells, lambda cell: cell["selectivity"] and _points(cell["selectivity"])))
    found += _column(["task in the", "split of key"], cells, lambda cell: _task(cell["selectivity"]))
    for name in names:
        found += _column([name], cells, lambda cell, name=name: _points(cell["controls"].get(name)))  # type: ignore[misc]
    return found


def _task(found: Cell | None) -> CellText | None:
    """The accuracy that the control is subtracted from."""
    return CellText(f"{100 * found['task']:.1f}") if found else None


def _measures(cells: Sequence[Cell | None], plain: Sequence[Cell | None]) -> list[Column]:
    found = list(_column(["information", "bits"], plain, lambda cell: _bits(cell.get("information"))))
    found += _column(["compression", "times"], cells, lambda cell: _times(cell["online"]))
    found += _column(["rows to half", "of the prior"], cells, lambda cell: _enough(cell["online"]))
    for name in dict.fromkeys(name for cell in cells if cell for name in cell["given"]):
        found += _column(
            ["adds to", name, "bits"], cells, lambda cell, name=name: _bits(cell["given"].get(name))  # type: ignore[misc]
        )  # fmt: skip
    found += _column(["last doubling", "adds"], cells, lambda cell: cell["learning"] and _points(cell["learning"]))
    found += _column(["rank", "that will do"], cells, lambda cell: _rank(cell["capacity"]))
    found += _column(["hidden layer", "adds"], cells, lambda cell: cell["hidden"] and _points(cell["hidden"]))
    found += _column(["after INLP", "(directions)"], cells, lambda cell: _projected(cell["inlp"]))
    found += _column(
        ["centre", "of layers"], cells, lambda cell: cell["mix"] and CellText(f"{cell['mix']['centre']:.1f}")
    )
    found += _column(["expected", "layer"], cells, lambda cell: _expected(cell["mix"]))
    return found if any(cell and any(cell[name] for name in _ASKED) for cell in cells) else []


_ASKED = ("online", "learning", "given", "capacity", "hidden", "mix", "inlp")


def _bits(found: Cell | None) -> CellText:
    if found is None:
        return CellText(ABSENT)
    bits = round(found["bits"], 3) + 0.0  # which makes -0 a 0
    return CellText(f"{bits:.3f}", half_width(found["low"], found["high"], scale=1, digits=3))


def _times(found: Cell | None) -> CellText | None:
    return (
        None
        if found is None
        else CellText(f"{found['value']:.2f}", half_width(found["low"], found["high"], scale=1, digits=2))
    )


def _enough(found: Cell | None) -> CellText | None:
    if found is None:
        return None
    last = found["blocks"][-1]["rows"]
    return CellText(f"{found['enough']['50']:,}" if found["enough"]["50"] else f"> {last:,}")


def _rank(found: Cell | None) -> CellText | None:
    return CellText(str(found["enough"])) if found else None


def _projected(found: Cell | None) -> CellText | None:
    return _points(found)._replace(note=f"({found['rank']})") if found else None


def _expected(found: Cell | None) -> CellText | None:
    return CellText(f"{found['expected']:.1f}") if found and found["expected"] is not None else None


def _erasures(cells: Sequence[Cell | None]) -> list[Column]:
    names = dict.fromkeys(name for cell in cells if cell for name in cell["erasure"])
    found: list[Column] = []
    for name in names:
        found += _column([name], cells, lambda cell, name=name: _erased(cell["erasure"].get(name)))  # type: ignore[misc]
    return found


def _erased(found: Cell | None) -> CellText:
    """What is left, and what is left after random directions."""
    if found is None:
        return CellText(ABSENT)
    return _points(found)._replace(note=f"({100 * found['random']:.1f})")
