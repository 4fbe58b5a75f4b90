"""Matrices of coloured cells with numbers, and panels of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from sentprobe.report.drawing.figure_style import (
    BLUES,
    DIVERGING,
    GREY,
    SCHEMA,
    FigureStyle,
    Row,
    Spec,
    config,
    name_axis,
    tooltip,
    wrap_title,
)
from sentprobe.report.verdict import MARK

DARK_TEXT, LIGHT_TEXT, FAINT_TEXT = "#1a1a1a", "#ffffff", "#5c5c5c"
"""Text in a cell is on the colour of the cell, whatever the theme of the page."""
TEXT_COLOUR_THRESHOLDS = {
    "more": ((0.75,), (DARK_TEXT, LIGHT_TEXT)),
    "both": ((0.1, 0.865), (LIGHT_TEXT, DARK_TEXT, LIGHT_TEXT)),
}
"""Where light text becomes more readable than dark: both then have a contrast of at least 4 (WCAG 2)."""
BREAK = "|"
"""Between the lines of a name above a column; it is in no name, which ``break_names`` sees to."""
MAX_NAME_LINES = 3
MIN_TEXT_SCALE = 0.85
"""Numbers may be this much smaller than names before they lose a digit."""


@dataclass(frozen=True, kw_only=True)
class Matrix:
    """Which fields are drawn, and how."""

    x: str
    y: str
    xs: Sequence[str]
    ys: Sequence[str]
    value: str
    """The field that sets the colour and is printed."""
    domain: tuple[float, float]
    title: str
    """The title of the colour legend."""
    format: str = ".1f"
    short: str = ".0f"
    """The format where there is no room for the first one."""
    colours: Literal["more", "both"] = "more"
    """From light to dark, or to both sides of white, which is the middle of the domain."""
    text_field: str | None = None
    """Another field to print instead."""
    bold: str | None = None
    """A Boolean field: which numbers are bold."""
    mark_if: str | None = None
    """A Boolean field: which numbers have a †."""
    x_title: str | None = None
    y_title: str | None = None
    row_height: float = 1.9
    """The height of a cell, in font sizes."""
    x_top: bool = False
    """Whether the names of columns are above."""
    colour_if: str | None = None
    """A Boolean field: which cells are coloured; the others are grey."""


def cells(style: FigureStyle, m: Matrix, rows: Sequence[Row], width: float, *, names: bool = True) -> Spec:
    """The view of a matrix whose columns share this width; ``names``: whether rows are labelled."""
    cell_width = width / max(1, len(m.xs))
    numbers = [row[m.text_field or m.value] for row in rows]
    form = next(
        (
            (f, size)
            for f in (m.format, m.short)
            for size in (1.0, MIN_TEXT_SCALE)
            if cell_width
            > size * style.text_width(format(n, f) + MARK * bool(m.mark_if) for n in numbers if n is not None)
        ),
        None,
    )
    across = name_axis(style, m.xs, title=m.x_title, **_names_across(style, m, cell_width))
    down = name_axis(style, m.ys, title=m.y_title) if names else None
    position = {
        "x": {"field": m.x, "type": "nominal", "scale": {"domain": list(m.xs)}, "axis": across},
        "y": {"field": m.y, "type": "nominal", "scale": {"domain": list(m.ys)}, "axis": down},
        "tooltip": tooltip(),
    }
    layers = [_coloured(style, m, width)]
    if m.colour_if:
        has_value = {"filter": {"field": m.value, "valid": True}}
        layers.append({"transform": [has_value, _is(m.colour_if, False)], "mark": {"type": "rect", "fill": GREY}})
    layers += _texts(style, m, *form) if form else []
    if m.mark_if and form:
        wide = form[1] * style.text_width(format(n, form[0]) for n in numbers if n is not None)
        layers += _marks(style, m, wide, form[1])
    layers.append(_absent(m))
    return {"height": {"step": style.font * m.row_height}, "encoding": position, "layer": layers}


def break_names(style: FigureStyle, names: Sequence[str], width: float) -> list[str]:
    """Names of columns with breaks between their lines, if all of them fit into columns of this width so."""
    if any(BREAK in name for name in names):
        return list(names)
    lines = [wrap_title(style, name, width) for name in names]
    widest = style.text_width(line for name_lines in lines for line in name_lines)
    if max(map(len, lines), default=0) > MAX_NAME_LINES or widest + 2 > width:
        return list(names)
    return [BREAK.join(name_lines) for name_lines in lines]


def _names_across(style: FigureStyle, m: Matrix, cell_width: float) -> Spec:
    """How the names of columns are set: upright where there is room, perhaps in several lines, or else slanted."""
    top = {"orient": "top"} if m.x_top else {}
    if cell_width >= style.text_width(m.xs) + 2 and not any(BREAK in name for name in m.xs):
        return {"labelAngle": 0, **top}
    lines = max((name.count(BREAK) + 1 for name in m.xs), default=1)
    if lines > 1:
        padding = style.font / 4 + (style.font + 2) * (lines - 1)  # Vega hangs further lines below the first
        # an expression of ours, in which no text of the data is
        return {"labelAngle": 0, "labelExpr": f"split(datum.label, '{BREAK}')", "labelPadding": padding, **top}
    # names above would leave the figure on the right if they were slanted
    slant = -45 if cell_width > 1.6 * style.font and not m.x_top else -90
    return {"labelAngle": slant, "labelAlign": "left" if m.x_top else "right", "labelBaseline": "middle", **top}


def _coloured(style: FigureStyle, m: Matrix, width: float) -> Spec:
    low, high = m.domain
    ramp = BLUES if m.colours == "more" else DIVERGING
    stops = [low + (high - low) * i / (len(ramp) - 1) for i in range(len(ramp))]
    bar = {
        "title": m.title,
        "orient": "bottom",
        "direction": "horizontal",
        "gradientLength": min(width, 14 * style.font),
        "gradientThickness": style.font * 0.8,
        "tickCount": 3,
        "titleAnchor": "start",
    }
    colour = {
        "field": m.value,
        "type": "quantitative",
        "legend": bar,
        "scale": {"domain": stops, "range": list(ramp), "clamp": True, "interpolate": "lab"},
    }
    transform = [{"filter": {"field": m.value, "valid": True}}, *([_is(m.colour_if, True)] if m.colour_if else [])]
    edge = {"stroke": LIGHT_TEXT, "strokeWidth": 0.5}
    return {"transform": transform, "mark": {"type": "rect", **edge}, "encoding": {"fill": colour}}


def _texts(style: FigureStyle, m: Matrix, form: str, size: float) -> list[Spec]:
    """The text of cells: bold or not, and faint where there is no colour."""
    ink = _ink(m)
    text_of = {"field": m.text_field or m.value, "type": "quantitative", "format": form}
    has_value = {"filter": {"field": m.text_field or m.value, "valid": True}}
    text = {"type": "text", "fontSize": style.font * size}
    layers: list[Spec] = []
    for bold in (False, True) if m.bold else (None,):
        which = [has_value, *([_is(m.bold, bold)] if m.bold and bold is not None else [])]
        which += [_is(m.colour_if, True)] if m.colour_if else []
        mark = text | ({"fontWeight": "bold"} if bold else {})
        layers.append({"transform": which, "mark": mark, "encoding": {"text": text_of, "color": ink}})
    if m.colour_if:
        which = [has_value, _is(m.colour_if, False)]
        layers.append({"transform": which, "mark": {**text, "color": FAINT_TEXT}, "encoding": {"text": text_of}})
    return layers


def _ink(m: Matrix) -> Spec:
    """The colour of the text, by the colour of the cell."""
    low, high = m.domain
    turns, inks = TEXT_COLOUR_THRESHOLDS[m.colours]
    domain = [low + turn * (high - low) for turn in turns]
    scale = {"type": "threshold", "domain": domain, "range": list(inks)}
    return {"field": m.value, "type": "quantitative", "legend": None, "scale": scale}


def _marks(style: FigureStyle, m: Matrix, width: float, size: float) -> list[Spec]:
    """† after the marked numbers, which have this width; faint where there is no colour."""
    text = {"type": "text", "fontSize": style.font * size, "align": "left", "dx": 0.54 * width + 0.12 * style.font}
    which = [{"filter": {"field": m.text_field or m.value, "valid": True}}, _is(m.mark_if or "", True)]
    mark = {"text": {"value": MARK}}
    if not m.colour_if:
        return [{"transform": which, "mark": text, "encoding": {**mark, "color": _ink(m)}}]
    return [
        {"transform": [*which, _is(m.colour_if, True)], "mark": text, "encoding": {**mark, "color": _ink(m)}},
        {"transform": [*which, _is(m.colour_if, False)], "mark": {**text, "color": FAINT_TEXT}, "encoding": mark},
    ]


def _absent(m: Matrix) -> Spec:
    """A dash where there is no number."""
    transform = [{"filter": {"field": m.value, "valid": False}}]
    return {"transform": transform, "mark": {"type": "text"}, "encoding": {"text": {"value": "–"}}}


def _is(field: str, value: bool) -> Spec:
    return {"filter": {"field": field, "equal": value}}


class Panel(NamedTuple):
    """The position of a panel."""

    number: int
    width: float
    first: bool
    """Leftmost: it has the labels of its row."""
    last: bool
    """Nothing is below it."""


Draw = Callable[[Panel], Spec]
"""A panel → its view, without data."""


def grid(
    style: FigureStyle,
    rows: Sequence[Row],
    titles: Sequence[str],
    draw: Draw,
    *,
    label_width: float,
    min_width: float,
    gap: float,
    most: int | None = None,
) -> Spec:
    """Panels with titles, as many in a row as fit with ``min_width``; rows of data name their ``panel`` by index.

    ``label_width``: the labels left of the first panel of a row; ``gap``: those left of the others, with the space
    between panels; ``most``: how many panels a row has at most.
    """
    across = max(1, min(len(titles), int((style.total - label_width + gap) // (min_width + gap))))
    across = min(across, most or across)
    # as few empty places as possible: nine panels are three rows of three, and not of four, four and one
    across = min({across, max(1, across - 1)}, key=lambda n: (-len(titles) % n, -n))
    width = round((style.total - label_width - gap * (across - 1)) / across - 2, 1)
    panels = []
    for i, title in enumerate(titles):
        of_panel = {"filter": {"field": "panel", "equal": i}}
        view = draw(Panel(i, width, i % across == 0, i + across >= len(titles)))
        panels.append(
            {
                "title": {"text": wrap_title(style, title, width), "limit": width + gap},
                # views above each other have widths of their own
                **({} if "vconcat" in view else {"width": width}),
                **view,
                "transform": [of_panel, *view.get("transform", ())],
            }
        )
    # concatenated views have scales, and so legends, of their own unless told otherwise
    shared = {"scale": dict.fromkeys(("color", "fill", "shape", "strokeDash"), "shared")}
    return {
        "$schema": SCHEMA,
        "config": config(style.font),
        "data": {"values": list(rows)},
        "columns": across,
        "spacing": {"column": style.font, "row": style.font},
        "align": "each",
        "resolve": shared,
        "concat": panels,
    }


def legend_columns(style: FigureStyle, names: Sequence[str]) -> int:
    """The columns of a legend below the panels."""
    return max(1, min(len(names), int(style.total // (style.text_width(names) + 3.5 * style.font))))
