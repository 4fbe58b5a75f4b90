"""A figure of a run as a file for a paper: SVG, PDF or PNG, the Vega-Lite spec, or the numbers alone."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from sonde.core.arguments import StringsOrPaths, as_strings
from sonde.data.dataset import write_atomically
from sonde.errors import NotInstalled, UsageError
from sonde.report import published_results
from sonde.report.charts import Options, chart
from sonde.report.charts.figure_style import ONE_COLUMN, TWO_COLUMNS, Row, Spec
from sonde.report.charts.options import Lines, Mode
from sonde.report.escape import csv_text as as_csv
from sonde.report.names import set_names, short_names
from sonde.report.types import Summary
from sonde.report.verdict import BOLD_NOTE, FILLED_NOTE, MARK_NOTE

FIGURE_SUFFIXES = (".pdf", ".svg", ".png", ".json", ".csv")
"""Kinds of files that a figure can be written as."""
PPI = 300
"""Pixels of an inch in a PNG: what printers ask for."""
CAPTIONS = {
    "heatmap": BOLD_NOTE,
    "intervals": f"95 % intervals. {FILLED_NOTE}",
    "layers": "Bands or lines: 95 % intervals.",
    "dimensions": "Bands or lines: 95 % intervals.",
    "epochs": "Bands or lines: 95 % intervals.",
    "learning": "Each point is the mean over subsamples of the training rows, and the last one is the score of all "
    "rows; bands or lines: 95 % intervals over training sets and test rows. The penalty is chosen on dev for every "
    "subsample. Below a name: points that the last doubling of the rows adds, and half of its 95 % interval.",
    "length": "Each point is a bin of sentence lengths with about as many test rows; bands or lines: 95 % intervals.",
    "correlation": "Spearman's rho over encoders; grey: not significant ({}), or too few encoders.",
    "profiles": "Level bars: 95 % intervals; lines join the tasks of an encoder.",
    "confusion": "Test rows by true and predicted label.",
}
"""What must be said below a figure for it to be understood."""


def write(
    summary: Summary,
    kind: str,
    path: Path | str,
    *,
    columns: Literal[1, 2] = 1,
    sets: StringsOrPaths = (),
    encoders: StringsOrPaths = (),
    mode: Mode = "absolute",
    relative_to: str | None = None,
    lines: Lines | None = None,
) -> str:
    """Write a figure of what ``whole`` says about a run, as the file's ending has it, and give a caption for it.

    ``columns``: as wide as one column of a paper with two, or as both. ``sets`` and ``encoders`` may be shortened to a
    part of their names, and are all of which that is a part.
    """
    path = Path(path)
    check_figure_suffix(path)
    _check_options(kind, mode, relative_to, lines)
    width = TWO_COLUMNS if columns == 2 else ONE_COLUMN
    options = Options(
        sets=_found("set", as_strings(sets, "a set"), _names_of_sets(summary)),
        columns=_found("encoder", as_strings(encoders, "an encoder"), _names_of_columns(summary)),
        mode=mode,
        relative_to=None if relative_to is None else _reference(summary, relative_to),
        lines=lines,
        width=width,
    )
    rows, spec = chart(kind, summary, options)
    caption = _caption(summary, kind, mode, rows)
    write_atomically(path, _content(path.suffix.lower(), rows, spec, width))  # last: then nothing can go wrong any more
    return caption


def _check_options(kind: str, mode: Mode, relative_to: str | None, lines: Lines | None) -> None:
    """Refuse what would have no effect on a figure of this kind."""
    given = {
        "mode": ("heatmap", "profiles") if mode != "absolute" else (),
        "relative_to": ("heatmap", "profiles") if relative_to is not None else (),
        "lines": ("layers", "dimensions", "epochs", "learning") if lines is not None else (),
    }
    for option, kinds in given.items():
        if kinds and kind not in kinds:
            known = ", ".join(k for k in kinds if k in CAPTIONS)
            flag = option.replace("_", "-")
            raise UsageError(f"--{flag} has no effect on a figure of the kind {kind}; it is for {known}.")
    if relative_to is not None and mode != "relative":
        raise UsageError(f"--relative-to {relative_to} has no effect without --mode relative.")


def check_figure_suffix(path: Path) -> None:
    """Say so if a file's ending is none that a figure can be written as."""
    if path.suffix.lower() not in FIGURE_SUFFIXES:
        raise UsageError(f"{path}: met the ending {path.suffix!r}; expected one of {', '.join(FIGURE_SUFFIXES)}.")


# What is drawn


def _names_of_sets(summary: Summary) -> list[tuple[str, ...]]:
    drawn = set_names(summary.sets)
    return [(name, s.label, s.name, s.task) for name, s in zip(drawn, summary.sets, strict=True)]


def _names_of_columns(summary: Summary) -> list[tuple[str, ...]]:
    whole = [column.name for column in summary.columns]
    typed = [column.encoder for column in summary.columns]
    return list(zip(short_names(whole), whole, typed, strict=True))


def _found(what: str, wanted: Sequence[str], names: Sequence[tuple[str, ...]]) -> tuple[int, ...]:
    """The numbers of all that is called so, or has that in a name."""
    found: dict[int, None] = {}
    for text in wanted:
        same = [i for i, own in enumerate(names) if text in own]
        near = same or [i for i, own in enumerate(names) if text and any(text in name for name in own)]
        if not near:
            close = difflib.get_close_matches(text, [name for own in names for name in own], n=1)
            hint = f" Did you mean {close[0]}?" if close else ""
            there = ", ".join(own[0] for own in names) or "none"
            raise UsageError(f"There is no {what} {text!r} in the run.{hint} It has {there}.")
        found.update(dict.fromkeys(near))
    return tuple(found)


def _reference(summary: Summary, text: str) -> int | str:
    """The column or the language that ratios are to."""
    if any(s.language == text for s in summary.sets):
        return text
    found = _found("encoder or language", [text], _names_of_columns(summary))
    if len(found) > 1:
        names = [_names_of_columns(summary)[i][0] for i in found]
        raise UsageError(f"--relative-to {text} may be {' or '.join(names)}; say which.")
    return found[0]


def _caption(summary: Summary, kind: str, mode: Mode, rows: Sequence[Row]) -> str:
    adjusted = "" if summary.correlations is None else summary.correlations.caption
    parts = [CAPTIONS[kind].format(adjusted)] if mode == "absolute" else []
    if any(row.get("marked") for row in rows):
        parts.append(MARK_NOTE)
    if kind == "intervals":
        drawn = {row["set"] for row in rows if row["mark"] in ("human", "published")}
        what = "People and published models"
        parts += published_results.footnotes([summary.sets[i] for i in sorted(drawn)], what)
    if any(row.get("partial") for row in rows):
        parts.append("From a sample of the rows.")
    if any(summary.sets[row["set"]].synthetic for row in rows if "set" in row):
        parts.append("The sentences are synthetic.")
    return " ".join(parts)


# Files


def _content(ending: str, rows: Sequence[Row], spec: Spec, width: int) -> bytes:
    if ending == ".json":
        return (json.dumps(spec, indent=1, allow_nan=False) + "\n").encode()
    if ending == ".csv":
        return csv_text(rows).encode()
    try:
        import vl_convert
    except ImportError:
        raise NotInstalled("Figures need vl-convert-python: pip install vl-convert-python.") from None
    # what screen readers are told doubles the file, and a paper has its caption
    silent = {**spec, "config": {**spec["config"], "aria": False}}
    svg = vl_convert.vegalite_to_svg(silent, allowed_base_urls=[])
    match ending:
        case ".svg":
            return fitted(svg, width, "pt").encode()
        case ".pdf":
            return bytes(vl_convert.svg_to_pdf(fitted(svg, width)))
        case ".png":
            return bytes(vl_convert.svg_to_png(fitted(svg, width), ppi=PPI))
        case _:
            raise UsageError(f"No figure is written as {ending}.")


def fitted(svg: str, width: int, unit: str = "") -> str:
    """The drawing no wider than this: where panels came out wider than their texts let expect, all of it is smaller.

    vl-convert takes the numbers without a unit for points, other programs for pixels.
    """

    def sized(match: re.Match[str]) -> str:
        wide, high = float(match[1]), float(match[2])
        scale = min(1.0, width / wide)
        return f'width="{wide * scale:.4g}{unit}" height="{high * scale:.4g}{unit}"'

    return re.sub(r'width="([\d.]+)" height="([\d.]+)"', sized, svg, count=1)


def csv_text(rows: Sequence[Row]) -> str:
    """The rows of a figure, without what is only shown when a mark is pointed at."""
    fields = [name for name in dict.fromkeys(name for row in rows for name in row) if name != "text"]
    return as_csv([fields, *([row.get(name, "") for name in fields] for row in rows)])
