"""The mean norm of the vectors by sentence length, as in Adi et al. (2017), figure 2b."""

from __future__ import annotations

from collections.abc import Sequence

from sentprobe.report.drawing.chart import (
    MAX_MARKS,
    NAME_COLUMNS,
    Chart,
    OnPage,
    Options,
    selected_columns,
    selected_sets,
)
from sentprobe.report.drawing.figure_style import Row, Spec, figure_style, number_axis, styles, tooltip
from sentprobe.report.drawing.lines import MAX_BANDS, Axes, panel_height, panels_of_lines, x_encoding
from sentprobe.report.drawing.matrix import Panel, legend_columns
from sentprobe.report.types import Summary

MEASURE = "norms"


def rows(summary: Summary, options: Options) -> list[Row]:
    """A row per set, encoder and bin of lengths; ``value`` is the mean norm, ``rho`` the correlation of all rows."""
    short, titles = selected_columns(summary, options.columns), selected_sets(summary, options.sets)
    records: list[Row] = []
    for i, title in titles.items():
        for j, name in short.items():
            variants = summary.sets[i].variants[j] if j < len(summary.sets[i].variants) else ()
            measure = next((v for v in variants if v.of == MEASURE and v.points), None)
            for p in measure.points if measure else ():
                span = f"{p['from']}" if p["from"] == p["to"] else f"{p['from']} to {p['to']}"
                records.append(
                    {
                        "set": i,
                        "set_name": title,
                        "column": j,
                        "encoder_name": name,
                        "from": p["from"],
                        "to": p["to"],
                        "x": p["length"],
                        "n": p["n"],
                        "value": p["norm"],
                        "low": p["low"],
                        "high": p["high"],
                        "rho": measure.value if measure else None,
                        "text": f"{name}, {title}, {span} words, {p['n']:,} rows: norm {p['norm']:.3g}",
                    }
                )
    return records


def spec(rows: Sequence[Row], options: Options) -> Spec:
    """A panel per set, a line per encoder; the axis of norms begins at 0, as a norm does."""
    style = figure_style(options.width)
    names = list(dict.fromkeys(row["encoder_name"] for row in rows))
    titles = list(dict.fromkeys(row["set_name"] for row in rows))
    panel_rows = [
        row
        | {"series": row["encoder_name"], "dash": names.index(row["encoder_name"])}
        | {"panel": titles.index(row["set_name"])}
        for row in rows
    ]
    key = {"title": None, "orient": "bottom", "columns": legend_columns(style, names)}
    colour, shape, dash = styles(style, "series", names, key if len(names) > 1 else None)
    bands = len(names) <= MAX_BANDS

    def draw(panel: Panel) -> Spec:
        axis = number_axis("mean norm" if panel.first else "", tickCount=4)
        y: Spec = {"field": "value", "type": "quantitative", "scale": {"zero": True, "nice": True}, "axis": axis}
        around: Spec = {"type": "area", "opacity": 0.18} if bands else {"type": "rule", "opacity": 0.45}
        return {
            "height": panel_height(style, panel),
            "encoding": {"x": x_encoding(style, Axes(x="words" if panel.last else "")), "color": colour},
            "layer": [
                {"mark": around, "encoding": {"y": {**y, "field": "low"}, "y2": {"field": "high"}}},
                {
                    "mark": {"type": "line", "strokeWidth": style.font / 6},
                    "encoding": {"y": y, "strokeDash": dash},
                },
                {
                    "mark": {"type": "point", "filled": True, "size": style.dot(10), "opacity": 1},
                    "encoding": {"y": y, "shape": shape, "tooltip": tooltip()},
                },
            ],
        }

    return panels_of_lines(style, panel_rows, titles, draw)


chart = Chart(
    name="norms",
    order=72,
    title="Norm of the vectors by sentence length",
    doc="the mean norm of the vectors by sentence length, a line per encoder (`sentprobe run --measures norms`)",
    needs="A figure of norms needs the measure `norms`: sentprobe run --measures norms. The run has none.",
    rows=rows,
    spec=spec,
    caption="Each point is the mean norm of the vectors of test sentences of similar length; bands or lines: {level} "
    "intervals of the mean.",
    page=OnPage(
        section="controls",
        heading="Norm and length",
        intro="Averages of word vectors shrink as sentences grow, so that the norm alone gives the length away; "
        "normalised vectors have no such trace.",
        caption="Mean norms of the vectors of test sentences, by neighbouring lengths, with {level} intervals.",
        max_rows=MAX_MARKS,
        columns=(
            *NAME_COLUMNS,
            ("x", "Words"),
            ("n", "Rows"),
            ("value", "Mean norm"),
            ("rho", "Correlation of all rows"),
        ),
    ),
)
