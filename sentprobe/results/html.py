"""A small HTML table of scores, which notebooks show for a run."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from sentprobe.results.result import Result
from sentprobe.stats.level import level_text

MAX_ROWS = 60
"""Results that are shown; ``Run.frame`` has all of them."""


def scores_html(results: Sequence[Result], caption: str) -> str:
    """Results as an HTML table, one row each, under a caption; all text is escaped."""
    rows = "".join(f"<tr>{''.join(_cells(result))}</tr>" for result in results[:MAX_ROWS])
    names = ("dataset", "encoder", "layer", "probe", "seed", "metric", "score", f"{level_text()} interval", "n")
    header = "".join(f"<th>{name}</th>" for name in names)
    left_out = len(results) - MAX_ROWS
    more = f"<p>… and {left_out} more results: see <code>Run.frame()</code>.</p>" if left_out > 0 else ""
    head = f"<caption>{escape(caption)}</caption><thead><tr>{header}</tr></thead>"
    return f"<table>{head}<tbody>{rows}</tbody></table>{more}"


def _cells(result: Result) -> list[str]:
    cell = result.cell
    low, high = result.encoder_interval or result.range
    interval = "" if result.constant else f"{low:.3f} – {high:.3f}"
    star = "*" if result.partial else ""
    texts = (cell.dataset, cell.encoder, cell.layer, cell.probe, cell.seed if cell.probe else None, result.metric)
    numbers = (f"{result.score:.3f}{star}", interval, f"{result.n.get('te', 0):,}")
    return [f"<td>{'' if text is None else escape(_printable(str(text)))}</td>" for text in (*texts, *numbers)]


def _printable(text: str) -> str:
    """Text that can be encoded as UTF-8: names may hold lone surrogates."""
    return text.encode(errors="backslashreplace").decode()
