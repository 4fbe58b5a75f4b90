"""Word translation by the frequency of the source word, as in Conneau (2019), figure 4.3."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt

from sentprobe.core.formatting import POINTS
from sentprobe.core.table import plain
from sentprobe.report.drawing.chart import INTERVAL_COLUMNS, Chart, OnPage, Options, selected_sets
from sentprobe.report.drawing.figure_style import Row, Spec, figure_style, numbers
from sentprobe.report.drawing.lines import CURVE_FIELDS, Axes, curves
from sentprobe.report.names import short_names
from sentprobe.report.types import Summary


def rows(summary: Summary, options: Options) -> list[Row]:
    """A row per set, system, scoring and band of frequency ranks; ``x`` is the geometric mean of its ends."""
    curve_points: list[Row] = []
    if summary.word_spaces is None:
        return curve_points
    titles = selected_sets(summary, options.sets)
    systems = list(dict.fromkeys(column.encoder for column in summary.columns))
    short_by_system = dict(zip(systems, short_names(systems), strict=True))
    for curve in summary.word_spaces.frequency:
        if curve.set not in titles or (options.columns and curve.column not in options.columns):
            continue
        column = summary.columns[curve.column]
        system, scoring = short_by_system[column.encoder], plain(column.probe or "")
        for band in curve.bands:
            value = band.correct / band.n
            curve_points.append(
                {
                    "set": curve.set,
                    "set_name": titles[curve.set],
                    "column": curve.column,
                    "encoder_name": system,
                    "scoring": scoring,
                    "metric": summary.sets[curve.set].scored_by,
                    "from": band.low,
                    "to": band.high,
                    "x": round(sqrt(band.low * band.high), 1),
                    "n": band.n,
                    "correct": band.correct,
                    **numbers(value, band.below, band.above),
                    "text": f"{system}, {titles[curve.set]}, {scoring}, ranks {band.low:,} to {band.high:,}, "
                    f"{band.n:,} words: {POINTS.with_interval(value, band.below, band.above)}",
                }
            )
    return curve_points


def spec(rows: Sequence[Row], options: Options) -> Spec:
    """A panel per system and a line per scoring, or the other way round."""
    fields = ("scoring", "encoder_name") if options.lines != "encoder" else ("encoder_name", "scoring")
    sets = len({row["set"] for row in rows}) > 1
    line_rows = [
        row | {"encoder_name": row[fields[0]], "set_name": row[fields[1]] + (f", {row['set_name']}" if sets else "")}
        for row in rows
    ]
    return curves(figure_style(options.width), line_rows, Axes(x="frequency rank", scale="log"), "encoder")


chart = Chart(
    name="frequency",
    order=120,
    title="Word translation by frequency",
    doc="precision@1 of word translation by the frequency rank of the source word, a panel per system and a line per "
    "retrieval scoring (`sentprobe words`)",
    needs="A figure by frequency needs a run of `sentprobe words` with word translation; there is none.",
    rows=rows,
    spec=spec,
    fields=(
        "set",
        "set_name",
        "column",
        "encoder_name",
        "scoring",
        "metric",
        "from",
        "to",
        "x",
        "n",
        "correct",
        *CURVE_FIELDS,
    ),
    options={"lines": "`--lines encoder`: a line is a system, and a scoring is a panel"},
    caption="Each point is a band of frequency ranks of source words, 1 being the most frequent, with about the same "
    "number of test words; bands or lines: {level} intervals.",
    page=OnPage(
        section="words",
        heading="Word frequency",
        caption="Precision@1 of word translation by the frequency rank of the source word, with {level} intervals.",
        columns=(
            ("set_name", "Set"),
            ("encoder_name", "System"),
            ("scoring", "Scoring"),
            ("from", "Rank from"),
            ("to", "to"),
            ("n", "Words"),
            *INTERVAL_COLUMNS,
        ),
    ),
)
