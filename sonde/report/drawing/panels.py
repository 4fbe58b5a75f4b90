"""Several panels in a figure: how many stand side by side, how wide each is, and what they share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from sonde.report.drawing.figure_style import SCHEMA, FigureStyle, Row, Spec, config, wrap_title


class Panel(NamedTuple):
    """Where a panel stands."""

    number: int
    width: float
    first: bool
    """Nothing stands left of it: it has the names and titles of its line."""
    last: bool
    """Nothing stands below it."""


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
) -> Spec:
    """Panels with titles, as many in a line as have ``least`` points of width; rows say by ``panel`` where they belong.

    ``beside``: what names and numbers take at the left of the first panel of a line; ``gap``: of the others, with
    what separates panels.
    """
    many = max(1, min(len(titles), int((style.total - label_width + gap) // (min_width + gap))))
    lines = -(-len(titles) // many)
    many = -(-len(titles) // lines)  # as even as it goes: five panels stand three and two, not four and one
    width = round((style.total - label_width - gap * (many - 1)) / many - 2, 1)
    panels = []
    for i, title in enumerate(titles):
        own = {"filter": {"field": "panel", "equal": i}}
        view = draw(Panel(i, width, i % many == 0, i + many >= len(titles)))
        panels.append(
            {
                "title": {"text": wrap_title(style, title, width), "limit": width + gap},
                "width": width,
                **view,
                "transform": [own, *view.get("transform", ())],
            }
        )
    shared = {"scale": dict.fromkeys(("color", "fill", "shape", "strokeDash"), "shared")}
    return {
        "$schema": SCHEMA,
        "config": config(style.font),
        "data": {"values": list(rows)},
        "columns": many,
        "spacing": {"column": style.font, "row": style.font},
        "align": "each",
        "resolve": shared,
        "concat": panels,
    }


def legend_columns(style: FigureStyle, names: Sequence[str]) -> int:
    """How many names stand side by side in a legend below the panels."""
    return max(1, min(len(names), int(style.total // (style.text_width(names) + 3.5 * style.font))))
