"""What a figure shows of a run, and how."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from sentprobe.report.drawing.figure_style import Row, Width
from sentprobe.report.names import set_names, short_names
from sentprobe.report.types import Summary

Mode = Literal["absolute", "above", "relative"]
Lines = Literal["set", "encoder"]

METRIC_TITLES = {
    "accuracy": "accuracy (%)",
    "pearson": "Pearson × 100",
    "spearman": "Spearman × 100",
    "recall@1": "recall@1 (%)",
    "precision@1": "precision@1 (%)",
    "bleu": "BLEU",
    "cosine": "cosine × 100",
}
MIXED_METRICS_TITLE = "accuracy or correlation, × 100"
MIXED_WORD_METRICS_TITLE = "precision@1, correlation, cosine or BLEU, × 100"
"""For spaces of words."""
WORD_METRICS = {"precision@1", "bleu", "cosine"}
NAME_COLUMNS = (("set_name", "Set"), ("encoder_name", "Encoder"))
INTERVAL_COLUMNS = (("points", "Score, × 100"), ("points_low", "from"), ("points_high", "to"))
"""Columns that the tables below most charts of the page have: fields of the rows, and headings."""


@dataclass(frozen=True, kw_only=True)
class Options:
    """What to draw. A chart reads those that its ``options`` name, besides ``sets``, ``columns`` and ``width``."""

    sets: tuple[int, ...] = ()
    """Indices of sets in the summary; none: all."""
    columns: tuple[int, ...] = ()
    """Indices of columns; none: all."""
    mode: Mode = "absolute"
    """Points, points above the best baseline, or ratios."""
    relative_to: int | str | None = None
    """What ratios are relative to: a column, by its index, or a language."""
    lines: Lines | None = None
    """What a line is; None: an encoder if there are several, else a set."""
    width: Width = "container"
    encoders: tuple[str, ...] = ()
    """The encoders to load, for a chart that needs no run."""
    sentences: tuple[str, ...] = ()
    """What these encode."""
    folder: str | None = None
    """The folder to be drawn, for a chart that reads one of another type than a run."""
    words: tuple[str, ...] = ()
    """Words of it; none: the chart's choice."""


def selected_sets(summary: Summary, indices: Sequence[int]) -> dict[int, str]:
    """The selected sets, or all, by index, with names that tell them apart."""
    found = _selected(len(summary.sets), indices)
    return dict(zip(found, set_names([summary.sets[i] for i in found]), strict=True))


def selected_columns(summary: Summary, indices: Sequence[int]) -> dict[int, str]:
    """The selected columns, or all, by index, with names that tell them apart."""
    found = _selected(len(summary.columns), indices)
    return dict(zip(found, short_names([summary.columns[j].name for j in found]), strict=True))


def _selected(n: int, indices: Sequence[int]) -> list[int]:
    return [i for i in range(n) if not indices or i in indices]


def score_title(rows: Sequence[Row]) -> str:
    """The title of an axis of scores: the metric that all rows have, or that there are several."""
    metrics = {row["metric"] for row in rows}
    mixed = MIXED_WORD_METRICS_TITLE if metrics & WORD_METRICS else MIXED_METRICS_TITLE
    return METRIC_TITLES.get(metrics.pop(), mixed) if len(metrics) == 1 else mixed
