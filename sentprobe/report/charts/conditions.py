"""Natural, permuted and synthetic text: Adi et al. (2017), figures 2a and 4.

Where encoders differ in their size, scores are drawn by size, with a line per kind of text; elsewhere a line per
encoder leads from natural text to permuted and to synthetic text.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sentprobe.core.formatting import POINTS
from sentprobe.core.table import plain
from sentprobe.report.drawing.chart import (
    INTERVAL_COLUMNS,
    NAME_COLUMNS,
    Chart,
    OnPage,
    Options,
    selected_columns,
    selected_sets,
    share_metric,
)
from sentprobe.report.drawing.figure_style import Row, Spec, figure_style, numbers
from sentprobe.report.drawing.lines import INTERVAL_CAPTION, Axes, curves
from sentprobe.report.names import short_names
from sentprobe.report.types import SetSummary, Summary

NATURAL = "natural"
MAX_ROWS = 600
"""On the page: the chart of controls shows the same numbers, of larger runs too."""
CONTROLS = ("permuted", "synthetic")
"""Controls that are trained and tested on other texts of the same length."""


def rows(summary: Summary, options: Options) -> list[Row]:
    """A row per set, encoder and kind of text; ``size`` where the encoder is one of several sizes."""
    short, titles = selected_columns(summary, options.columns), selected_sets(summary, options.sets)
    sizes = {point.column: (point.series, point.x) for point in summary.curves.dimension}
    records: list[Row] = []
    for i, title in titles.items():
        for j, name in short.items():
            scores = list(_scores(summary.sets[i], j))
            if len(scores) < 2:
                continue
            series, size = sizes.get(j, (None, None))
            records += [
                {
                    "set": i,
                    "set_name": title,
                    "column": j,
                    "encoder_name": name,
                    "text_kind": kind,
                    "series_name": series and plain(series),
                    "size": size,
                    "metric": share_metric(summary.sets[i]),
                    **numbers(value, low, high),
                    "text": f"{name}, {title}, {kind} text: {POINTS.with_interval(value, low, high)}",
                }
                for kind, value, low, high in scores
            ]
    return records


def _scores(s: SetSummary, column: int) -> Iterator[tuple[str, float, float | None, float | None]]:
    cell = s.cells[column]
    variants = s.variants[column] if column < len(s.variants) else ()
    if cell is None:
        return
    yield NATURAL, cell.accuracy, cell.low, cell.high
    for name in CONTROLS:
        for v in variants:
            if v.of == name and v.kind == "control" and v.lost is not None:
                yield name, v.value, v.low, v.high


def spec(rows: Sequence[Row], options: Options) -> Spec:
    """By size if every encoder has one, otherwise by kind of text."""
    style = figure_style(options.width)
    kinds = [kind for kind in (NATURAL, *CONTROLS) if any(row["text_kind"] == kind for row in rows)]
    sizes = {row["size"] for row in rows}
    if None not in sizes and len(sizes) > 1:
        series = list(dict.fromkeys(row["series_name"] for row in rows))
        names = dict(zip(series, short_names(series), strict=True))
        points = [
            row | {"x": row["size"], "encoder_name": _line(row, names) if len(series) > 1 else row["text_kind"]}
            for row in rows
        ]
        points.sort(key=lambda row: (kinds.index(row["text_kind"]), row["set"], row["x"]))
        return curves(style, points, Axes(x="dimensions", ticks=sorted(sizes)), "encoder")
    points = [row | {"x": row["text_kind"]} for row in rows]
    return curves(style, points, Axes(x="text", scale="point", ticks=kinds), "encoder")


def _line(row: Row, names: dict[str, str]) -> str:
    return f"{names[row['series_name']]}, {row['text_kind']}"


chart = Chart(
    name="conditions",
    by_accuracy=True,
    order=56,
    title="Scores on natural, permuted and synthetic text",
    doc="scores on natural text, on the same words in random order, and on random words; by size where encoders differ "
    "in it (`sentprobe run --controls permuted,synthetic`)",
    needs="A figure of conditions needs the controls permuted or synthetic: sentprobe run --controls "
    "permuted,synthetic. The run has none.",
    rows=rows,
    spec=spec,
    caption=f"Permuted: trained and tested on the same words in random order; synthetic: on as many random words. "
    f"{INTERVAL_CAPTION}",
    page=OnPage(
        section="controls",
        heading="Natural, permuted and synthetic text",
        intro="What is lost from natural to permuted text is due to the order of words; what is left on random words "
        "is due to the length.",
        caption="Probes are trained and tested on each kind of text, by encoders that were trained on natural text; "
        "{level} intervals.",
        max_rows=MAX_ROWS,
        columns=(*NAME_COLUMNS, ("text_kind", "Text"), *INTERVAL_COLUMNS),
    ),
)
