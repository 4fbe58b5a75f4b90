"""Accuracy by layer."""

from __future__ import annotations

from collections.abc import Sequence

from sentprobe.core.formatting import POINTS
from sentprobe.core.table import plain
from sentprobe.report.cells import estimate_of
from sentprobe.report.drawing.chart import (
    INTERVAL_COLUMNS,
    NAME_COLUMNS,
    Chart,
    OnPage,
    Options,
    selected_columns,
    selected_sets,
)
from sentprobe.report.drawing.figure_style import Row, Spec, figure_style, numbers
from sentprobe.report.drawing.lines import INTERVAL_CAPTION, LINES_OPTION, Axes, Reference, curves
from sentprobe.report.types import SetSummary, Summary

REFERENCE_CAPTION = "Dashed: the best baseline of the set; dash-dotted, where known: human performance."


def rows(summary: Summary, options: Options) -> list[Row]:
    """A row per encoder, set and layer; ``by_dev``: whether dev chose that layer."""
    short, titles = selected_columns(summary, options.columns), selected_sets(summary, options.sets)
    records: list[Row] = []
    for table in summary.layers:
        j = table.column
        if j not in short:
            continue
        for i, title in titles.items():
            s = summary.sets[i]
            chosen = s.cells[j]
            against = chosen.against if chosen is not None else None
            compared = {
                "baseline": against and against.value,
                "baseline_name": against and plain(against.baseline),
                "human": _human(s),
                "human_of": "this set" if s.people else s.printed_for if s.human else None,
            }
            for name, line in zip(table.names, table.cells, strict=True):
                cell = line[i]
                value, low, high = estimate_of(cell)
                if cell is None or value is None:
                    continue
                layer = "–" if name is None else name
                records.append(
                    {
                        "set": i,
                        "set_name": title,
                        "column": j,
                        "encoder_name": short[j],
                        "metric": summary.sets[i].scored_by,
                        "layer": layer,
                        "x": int(layer) if layer.isdecimal() else layer,
                        "by_dev": cell.by_dev,
                        **numbers(value, low, high),
                        **compared,
                        "text": f"{short[j]}, layer {layer}, {title}: {POINTS.with_interval(value, low, high)}",
                    }
                )
    return records


def spec(rows: Sequence[Row], options: Options) -> Spec:
    """Layers at equal distances, by number where they have numbers."""
    names = list(dict.fromkeys(row["x"] for row in rows))
    if all(isinstance(name, int) for name in names):
        axes = Axes(x="layer", ticks=sorted(names))
    else:
        rows = [row | {"x": str(row["x"])} for row in rows]
        axes = Axes(x="layer", scale="point", ticks=list(map(str, names)))
    return curves(figure_style(options.width), rows, axes, options.lines or "encoder", _references(rows))


def _human(s: SetSummary) -> float | None:
    """The accuracy of people: of your annotators if there are any, or else as a paper printed it."""
    human = s.people or s.human
    return human.accuracy if human else None


def _references(rows: Sequence[Row]) -> list[Reference]:
    """The best baseline of each set, several if encoders were run on different samples, and human performance."""
    references: dict[tuple[str, str, float], Reference] = {}
    for row in rows:
        title, baseline = row["set_name"], row["baseline_name"]
        if row["baseline"] is not None:
            text = f"best baseline on {title}: {baseline}, {POINTS.with_interval(row['baseline'])}"
            key = title, "best baseline", row["baseline"]
            references.setdefault(key, Reference(title, "best baseline", 100 * row["baseline"], text))
        if row["human"] is not None:
            of = "" if row["human_of"] == "this set" else f" ({row['human_of']})"
            text = f"human performance on {title}{of}: {POINTS.with_interval(row['human'])}"
            references.setdefault((title, "human", row["human"]), Reference(title, "human", 100 * row["human"], text))
    return list(references.values())


def page_caption(rows: Sequence[Row]) -> str:
    """What is drawn."""
    baseline = " Dashed: the best baseline of the set." if any(row["baseline"] is not None for row in rows) else ""
    human = " Dash-dotted: human performance." if any(row["human"] is not None for row in rows) else ""
    return "Scores by layer, with {level} intervals." + baseline + human


chart = Chart(
    name="layers",
    order=30,
    title="Scores by layer",
    doc="accuracy by layer",
    needs="A figure of layers needs an encoder with several layers: sentprobe run -e 'hf:MODEL?layer=*'. "
    "The run has none.",
    rows=rows,
    spec=spec,
    options={"lines": LINES_OPTION},
    caption=f"{INTERVAL_CAPTION} {REFERENCE_CAPTION}",
    page=OnPage(
        section="trends",
        heading="Layers",
        intro="The table above shows the layer that was best on dev.",
        caption=page_caption,
        columns=(*NAME_COLUMNS, ("layer", "Layer"), *INTERVAL_COLUMNS, ("by_dev", "chosen on dev")),
        absent="No encoder was run with several layers.",
    ),
)
