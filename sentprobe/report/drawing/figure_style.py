"""The style of figures for papers: widths, fonts, colours; and labels that fit."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal
from unicodedata import east_asian_width

import numpy as np
import numpy.typing as npt

Width = int | Literal["container"]
Spec = dict[str, Any]
Row = dict[str, Any]

SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"
"""vl-convert 1.9 draws with Vega-Lite 6.4, and bundles the same for the page."""
ONE_COLUMN, TWO_COLUMNS = 238, 497
"""3.3 and 6.9 inches in points: one column and two, as in ACL papers."""
PAGE_WIDTH = 760
"""Width in pixels of figures with several panels on the page, which Vega-Lite cannot fit to a container."""
PAPER_FONT_SIZE = 7
"""Font size in a paper, in points; the sizes below are for it."""
FONT_FAMILY = "Helvetica, Arial, Liberation Sans, sans-serif"

SERIES_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#7A7A7A")
"""Okabe and Ito (2008), "Color Universal Design", without black and yellow, which some backgrounds hide."""
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right", "triangle-left")
DASHES = ([1, 0], [4, 2], [1, 1.5], [6, 1.5, 1, 1.5], [2.5, 1])
"""Seven, eight and five are coprime: 280 series before two look alike."""
BLUES = ("#f4f8fc", "#d3e3f3", "#a3c8e4", "#62a3d0", "#2474b7", "#08407f")
"""Light is low, and lightness falls evenly, also in greyscale."""
DIVERGING = ("#8a3a00", "#c96a16", "#eea65c", "#fbdcb8", "#ffffff", "#c9dff0", "#7fb2dc", "#2f7bbc", "#084a86")
"""Orange is less, white is equal, blue is more; in greyscale, the sign of the number tells the sides apart."""
BOLD_WIDTH_RATIO = 1.08
"""How much wider bold letters are."""
GREY, AXIS_COLOUR = "#dedede", "#8c8c8c"


@dataclass(frozen=True)
class FigureStyle:
    """Sizes of a figure: points in a paper, pixels on the page."""

    width: Width
    """Of a single view."""
    total: int
    """The total width of a figure with several panels."""
    font: float

    @property
    def step(self) -> float:
        """The line height."""
        return round(self.font * 1.55, 1)

    def dot(self, area: float) -> float:
        """The size of marks and symbols, which is an area in Vega, from that in a paper."""
        return round(area * (self.font / PAPER_FONT_SIZE) ** 2, 1)

    def dash(self, lengths: Sequence[float]) -> list[float]:
        """Dash lengths, from those in a paper."""
        return [round(length * self.font / PAPER_FONT_SIZE, 2) for length in lengths]

    def label_width(self, names: Iterable[str]) -> float:
        """The width for names next to a figure: what they need, or at most half of the figure."""
        return min(self.text_width(names) * 1.1 + self.font, self.total / 2)

    def text_width(self, texts: Iterable[str]) -> float:
        """The approximate width of the widest of these texts."""
        return max((self.font * sum(_em(c) for c in text) for text in texts), default=0.0)


def figure_style(width: Width) -> FigureStyle:
    """The style for a width: a number is for a paper, a container for the page."""
    return FigureStyle(width, PAGE_WIDTH, 12) if width == "container" else FigureStyle(width, width, PAPER_FONT_SIZE)


def _em(character: str) -> float:
    return 1.0 if east_asian_width(character) in "WF" else 0.53  # a little more than the mean of Helvetica's lower case


def single_view(view: Spec, rows: Sequence[Row], style: FigureStyle, *, height: Any = None) -> Spec:
    """A complete spec with one view, which fills the width."""
    size = {"width": style.width} | ({} if height is None else {"height": height})
    fit = {"autosize": {"type": "fit-x", "contains": "padding"}}
    return {"$schema": SCHEMA, "config": config(style.font), "data": {"values": list(rows)}, **fit, **size, **view}


def config(font: float) -> Spec:
    """Fonts, lines and margins. Colours of text and axes are set only here, where the page overrides them."""
    text = {"labelFontSize": font, "titleFontSize": font, "titleFontWeight": "normal"}
    thin = {"domainColor": AXIS_COLOUR, "tickColor": AXIS_COLOUR, "domainWidth": 0.6, "tickWidth": 0.6}
    return {
        "font": FONT_FAMILY,
        "background": "white",
        "padding": 2,
        "view": {"stroke": None},
        "axis": {
            **text,
            **thin,
            "gridColor": "#e2e2e2",
            "gridWidth": 0.5,
            "tickSize": font / 3,
            "labelPadding": font / 4,
            "titlePadding": font / 2,
            "labelColor": "#222222",
            "titleColor": "#222222",
        },
        "legend": {
            **text,
            "labelColor": "#222222",
            "titleColor": "#222222",
            "symbolSize": 28 * (font / PAPER_FONT_SIZE) ** 2,
            "rowPadding": 1,
            "columnPadding": font,
            "labelOffset": 2,
            "titlePadding": 3,
            "offset": font / 2,
            "labelLimit": 0,  # none: two encoders truncated at Vega's 160 pixels may look the same
            "gradientThickness": font,
            "gradientStrokeWidth": 0,
            "symbolOpacity": 1,
        },
        "title": {
            "fontSize": font,
            "fontWeight": "bold",
            "color": "#222222",
            "anchor": "start",
            "frame": "group",
            "offset": font / 2,
            "subtitleColor": "#5a5a5a",
        },
        "text": {"fontSize": font, "color": "#222222"},
        "concat": {"spacing": font},
    }


def number_axis(title: str, values: Sequence[float] | None = None, **settings: Any) -> Spec:
    """An axis with these ticks, or with a few."""
    few = {"tickCount": 4} if values is None else {"values": list(values)}
    # flush labels are moved inwards at the ends of the axis, away from their ticks
    return {"title": title, "labelFlush": False, **few, **settings}


def points_axis(marks: Sequence[float], field: str, title: str) -> Spec:
    """An encoding of scores in points, from the first to the last of these ticks, with grid lines."""
    scale = {"domain": [marks[0], marks[-1]], "nice": False, "zero": False}
    return {"field": field, "type": "quantitative", "scale": scale, "axis": number_axis(title, marks)}


def name_axis(style: FigureStyle, names: Iterable[str], **settings: Any) -> Spec:
    """An axis of names, none of which is omitted; very long ones are truncated."""
    return {
        "title": None,
        "labelOverlap": False,
        "labelLimit": style.label_width(names),
        "ticks": False,
        "domain": False,
        **settings,
    }


def styles(style: FigureStyle, field: str, names: Sequence[str], legend: Spec | None) -> tuple[Spec, Spec, Spec]:
    """Encodings that tell series apart by colour, by shape and by dashes; rows have the series' number as ``dash``."""
    n = range(len(names))
    # explicit domains, as Vega-Lite sorts names by the alphabet
    colour = {"domain": list(names), "range": [SERIES_COLOURS[i % len(SERIES_COLOURS)] for i in n]}
    shape = {"domain": list(names), "range": [SHAPES[i % len(SHAPES)] for i in n]}
    # by number: dashes of the same field would be drawn around the shapes of the legend
    dash = {"domain": list(n), "range": [style.dash(DASHES[i % len(DASHES)]) for i in n]}
    return (
        {"field": field, "type": "nominal", "scale": colour, "legend": legend},
        {"field": field, "type": "nominal", "scale": shape, "legend": legend},
        {"field": "dash", "type": "nominal", "scale": dash, "legend": None},
    )


def wrap_title(style: FigureStyle, text: str, width: float) -> list[str]:
    """A title in lines that fit: broken after a space or slash, or if need be after other punctuation."""
    lines = [""]
    for piece in re.findall(r"[^/ ]*[/ ]|[^/ ]+", text):
        small = (
            re.findall(r"[^\-_:?&,@]*[\-_:?&,@]|[^\-_:?&,@]+", piece)
            if style.text_width([piece]) * BOLD_WIDTH_RATIO > width
            else [piece]
        )
        for bit in small:
            if lines[-1] and style.text_width([lines[-1] + bit]) * BOLD_WIDTH_RATIO > width:
                lines.append("")
            lines[-1] += bit
    return [line.rstrip() for line in lines]


def ticks(values: Iterable[float | None]) -> list[float]:
    """Three to six ticks for an axis of points that covers these values."""
    numbers = [value for value in values if value is not None] or [0.0, 100.0]
    low, high = min(numbers), max(numbers)
    for unit in (2, 5, 10, 20):
        first, last = math.floor(low / unit), max(math.ceil(high / unit), math.floor(low / unit) + 2)
        if last - first <= 5:
            break
    if last * unit > 100 >= high:  # no accuracy is above
        first, last = min(first, 100 // unit - 2), 100 // unit
    return [float(unit * i) for i in range(first, last + 1)]


def points(value: float | None) -> float | None:
    """A fraction in points."""
    return None if value is None else round(100 * value, 4)


def numbers(value: float | None, low: float | None, high: float | None) -> Row:
    """A fraction and the ends of its interval, as they are and in points."""
    in_points = {"points": points(value), "points_low": points(low), "points_high": points(high)}
    return {"value": value, "low": low, "high": high, **in_points}


def tooltip() -> Spec:
    """The tooltip of a row."""
    return {"field": "text", "type": "nominal"}


SIDES = ("right", "left", "above", "below")
"""Where a label may be, in the order in which they are tried."""

Numbers = npt.NDArray[np.float64]


def place_labels(
    panels: Sequence[Numbers], sizes: Numbers, bounds: tuple[float, float], *, dot: float, most: int
) -> dict[int, list[list[str]]]:
    """Things that can be labelled in every panel, the first ones first, at most so many: the sides of their labels.

    Parameters
    ----------
    panels
        For each panel, where the dots of each thing are: (things, dots, 2), in points of the page.
    sizes
        The width and height of each label: (things, dots, 2).
    bounds
        The width and height of a panel; labels stay inside.
    dot
        The diameter of a dot.
    most
        How many things to label.
    """
    taken = [np.empty((0, 4)) for _ in panels]
    sides_of: dict[int, list[list[str]]] = {}
    for i in range(len(sizes)):
        if len(sides_of) == most:
            break
        sides, boxes = [], []
        for dots, boxes_taken in zip(panels, taken, strict=True):
            placed = _place(dots[i], sizes[i], boxes_taken, bounds, dot)
            if placed is None:
                break
            sides.append(placed[0])
            boxes.append(placed[1])
        else:
            sides_of[i] = sides
            taken = [np.concatenate([boxes_taken, placed]) for boxes_taken, placed in zip(taken, boxes, strict=True)]
    return sides_of


def _place(
    dots: Numbers, sizes: Numbers, taken: Numbers, bounds: tuple[float, float], dot: float
) -> tuple[list[str], Numbers] | None:
    """The sides of the labels of some dots (dots, 2), and all their rectangles; None if there is no room."""
    boxes = np.concatenate([dots - dot / 2, dots + dot / 2], axis=1)  # left, bottom, right, top
    if any(_hits(box, taken) for box in boxes):
        return None
    sides = []
    for (x, y), (wide, high) in zip(dots, sizes, strict=True):
        for side in SIDES:
            away = 0.8 * dot
            x_left = {"right": x + away, "left": x - away - wide}.get(side, x - wide / 2)
            bottom = {"above": y + away, "below": y - away - high}.get(side, y - high / 2)
            box = np.array([x_left, bottom, x_left + wide, bottom + high])
            inside = x_left >= 0 and bottom >= 0 and x_left + wide <= bounds[0] and bottom + high <= bounds[1]
            if inside and not _hits(box, taken) and not _hits(box, boxes):
                sides.append(side)
                boxes = np.concatenate([boxes, box[None]])
                break
        else:
            return None
    return sides, boxes


def _hits(box: Numbers, boxes: Numbers) -> bool:
    apart = (box[2] <= boxes[:, 0]) | (boxes[:, 2] <= box[0]) | (box[3] <= boxes[:, 1]) | (boxes[:, 3] <= box[1])
    return bool((~apart).any())
