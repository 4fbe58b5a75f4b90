"""Accuracy by layer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sonde.report.charts.figure_style import Row, Spec, Width, figure_style, numbers
from sonde.report.charts.lines import Axes, curves
from sonde.report.charts.options import Lines, Options, require_rows, selected_columns, selected_sets
from sonde.report.interval import estimate_of, in_points

NEEDS = "Layers need an encoder that gives several: sonde run -e 'hf:MODEL?layer=*'. The run has none."


def chart(summary: Mapping[str, Any], options: Options) -> tuple[list[Row], Spec]:
    """The figure of these options."""
    found = rows(summary, sets=options.sets, columns=options.columns)
    return require_rows(found, NEEDS), spec(found, width=options.width, lines=options.lines)


def rows(summary: Mapping[str, Any], *, sets: Sequence[int] = (), columns: Sequence[int] = ()) -> list[Row]:
    """A row per encoder, set and layer; ``by_dev``: whether dev chose that layer."""
    short, titles = selected_columns(summary, columns), selected_sets(summary, sets)
    found = []
    for of in summary["layers"]:
        j = of["column"]
        if j not in short:
            continue
        for i in titles:
            for name, line in zip(of["names"], of["cells"], strict=True):
                value, low, high = estimate_of(line[i])
                if value is None:
                    continue
                layer = "–" if name is None else name
                found.append(
                    {
                        "set": i, "set_name": titles[i], "column": j, "encoder_name": short[j],
                        "metric": summary["sets"][i]["scored_by"], "layer": layer,
                        "x": int(layer) if layer.isdecimal() else layer, "by_dev": bool(line[i]["by_dev"]),
                        **numbers(value, low, high),
                        "text": f"{short[j]}, layer {layer}, {titles[i]}: {in_points(value, low, high)}",
                    }
                )  # fmt: skip
    return found


def spec(rows: Sequence[Row], *, width: Width = "container", lines: Lines | None = None) -> Spec:
    """Layers at even distances, by number where they have numbers."""
    names = list(dict.fromkeys(row["x"] for row in rows))
    if all(isinstance(name, int) for name in names):
        axes = Axes(x="layer", ticks=sorted(names))
    else:
        rows = [row | {"x": str(row["x"])} for row in rows]
        axes = Axes(x="layer", scale="point", ticks=list(map(str, names)))
    return curves(figure_style(width), rows, axes, lines)
