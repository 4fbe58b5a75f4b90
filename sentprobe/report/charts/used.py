"""What vectors contain beside what similarity uses: a panel per property, a line per encoder."""

from __future__ import annotations

from collections.abc import Sequence

from sentprobe.core.formatting import POINTS
from sentprobe.core.table import plain
from sentprobe.report.cells import estimate_of
from sentprobe.report.drawing.chart import INTERVAL_COLUMNS, NAME_COLUMNS, Chart, OnPage, Options
from sentprobe.report.drawing.figure_style import Row, Spec, figure_style, numbers
from sentprobe.report.drawing.lines import INTERVAL_CAPTION, Axes, curves
from sentprobe.report.names import short_names
from sentprobe.report.types import CellSummary, Summary
from sentprobe.report.used import TITLE, PropertyUse, property_uses
from sentprobe.results.metric import DEFAULT_METRIC
from sentprobe.results.run_kinds.pairs import SIMILARITIES

SIDES = ("contained", "used")
BASELINE = "best baseline"


def rows(summary: Summary, options: Options) -> list[Row]:
    """A row per property, encoder and side; and one for the best baseline of each."""
    uses = [
        use
        for use in property_uses(summary)
        if (not options.sets or {use.contained_set, use.used_set} & set(options.sets))
        and (not options.columns or {use.contained_column, use.used_column} & set(options.columns))
    ]
    labels = list(dict.fromkeys(_label(summary, use) for use in uses))
    short = dict(zip(labels, short_names(labels), strict=True))
    records: list[Row] = []
    for use in uses:
        name, title = short[_label(summary, use)], _title(summary, use, uses)
        for side, cell in zip(SIDES, (use.contained, use.used), strict=True):
            value, low, high = estimate_of(cell)
            head = {"set_name": title, "side": side, "metric": DEFAULT_METRIC}
            records.append(
                head
                | {"encoder_name": name, "reading": use.reading, **numbers(value, low, high)}
                | {"text": f"{name}, {title}, {side}: {POINTS.with_interval(value, low, high)} ({use.reading})"}
            )
            records += _baseline(head, cell, title, side)
    return _distinct(records)


def _label(summary: Summary, use: PropertyUse) -> str:
    """The encoder, and the similarity if there are several."""
    column = summary.columns[use.used_column]
    several = len({c.probe for c in summary.columns} & SIMILARITIES.keys()) > 1
    return plain(f"{column.label[0]}, {column.probe}" if several else column.label[0])


def _title(summary: Summary, use: PropertyUse, uses: Sequence[PropertyUse]) -> str:
    """The kind of contrast; and the probing set, if a kind has several."""
    several = len({(u.contained_set, u.used_set) for u in uses if u.kind == use.kind}) > 1
    return plain(f"{use.kind} ({summary.sets[use.contained_set].label})" if several else use.kind)


def _baseline(head: Row, cell: CellSummary, title: str, side: str) -> list[Row]:
    if cell.against is None:
        return []
    text = f"{plain(cell.against.baseline)}, {title}, {side}: {POINTS.with_interval(cell.against.value)}"
    return [head | {"encoder_name": BASELINE, "reading": None, **numbers(cell.against.value, None, None), "text": text}]


def _distinct(records: Sequence[Row]) -> list[Row]:
    """Encoders first; the best baseline of a side once, although every encoder is compared with it."""
    unique = {(row["set_name"], row["encoder_name"], row["side"]): row for row in records}
    return sorted(unique.values(), key=lambda row: row["encoder_name"] == BASELINE)


def spec(rows: Sequence[Row], options: Options) -> Spec:
    """A slope from what is contained to what is used."""
    points = [row | {"x": row["side"]} for row in rows]
    return curves(figure_style(options.width), points, Axes(x="", scale="point", ticks=SIDES), "encoder")


chart = Chart(
    name="used",
    order=25,
    title=TITLE,
    doc="for each property, what a probe finds in the vectors beside what their similarity uses (`sentprobe pairs` and "
    "`sentprobe run` in one folder, or both runs)",
    needs="A figure of what is used needs triplets and a probing set of the same property: sentprobe pairs and "
    "sentprobe run, with the same encoder. The run has none.",
    rows=rows,
    spec=spec,
    caption=f"Contained: accuracy of a probe. Used: the share of triplets whose positive is nearer. Each side has its "
    f"own best baseline. {INTERVAL_CAPTION}",
    page=OnPage(
        section="used",
        heading="Contained and used",
        caption="Contained: accuracy of a probe on the probing set. Used: the share of triplets whose positive is "
        "nearer. Each side has its own best baseline; {level} intervals.",
        columns=(*NAME_COLUMNS, ("side", "Side"), *INTERVAL_COLUMNS, ("reading", "Reading")),
    ),
)
