"""A hundred words of both languages of an alignment in two dimensions, before and after mapping."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from sentprobe.core.table import plain
from sentprobe.lab.alignment.folder import open_alignment
from sentprobe.lab.alignment.projection import project_words
from sentprobe.report.drawing.chart import Chart, Options
from sentprobe.report.drawing.figure_style import (
    SERIES_COLOURS,
    FigureStyle,
    Numbers,
    Row,
    Spec,
    figure_style,
    place_labels,
    tooltip,
)
from sentprobe.report.drawing.figure_style import SIDES as LABEL_SIDES
from sentprobe.report.drawing.matrix import Panel, grid
from sentprobe.report.names import truncate_names
from sentprobe.report.types import Summary

PAIRS = 50
"""A hundred words."""
PANELS = ("before", "after")
SIDES = ("source", "target")
SMALL = 0.85
"""The size of labels, in font sizes."""
DOT = 0.4
"""The diameter of a dot, in font sizes."""


def rows(summary: Summary, options: Options) -> list[Row]:
    """A row per panel, pair and side; ``x`` and ``y`` are in points, and ``x2``, ``y2`` are of the other word.

    Of the most frequent pairs of content words, those that can be labelled; of given words, all.
    """
    if options.folder is None:
        return []
    folder = open_alignment(options.folder)
    source, target = folder.spaces()
    projection = project_words(source, target, folder.map(), options.words)
    words = [[plain(space.words[row]) for row in projection.rows[:, k]] for k, space in enumerate((source, target))]
    names = truncate_names([plain(Path(space.name).name) for space in (source, target)])
    style = figure_style(options.width)
    sizes = np.array(
        [[(SMALL * style.text_width([word]), SMALL * style.font) for word in pair] for pair in zip(*words, strict=True)]
    )
    panels = [panel_positions.transpose(1, 0, 2) for panel_positions in (projection.before, projection.after)]
    positions = _positions_in_panels(style, panels, range(len(sizes)))
    sides = _labels(style, positions, sizes)
    pair_numbers: Sequence[int] = range(len(sizes))
    if not options.words:  # again, with the scales of those that are shown
        positions = _positions_in_panels(style, panels, list(sides))
        sides = _labels(style, positions, sizes)
        pair_numbers = list(sides)
    return [
        {
            "panel_name": panel,
            "pair": number,
            "side": side,
            "language": names[k],
            "word": words[k][i],
            "translation": words[1 - k][i],
            "rank": int(projection.rows[i, k]) + 1,
            **{
                name: round(float(panel_positions[i, at, axis]), 2)
                for name, at, axis in (("x", k, 0), ("y", k, 1), ("x2", 1 - k, 0), ("y2", 1 - k, 1))
            },
            "label": sides[i][p][k] if i in sides else None,
            "given": bool(options.words),
            "text": f"{words[k][i]} ({names[k]}): {words[1 - k][i]}",
        }
        for p, (panel, panel_positions) in enumerate(zip(PANELS, positions, strict=True))
        for number, i in enumerate(pair_numbers)
        for k, side in enumerate(SIDES)
    ]


def _size(style: FigureStyle) -> tuple[float, float]:
    """The width and the height of a panel: side by side where there is room, else one above the other."""
    width = (style.total - style.font) / 2 if style.total >= 60 * style.font else style.total
    return width - 4, 1.2 * width


def _positions_in_panels(style: FigureStyle, panels: Sequence[Numbers], fitted_pairs: Sequence[int]) -> list[Numbers]:
    """Where pairs are in each panel (pairs, 2, 2), in points: those that are shown fill it, except for its margins."""
    size, margin = np.array(_size(style)), np.array([3.0, 1.5]) * style.font
    spread = []
    for panel_points in panels:
        fitted_points = panel_points[list(fitted_pairs)].reshape(-1, 2)
        low, extent = fitted_points.min(0), np.ptp(fitted_points, axis=0)
        spread.append(margin + (panel_points - low) / np.where(extent > 0, extent, 1.0) * (size - 2 * margin))
    return spread


def _labels(style: FigureStyle, panels: Sequence[Numbers], sizes: Numbers) -> dict[int, list[list[str]]]:
    return place_labels(panels, sizes, _size(style), dot=DOT * style.font, most=PAIRS)


def spec(rows: Sequence[Row], options: Options) -> Spec:
    """The words before and after; lines between translations after."""
    style = figure_style(options.width)
    width, height = _size(style)
    panel_rows = [row | {"panel": PANELS.index(row["panel_name"])} for row in rows]
    colour = {
        "field": "language",
        "type": "nominal",
        "legend": {"title": None, "orient": "bottom", "symbolType": "circle"},
        "scale": {"domain": [_language(rows, side) for side in SIDES], "range": list(SERIES_COLOURS[:2])},
    }

    def axis(field: str, most: float) -> Spec:
        return {"field": field, "type": "quantitative", "scale": {"domain": [0, round(most, 1)]}, "axis": None}

    def labels(side: str) -> Spec:
        offset = 0.8 * DOT * style.font
        shifts = {"right": {"dx": offset}, "left": {"dx": -offset}, "above": {"dy": -offset}, "below": {"dy": offset}}
        align = {"right": "left", "left": "right"}.get(side, "center")
        baseline = {"above": "bottom", "below": "top"}.get(side, "middle")
        mark = {"type": "text", "fontSize": SMALL * style.font, "align": align, "baseline": baseline, **shifts[side]}
        return {
            "transform": [{"filter": {"field": "label", "equal": side}}],
            "mark": mark,
            "encoding": {"text": {"field": "word", "type": "nominal"}, "color": colour},
        }

    def draw(panel: Panel) -> Spec:
        links = {
            "transform": [{"filter": {"field": "side", "equal": SIDES[0]}}],
            "mark": {"type": "rule", "strokeWidth": style.font / 10, "color": "#9c9c9c"},
            "encoding": {"x2": {"field": "x2"}, "y2": {"field": "y2"}},
        }
        dots = {
            "mark": {"type": "point", "filled": True, "size": style.dot(6), "opacity": 1},
            "encoding": {"color": colour, "tooltip": tooltip()},
        }
        return {
            "height": round(height, 1),
            "view": {"stroke": "#dedede"},
            "encoding": {"x": axis("x", width), "y": axis("y", height)},
            "layer": [*([links] if PANELS[panel.number] == "after" else []), dots, *map(labels, LABEL_SIDES)],
        }

    titles = ["before mapping", "after mapping"]
    return grid(style, panel_rows, titles, draw, label_width=0, min_width=width, gap=style.font)


def _language(rows: Sequence[Row], side: str) -> str:
    return next(str(row["language"]) for row in rows if row["side"] == side)


def notes(summary: Summary, rows: Sequence[Row]) -> Iterable[str]:
    """Which words there are."""
    pairs = len({row["pair"] for row in rows})
    source_language, target_language = (_language(rows, side) for side in SIDES)
    yield f"{pairs} words of {source_language} (source) and their translations in {target_language} (target)."
    if not rows[0]["given"]:
        yield "They were chosen among frequent words that are each other's nearest, so that no label hides another."
    elif any(row["label"] is None for row in rows):
        yield "Dots without a label are words whose label would hide another."


chart = Chart(
    name="words-map",
    order=140,
    title="Words of two languages before and after mapping",
    doc="a hundred words of both languages in two dimensions, before and after mapping, "
    "for a folder of `sentprobe align`",
    needs="A map of words needs an alignment: name a folder of `sentprobe align`.",
    rows=rows,
    spec=spec,
    fields=(
        "panel_name",
        "pair",
        "side",
        "language",
        "word",
        "translation",
        "rank",
        "x",
        "y",
        "x2",
        "y2",
        "label",
        "given",
    ),
    options={
        "words": "`--words`: a source word, drawn with its translation under CSLS; may be repeated. Without it, "
        "frequent words that are each other's translations, as far as their labels fit"
    },
    caption="Principal components of vectors of length one, over the words of both languages together; either panel "
    "has its own. Before mapping, vectors are as they were trained. Lines link words to their translations under CSLS.",
    notes=notes,
    needs_run=False,
    reads="alignment",
)
