"""The charts on the page: their specs in the colours of the page, and their rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from sentprobe.errors import UsageError
from sentprobe.report.charts import CHARTS, Chart, Options
from sentprobe.report.drawing.chart import Mode, OnPage, above_baselines
from sentprobe.report.drawing.figure_style import Row, Spec, figure_style
from sentprobe.report.drawing.matrix import BREAK
from sentprobe.report.extension import attempt
from sentprobe.report.names import short_names
from sentprobe.report.page.header import languages_of
from sentprobe.report.types import Summary
from sentprobe.stats.level import with_levels

FONT = "system-ui, -apple-system, Segoe UI, Roboto, Helvetica Neue, Noto Sans, Liberation Sans, Arial, sans-serif"
"""That of page.css; Vega measures text in it."""
INK, MUTED, LINE, GRID_COLOUR = "var(--ink)", "var(--muted)", "var(--line)", "var(--grid)"
TEXT_COLOURS = {"labelColor": INK, "titleColor": MUTED}
THEME_CONFIG: Mapping[str, Mapping[str, Any]] = {
    "axis": {**TEXT_COLOURS, "domainColor": LINE, "tickColor": LINE, "gridColor": GRID_COLOUR},
    "legend": {**TEXT_COLOURS, "titleLimit": 0},
    "title": {"color": INK, "subtitleColor": MUTED},
    "text": {"color": INK},
}
MIN_CELL_WIDTH, MAX_CELL_WIDTH, LEGEND_WIDTH = 36, 170, 220
"""Widths in pixels: a cell of a matrix, with four digits and with a name below it; and the legend of its colours."""
THEMED = {"#222222": INK, "#5a5a5a": MUTED, "#9c9c9c": "var(--faint)", "#ffffff": "var(--paper)"}
"""Colours of charts that depend on the background of the page; cells of a matrix have their own."""
MODE_TITLES = {
    "absolute": "scores",
    "above": "points above the best baseline",
    "encoder": "ratios to one column",
    "language": "ratios to the same task in a language",
}
"""The modes between which a chart can be switched on the page. Ratios are of the mode "relative"."""


@dataclass(frozen=True)
class Figure:
    """A chart with the data of a run."""

    chart: Chart
    on_page: OnPage
    specs: Mapping[str, Spec]
    """By mode; the first is shown."""
    rows: Sequence[Row]
    ratios: Mapping[str, Sequence[Sequence[float | None]]] = field(default_factory=dict)
    """By "encoder" and "language", for each of the ``references`` the ratio of every row."""
    references: Mapping[str, Sequence[str]] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The name of the chart."""
        return self.chart.name

    @property
    def caption(self) -> str:
        """What is drawn."""
        caption = self.on_page.caption if isinstance(self.on_page.caption, str) else self.on_page.caption(self.rows)
        return with_levels(caption, "\u00a0")

    @property
    def section(self) -> str:
        """The section in which it is shown."""
        return self.on_page.section

    @property
    def modes(self) -> list[tuple[str, str]]:
        """What the reader can switch between, with titles; nothing if there is only one."""
        modes = [mode for mode in self.specs if mode != "relative"] + list(self.ratios)
        return [(mode, MODE_TITLES[mode]) for mode in modes] if len(modes) > 1 else []

    def data(self) -> dict[str, Any]:
        """Everything that the script needs."""
        used = _fields(self.specs) | {name for name, _ in self.on_page.columns}
        names = [name for name in dict.fromkeys(name for row in self.rows for name in row) if name in used]
        first, *_ = self.specs.values()
        return {
            "specs": {mode: _bare(spec) for mode, spec in self.specs.items()},
            "rows": {name: _column([row.get(name) for row in self.rows]) for name in names},
            "columns": list(self.on_page.columns),
            "ratios": self.ratios,
            "references": self.references,
            **_room(first),
        }


def _fields(spec: Any) -> set[str]:
    """The fields of rows that a spec uses."""
    if isinstance(spec, Mapping):
        fields = {spec["field"]} if isinstance(spec.get("field"), str) else set()
        return fields.union(*map(_fields, spec.values()))
    return set().union(*map(_fields, spec)) if isinstance(spec, list) else set()


def _column(values: Sequence[Any]) -> Any:
    """One field of all rows; repeated texts are stored once, and referred to by index."""
    values = [_short(value) if isinstance(value, float) else value for value in values]
    texts = list(dict.fromkeys(value for value in values if isinstance(value, str)))
    if 2 * len(texts) > len(values) or not texts:
        return values
    index = {text: i for i, text in enumerate(texts)}
    return {"texts": texts, "at": [index[value] if isinstance(value, str) else None for value in values]}


def _short(value: float) -> float:
    """Five digits, and whole numbers without a point: a page has thousands of them."""
    return int(value) if value.is_integer() else round(value, 5)


def figures_of(summary: Summary) -> tuple[list[Figure], list[tuple[str, str]]]:
    """Every chart that belongs on the page and has data; and for the rest, titles and why they have not."""
    figures: list[Figure] = []
    absent: list[tuple[str, str]] = []
    for chart in CHARTS.parts().values():
        if chart.page is None:
            continue
        figure = attempt(f"The chart {chart.name}", partial(_figure, chart, chart.page, summary))
        if figure is not None and chart.page.max_rows is not None and len(figure.rows) > chart.page.max_rows:
            marks = f"There are {len(figure.rows):,} marks, too many for a page"
            why = f"{marks}: sentprobe figure --kind {chart.name} --on …"
            absent.append((chart.page.heading or chart.title, f"{why} draws some."))
        elif figure is not None:
            figures.append(figure)
        elif chart.page.absent:
            absent.append((chart.page.heading or chart.title, chart.page.absent))
    return figures, absent


def _figure(chart: Chart, on_page: OnPage, summary: Summary) -> Figure | None:
    try:
        rows, spec = chart.draw(summary, Options())
    except UsageError:  # there is nothing to draw
        return None
    # some charts add fields for drawing
    drawn_rows = spec["data"]["values"]
    return (
        _switchable(chart, on_page, summary, rows)
        if on_page.switch
        else Figure(chart, on_page, {"absolute": spec}, drawn_rows)
    )


def _switchable(chart: Chart, on_page: OnPage, summary: Summary, rows: Sequence[Row]) -> Figure:
    """The chart in all its modes; ratios to every encoder and language are computed here, and chosen by the reader."""
    names = short_names([column.name for column in summary.columns])
    languages = languages_of(summary)
    references: dict[str, list[int | str]] = {"encoder": list(range(len(names))), "language": [*languages]}
    names_of: dict[str, list[str]] = {}
    ratios: dict[str, list[list[float | None]]] = {}
    for kind, every in references.items():
        for to in every if len(every) > 1 else ():
            try:
                relative = chart.rows(summary, Options(mode="relative", relative_to=to))
            except UsageError:  # nothing can be compared with it
                continue
            ratios.setdefault(kind, []).append([_ratio(row) for row in relative])
            names_of.setdefault(kind, []).append(names[to] if isinstance(to, int) else to)
    modes: list[Mode] = ["above", "absolute"] if above_baselines(rows) else ["absolute"]
    specs: dict[str, Spec] = {mode: chart.spec(rows, Options(mode=mode)) for mode in modes}
    if ratios:
        # one scale for whatever is chosen
        compared = [
            {**row, "ratio": r}
            for kind in ratios.values()
            for ratios_of in kind
            for row, r in zip(rows, ratios_of, strict=True)
        ]
        specs["relative"] = chart.spec(compared, Options(mode="relative"))
    first, *_ = specs.values()
    return Figure(chart, on_page, specs, first["data"]["values"], ratios, names_of)


def _ratio(row: Row) -> float | None:
    """As precise as it is printed in a cell; there are encoders² × sets of them."""
    return None if row["ratio"] is None else round(row["ratio"], 3)


def _domains(spec: Mapping[str, Any]) -> tuple[list[str], list[str]]:
    """The names of the columns and of the rows of a matrix; nothing for other charts."""
    encoding = spec.get("encoding", {}) if isinstance(spec.get("height"), dict) else {}
    xs, ys = (encoding.get(name, {}).get("scale", {}).get("domain", []) for name in ("x", "y"))
    return xs, ys


def _room(spec: Mapping[str, Any]) -> dict[str, float]:
    """Widths in pixels: what a matrix needs for the numbers in its cells, and above which cells look empty."""
    xs, ys = _domains(spec)
    if not xs:
        return {}
    style = figure_style("container")
    names = style.text_width(ys)
    cell_width = min(
        MIN_CELL_WIDTH, (style.total - names) / len(xs)
    )  # the size of the numbers was chosen for the second
    if spec["encoding"]["x"]["axis"].get("labelAngle") == 0:
        lines = [line for name in xs for line in name.split(BREAK)]
        cell_width = max(cell_width, style.text_width(lines) + style.font / 2)
    wide = max(len(xs) * cell_width, LEGEND_WIDTH)
    return {"least": round(names + wide), "most": round(names + max(wide, len(xs) * MAX_CELL_WIDTH))}


def _bare(spec: Mapping[str, Any]) -> dict[str, Any]:
    """A spec without its rows, in the colours of the page's theme."""
    # colours are CSS variables: the SVG follows a change of theme without being drawn again
    _, ys = _domains(spec)
    if ys:  # Vega-Lite warns about steps in a container
        spec = {**spec, "height": spec["height"]["step"] * len(ys)}
    config = {**spec.get("config", {}), "font": FONT, "background": None}
    config |= {name: {**config.get(name, {}), **setting} for name, setting in THEME_CONFIG.items()}
    view = {name: setting for name, setting in spec.items() if name not in ("config", "data")}
    return {**(view if ys else _themed(view)), "config": config}


def _themed(value: Any, of: str = "") -> Any:
    """The same with colours of the theme; ``of``: the property that has this value."""
    if isinstance(value, str):
        return THEMED.get(value, value) if of in ("color", "fill", "stroke", "range") else value
    if isinstance(value, dict):
        return {name: _themed(item, name) for name, item in value.items()}
    return [_themed(item, of) for item in value] if isinstance(value, list) else value
