"""The charts of the page: their specs in the page's colours, their rows, and what they are called."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sonde.errors import UsageError
from sonde.report.charts import chart, heatmap
from sonde.report.charts.figure_style import figure_style
from sonde.report.names import short_names
from sonde.report.page.text import languages_of
from sonde.report.verdict import BOLD_NOTE, FILLED_NOTE, MARK, NOT_SIGNIFICANT

Summary = Mapping[str, Any]
Columns = Sequence[tuple[str, str]]
"""Fields of the rows that a table of them shows, and their titles."""

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
"""Pixels of a cell of a matrix, for four digits and for a name below it; and of what explains its colours."""
THEMED = {"#222222": INK, "#5a5a5a": MUTED, "#9c9c9c": "var(--faint)", "#ffffff": "var(--paper)"}
"""Colours of charts that must be seen on the page's own ground; cells of a matrix are their own."""
NAME_COLUMNS = (("set_name", "Set"), ("encoder_name", "Encoder"))
HEATMAP_COLUMNS = (
    *NAME_COLUMNS,
    ("points", "Score, × 100"),
    ("points_above", "above the best baseline"),
    ("verdict", "verdict"),
    ("ratio", "ratio"),
)
INTERVAL_COLUMNS = (("points", "Score, × 100"), ("points_low", "from"), ("points_high", "to"))


@dataclass(frozen=True)
class Figure:
    """A chart and its place on the page."""

    name: str
    label: str
    """What someone is told who does not see it."""
    caption: str
    columns: Columns
    specs: Mapping[str, Any]
    """By mode; the first is shown."""
    rows: Sequence[Mapping[str, Any]]
    more: Mapping[str, Any] = field(default_factory=dict)

    def data(self) -> dict[str, Any]:
        """All of it that a script needs."""
        kept = _fields(self.specs) | {name for name, _ in self.columns}
        names = [name for name in dict.fromkeys(name for row in self.rows for name in row) if name in kept]
        return {
            "specs": self.specs,
            "rows": {name: _column([row.get(name) for row in self.rows]) for name in names},
            "columns": list(self.columns),
            **self.more,
        }


def _fields(spec: Any) -> set[str]:
    """The fields of rows that a spec speaks of."""
    if isinstance(spec, Mapping):
        own = {spec["field"]} if isinstance(spec.get("field"), str) else set()
        return own.union(*map(_fields, spec.values()))
    return set().union(*map(_fields, spec)) if isinstance(spec, list) else set()


def _column(values: Sequence[Any]) -> Any:
    """One field of all rows; texts that return are written once, and by their place."""
    values = [round(value, 5) if isinstance(value, float) else value for value in values]
    texts = list(dict.fromkeys(value for value in values if isinstance(value, str)))
    if 2 * len(texts) > len(values) or not texts:
        return values
    place = {text: i for i, text in enumerate(texts)}
    return {"texts": texts, "at": [place[value] if isinstance(value, str) else None for value in values]}


def figures_of(summary: Summary) -> dict[str, Figure]:
    """Every chart that the summary has data for."""
    found = (make(summary) for make in (_heatmap, *(_simple(*own) for own in SIMPLE_FIGURES)))
    return {figure.name: figure for figure in found if figure is not None}


SIMPLE_FIGURES: Sequence[tuple[str, str, str, Columns]] = (
    (
        "intervals",
        "Scores with 95\u00a0% intervals of each encoder, set by set",
        f"Dots are scores on the test rows, lines 95\u00a0% intervals. {FILLED_NOTE} {MARK}: {NOT_SIGNIFICANT}. "
        f"Upright lines are "
        "baselines of this run, and people; short ones at the foot are models that papers printed.",
        (*NAME_COLUMNS, *INTERVAL_COLUMNS),
    ),
    (
        "layers",
        "Scores by layer",
        "Scores by layer with 95\u00a0% intervals.",
        (*NAME_COLUMNS, ("layer", "Layer"), *INTERVAL_COLUMNS, ("by_dev", "chosen on dev")),
    ),
    (
        "dimensions",
        "Scores by size of the vectors",
        "Scores by the size of the vectors.",
        (*NAME_COLUMNS, ("x", "Size"), *INTERVAL_COLUMNS),
    ),
    (
        "epochs",
        "Scores by time of training",
        "Scores by epoch, step or checkpoint.",
        (*NAME_COLUMNS, ("x", "Epoch"), *INTERVAL_COLUMNS),
    ),
    (
        "learning",
        "Scores by number of training rows",
        "Means over subsamples of the training rows, which take whole target forms and have the classes' shares; the "
        "last point is the score. Intervals are over training sets and test rows. Baselines learned from the same "
        "subsamples.",
        (*NAME_COLUMNS, ("x", "Training rows"), ("subsamples", "Subsamples"), *INTERVAL_COLUMNS),
    ),
    (
        "correlation",
        "Correlation of each probing set with each transfer set, over encoders",
        "Rank correlations over encoders; grey: not significant, as is said below, or too few encoders.",
        (
            ("set_name", "Probing"),
            ("transfer_name", "Transfer"),
            ("value", "Spearman"),
            ("low", "from"),
            ("high", "to"),
            ("n", "Encoders"),
            ("adjusted", "adjusted p"),
        ),
    ),
    (
        "profiles",
        "Scores by task, a line per language",
        "Scores by task and language.",
        (("task", "Task"), ("language", "Language"), ("encoder_name", "Encoder"), *INTERVAL_COLUMNS),
    ),
)
"""Kind, what it shows, what stands below it, and the columns of its table."""


def _simple(kind: str, label: str, caption: str, columns: Columns) -> Callable[[Summary], Figure | None]:
    def make(summary: Summary) -> Figure | None:
        try:
            _, spec = chart(kind, summary)
        except UsageError:  # there is nothing to draw
            return None
        return Figure(kind, label, caption, columns, {"only": _bare(spec)}, spec["data"]["values"], _room(spec))

    return make


def _heatmap(summary: Summary) -> Figure | None:
    """The heat map with all its modes; ratios to every encoder and language are computed here, and chosen there."""
    rows = heatmap.rows(summary)
    if not rows:
        return None
    names = short_names([", ".join(column["label"]) for column in summary["columns"]])
    languages = languages_of(summary)
    references: dict[str, list[int | str]] = {"encoder": list(range(len(names))), "language": [*languages]}
    ratios = {
        kind: [[_ratio(row) for row in heatmap.rows(summary, relative_to=to)] for to in found]
        for kind, found in references.items()
        if len(found) > 1
    }
    specs = {"absolute": _bare(heatmap.spec(rows))}
    if any(row["above"] is not None for row in rows):
        specs["above"] = _bare(heatmap.spec(rows, mode="above"))
    if ratios:
        # one scale for whatever is chosen
        every = [
            {**row, "ratio": r} for kind in ratios.values() for own in kind for row, r in zip(rows, own, strict=True)
        ]
        specs["relative"] = _bare(heatmap.spec(every, mode="relative"))
    return Figure(
        "heatmap",
        "Heat map of the scores, sets by encoders; the table above has the same numbers",
        f"{BOLD_NOTE} {MARK}: {NOT_SIGNIFICANT}.",
        HEATMAP_COLUMNS,
        specs,
        rows,
        {"ratios": ratios, "references": {"encoder": names, "language": languages}, **_room(heatmap.spec(rows))},
    )


def _ratio(row: Mapping[str, Any]) -> float | None:
    """As exact as a number in a cell is; there are as many as encoders squared times sets."""
    return None if row["ratio"] is None else round(row["ratio"], 3)


def _domains(spec: Mapping[str, Any]) -> tuple[list[str], list[str]]:
    """The names of the columns and of the rows of a matrix; none for other charts."""
    place = spec.get("encoding", {}) if isinstance(spec.get("height"), dict) else {}
    xs, ys = (place.get(name, {}).get("scale", {}).get("domain", []) for name in ("x", "y"))
    return xs, ys


def _room(spec: Mapping[str, Any]) -> dict[str, float]:
    """Pixels that a matrix needs to have its numbers in its cells, and those beyond which cells look empty."""
    xs, ys = _domains(spec)
    if not xs:
        return {}
    style = figure_style("container")
    names = style.text_width(ys)
    each = min(MIN_CELL_WIDTH, (style.total - names) / len(xs))  # the size of the numbers was chosen for the second
    if spec["encoding"]["x"]["axis"].get("labelAngle") == 0:
        each = max(each, style.text_width(xs) + style.font / 2)
    wide = max(len(xs) * each, LEGEND_WIDTH)
    return {"least": round(names + wide), "most": round(names + max(wide, len(xs) * MAX_CELL_WIDTH))}


def _bare(spec: Mapping[str, Any]) -> dict[str, Any]:
    """A spec without its rows, in colours that the page's theme decides."""
    _, ys = _domains(spec)
    if ys:  # Vega-Lite warns of steps in a container
        spec = {**spec, "height": spec["height"]["step"] * len(ys)}
    config = {**spec["config"], "font": FONT, "background": None}
    config |= {name: {**config.get(name, {}), **own} for name, own in THEME_CONFIG.items()}
    drawn = {name: own for name, own in spec.items() if name not in ("config", "data")}
    return {**(drawn if ys else _themed(drawn)), "config": config}


def _themed(value: Any, of: str = "") -> Any:
    """The same with colours of the theme; ``of``: the property whose value it is."""
    if isinstance(value, str):
        return THEMED.get(value, value) if of in ("color", "fill", "stroke", "range") else value
    if isinstance(value, dict):
        return {name: _themed(own, name) for name, own in value.items()}
    return [_themed(own, of) for own in value] if isinstance(value, list) else value
