"""A figure of a run as a file for a paper: SVG, PDF or PNG, the Vega-Lite spec, or the numbers alone."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from sentprobe.core.arguments import StringsOrPaths, StrOrPath, as_strings, takes
from sentprobe.core.files import write_atomically
from sentprobe.core.folders import FOLDER_TYPES, FolderType, folder_type_of
from sentprobe.core.install import pip_install
from sentprobe.core.table import csv_text
from sentprobe.errors import NotInstalled, SentProbeError, UsageError, describe_error, error_location
from sentprobe.report.charts import CHARTS, Chart, Options, chart
from sentprobe.report.drawing.chart import Lines, Mode, above_baselines
from sentprobe.report.drawing.figure_style import ONE_COLUMN, TWO_COLUMNS, Row, Spec
from sentprobe.report.filters import column_names, find_named, find_sets_of
from sentprobe.report.recipes import recipe_notes
from sentprobe.report.titles import Names, in_words, renamed
from sentprobe.report.types import Seconds, Summary
from sentprobe.report.verdict import mark_note
from sentprobe.results.metric import DEFAULT_METRIC

if TYPE_CHECKING:
    import altair

FIGURE_SUFFIXES = (".pdf", ".svg", ".png", ".json", ".csv")
"""Formats of figures."""
PPI = 300
"""Pixels per inch of a PNG, as printers require."""


ABOVE_CAPTION = "Points above the best baseline of each set; grey: not significantly different from it."
NO_RUN = Summary(
    folder="",
    metric=DEFAULT_METRIC,
    columns=(),
    baselines=(),
    sets=(),
    transfer=(),
    layers=(),
    interpretations={},
    diagnoses=(),
    failures=(),
    notes=(),
    versions={},
    seconds=Seconds(encode=0, fit=0, score=0),
)
"""What there is to draw without a run."""


@dataclass(frozen=True, kw_only=True)
class FigureOptions:
    """What a figure shows, and how wide it is.

    Parameters
    ----------
    width
        As wide as one column of a two-column paper, or as both.
    sets, encoders
        Names, or parts of names, which select everything that they are a part of; none: all.
    mode, relative_to, lines, sentences, words
        As in `sentprobe figure`; a chart refuses those that have no effect on it. One that needs no run loads the
        encoders.
    names
        A file of what tasks, sets and encoders are called; others have names in words.
    folder
        A folder of another type than a run, for a chart that draws one.
    """

    width: Literal["one", "two"] = "one"
    sets: StringsOrPaths = ()
    encoders: StringsOrPaths = ()
    mode: Mode | None = None
    relative_to: str | None = None
    lines: Lines | None = None
    names: Names | StrOrPath | None = None
    sentences: StringsOrPaths = ()
    folder: Path | str | None = None
    words: StringsOrPaths = ()


@takes(FigureOptions)
def write(summary: Summary | None, kind: str, path: Path | str, options: FigureOptions) -> str:
    """Write a figure of a run, in the format that the file's suffix names, and return a caption for it.

    Parameters
    ----------
    summary
        The ``summary`` of a ``Report``; None for a chart that needs none, or of another folder.
    kind
        The name of a chart.
    path
        The file: .pdf, .svg, .png, .json (the Vega-Lite spec) or .csv (the numbers).

    Returns
    -------
    str
        The caption.

    Examples
    --------
    >>> from pathlib import Path
    >>> from sentprobe import Dataset, Example, Report, evaluate, write_figure
    >>> rows = [Example("ab"[i % 2], ("text", str(i)), f"text {i}") for i in range(80)]
    >>> data = Dataset("mine/set", "set", 1, "en", ("a", "b"), {"tr": rows[:40], "va": rows[40:60], "te": rows[60:]})
    >>> run = evaluate({"last digit": lambda texts: [[int(text[-1]) % 2, 1] for text in texts]}, data, "run")
    >>> caption = write_figure(Report.of(run).summary, "heatmap", "heatmap.csv")
    >>> caption.endswith("."), Path("heatmap.csv").read_text().split(",")[0]
    (True, 'set')
    """
    path = Path(path)
    check_figure_suffix(path)
    figure = draw(summary, kind, options)
    content = _content(path.suffix.lower(), figure)
    write_atomically(path, content)  # last: nothing can go wrong any more
    return figure.caption


@dataclass(frozen=True)
class DrawnFigure:
    """A chart that was drawn: its rows, its Vega-Lite spec, and what a caption says of it."""

    chart_type: Chart
    rows: Sequence[Row]
    spec: Spec
    caption: str
    width: int
    """In points."""

    def altair(self) -> altair.TopLevelMixin:
        """The figure as a chart of Altair, which notebooks show, and which can be changed and saved."""
        try:
            import altair
        except ImportError:
            raise NotInstalled(f"Charts of Altair need altair: {pip_install('frames')}") from None
        return altair.Chart.from_dict(self.spec)


def draw(summary: Summary | None, kind: str, figure: FigureOptions) -> DrawnFigure:
    """Draw a figure of a run, or of what else a chart draws."""
    chart_type, mode, relative_to = CHARTS.get(kind), figure.mode, figure.relative_to
    sentences, words = as_strings(figure.sentences, "a sentence"), as_strings(figure.words, "a word")
    check_options(
        chart_type,
        mode=None if mode == "absolute" else mode,
        relative_to=relative_to,
        lines=figure.lines,
        sentence=sentences or None,
        words=words or None,
    )
    folder_type = None if figure.folder is None else folder_type_of(Path(figure.folder))
    check_run(chart_type, summary is not None, folder_type)
    if relative_to is not None and mode != "relative":
        raise UsageError(f"--relative-to {relative_to} has no effect without --mode relative.")
    points = TWO_COLUMNS if figure.width == "two" else ONE_COLUMN
    encoder_names = as_strings(figure.encoders, "an encoder")
    if summary is None:
        summary = NO_RUN
        options = Options(
            encoders=tuple(encoder_names),
            sentences=tuple(sentences),
            folder=None if figure.folder is None else str(figure.folder),
            words=tuple(words),
            width=points,
        )
    else:
        options = Options(
            sets=find_sets_of(summary, as_strings(figure.sets, "a set")),
            columns=find_named("encoder", encoder_names, column_names(summary)),
            mode=mode or "absolute",
            relative_to=None if relative_to is None else _reference(summary, relative_to),
            lines=figure.lines,
            width=points,
        )
        summary = in_words(renamed(summary, figure.names))
    options, rows, spec = _drawn(chart_type, summary, options, choose_mode=mode is None)
    return DrawnFigure(chart_type, rows, spec, _caption(summary, chart_type, options.mode, rows), points)


def _drawn(
    chart_type: Chart, summary: Summary, options: Options, *, choose_mode: bool
) -> tuple[Options, Sequence[Row], Spec]:
    """The rows and the spec of a chart, in the mode in which the page begins if none was chosen."""
    try:
        if choose_mode and chart_type.switches and above_baselines(chart_type.rows(summary, options)):
            options = replace(options, mode="above")
        return options, *chart(chart_type.name, summary, options)
    except SentProbeError:
        raise
    except Exception as e:  # a chart may be another package's
        raise UsageError(f"The chart {chart_type.name} failed: {describe_error(e)}{error_location(e)}") from e


def check_options(chart_type: Chart, **options: object) -> None:
    """Refuse options that would have no effect on a chart; None: not given."""
    for option, value in options.items():
        if value is not None and value is not False and option not in chart_type.options:
            kinds = [candidate.name for candidate in CHARTS.parts().values() if option in candidate.options]
            raise UsageError(
                f"--{option.replace('_', '-')} has no effect on --kind {chart_type.name}; it is for {', '.join(kinds)}."
            )


def check_run(chart_type: Chart, has_run: bool, folder_type: FolderType | None = None) -> None:
    """Refuse a chart of a run or of another type of folder without one, and either for a chart of something else."""
    draws_encoders = not chart_type.needs_run and not chart_type.reads
    if folder_type is not None and not draws_encoders and chart_type.reads != folder_type.name:
        kinds = [chart.name for chart in CHARTS.parts().values() if chart.reads == folder_type.name]
        hint = f"; {' and '.join(kinds)} do" if kinds else ""
        raise UsageError(f"--kind {chart_type.name} does not draw {folder_type.title}{hint}.")
    if chart_type.reads:
        expected = FOLDER_TYPES[chart_type.reads]
        if has_run == (folder_type is not None):
            either = " or of a run" if chart_type.needs_run else ""
            raise UsageError(
                f"--kind {chart_type.name} draws {expected.title}: name one folder of `{expected.command}`{either}."
            )
        if has_run and not chart_type.needs_run:
            raise UsageError(f"--kind {chart_type.name} is not about a run: name a folder of `{expected.command}`.")
        return
    if chart_type.needs_run and not has_run:
        raise UsageError(f"--kind {chart_type.name} draws a run: name the folder of one.")
    if draws_encoders and (has_run or folder_type is not None):
        raise UsageError(
            f"--kind {chart_type.name} is not about a run or a folder: leave it out, and name encoders with --encoder."
        )


def check_figure_suffix(path: Path) -> None:
    """UsageError if a figure cannot be written in the format that a file's suffix names."""
    if path.suffix.lower() not in FIGURE_SUFFIXES:
        raise UsageError(f"{path}: expected one of the suffixes {', '.join(FIGURE_SUFFIXES)}, got {path.suffix!r}.")


# What is drawn


def _reference(summary: Summary, text: str) -> int | str:
    """The column or the language that ratios are relative to."""
    if any(s.language == text for s in summary.sets):
        return text
    matches = find_named("encoder or language", [text], column_names(summary))
    if len(matches) > 1:
        names = [column_names(summary)[i][0] for i in matches]
        raise UsageError(f"--relative-to {text} is ambiguous: expected one of {', '.join(names)}.")
    return matches[0]


def _caption(summary: Summary, chart_type: Chart, mode: Mode, rows: Sequence[Row]) -> str:
    sentences = [ABOVE_CAPTION] if mode == "above" else []
    sentences += [chart_type.caption_of(summary)] if mode != "relative" else []
    if any(row.get("marked") for row in rows):
        sentences.append(mark_note(summary))
    sentences += chart_type.notes(summary, rows)
    if any(isinstance(row.get("column"), int) for row in rows):
        sentences += list(recipe_notes(summary))[:1]
    if any(row.get("partial") for row in rows):
        sentences.append("From a sample of the rows.")
    if any(summary.sets[row["set"]].synthetic for row in rows if isinstance(row.get("set"), int)):
        sentences.append("The sentences are synthetic.")
    return " ".join(filter(None, sentences))


# Files


def _content(suffix: str, figure: DrawnFigure) -> bytes:
    chart_type, rows, spec, width = figure.chart_type, figure.rows, figure.spec, figure.width
    if suffix == ".json":
        return (json.dumps(spec, indent=1, allow_nan=False) + "\n").encode()
    if suffix == ".csv":
        names = chart_type.fields or [
            name for name in dict.fromkeys(name for row in rows for name in row) if name != "text"
        ]
        return csv_text([names, *([row.get(name, "") for name in names] for row in rows)]).encode()
    try:
        import vl_convert
    except ImportError:
        raise NotInstalled("Figures need vl-convert-python: pip install vl-convert-python.") from None
    # descriptions for screen readers double the size, and a paper has its caption
    silent = {**spec, "config": {**spec["config"], "aria": False}}
    svg = vl_convert.vegalite_to_svg(silent, allowed_base_urls=[])
    match suffix:
        case ".svg":
            return fitted(svg, width, "pt").encode()
        case ".pdf":
            return bytes(vl_convert.svg_to_pdf(fitted(svg, width)))
        case ".png":
            return bytes(vl_convert.svg_to_png(fitted(svg, width), ppi=PPI))
        case _:
            raise UsageError(f"A figure cannot be written as {suffix}.")


def fitted(svg: str, width: int, unit: str = "") -> str:
    """The drawing, scaled down where panels came out wider than estimated from their texts.

    vl-convert takes numbers without a unit as points, other programs as pixels.
    """

    def sized(match: re.Match[str]) -> str:
        wide, high = float(match[1]), float(match[2])
        scale = min(1.0, width / wide)
        return f'width="{wide * scale:.4g}{unit}" height="{high * scale:.4g}{unit}"'

    return re.sub(r'width="([\d.]+)" height="([\d.]+)"', sized, svg, count=1)
