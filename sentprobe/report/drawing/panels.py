"""Several panels in a figure: how many are side by side, how wide each is, and what they share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from sentprobe.report.drawing.figure_style import SCHEMA, FigureStyle, Row, Spec, config, wrap_title


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
    many = max(1, min(len(titles), int((style.total - label_width + gap) // (min_width + gap))))
    many = min(many, most or many)
    lines = -(-len(titles) // many)
    many = -(-len(titles) // lines)  # evenly: five panels are three and two, not four and one
    width = round((style.total - label_width - gap * (many - 1)) / many - 2, 1)
    panels = []
    for i, title in enumerate(titles):
        own = {"filter": {"field": "panel", "equal": i}}
        view = draw(Panel(i, width, i % many == 0, i + many >= len(titles)))
        panels.append(
            {
                "title": {"text": wrap_title(style, title, width), "limit": width + gap},
                # views above each other have widths of their own
                **({} if "vconcat" in view else {"width": width}),
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
    """The columns of a legend below the panels."""
    return max(1, min(len(names), int(style.total // (style.text_width(names) + 3.5 * style.font))))
