"""Rank correlations of probing and transfer tasks over encoders, as in Conneau et al. (2018), figure 2.

What is not significant after the adjustment for the whole matrix, or is over too few encoders, is grey.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sonde.report.charts.figure_style import Row, Spec, Width, figure_style, single_view
from sonde.report.charts.matrix import Matrix, cells
from sonde.report.charts.options import Options, require_rows, selected_sets

NEEDS = (
    "Correlations need three encoders or more, with results on probing sets and on transfer tasks alike; name the runs "
    "that have them together: sonde figure PROBING TRANSFER --kind correlation."
)


def chart(summary: Mapping[str, Any], options: Options) -> tuple[list[Row], Spec]:
    """The figure of these options."""
    found = rows(summary, sets=options.sets)
    return require_rows(found, NEEDS), spec(found, width=options.width)


def rows(summary: Mapping[str, Any], *, sets: Sequence[int] = ()) -> list[Row]:
    """A row per probing set and transfer task; ``drawn``: whether it counts."""
    known = summary.get("correlations")
    if not known:
        return []
    titles = selected_sets(summary, sets)
    found = []
    for of, line in zip(known["rows"], known["cells"], strict=True):
        for other, cell in zip(known["columns"], line, strict=True):
            if not {of["set"], other["set"]} <= titles.keys():
                continue
            probing, transfer, cell = titles[of["set"]], titles[other["set"]], cell or {}
            found.append(
                {
                    "set": of["set"], "set_name": probing, "transfer": other["set"], "transfer_name": transfer,
                    **{name: cell.get(name) for name in ("value", "low", "high", "p", "adjusted", "n")},
                    "drawn": bool(cell.get("drawn")), "adjust": known["adjust"],
                    "text": _tooltip_text(probing, transfer, cell),
                }
            )  # fmt: skip
    return found if any(row["value"] is not None for row in found) else []


def _tooltip_text(probing: str, transfer: str, cell: Mapping[str, Any]) -> str:
    if cell.get("value") is None:
        return f"{probing} and {transfer}: too few encoders"
    ends = "" if cell.get("low") is None else f" ({cell['low']:+.2f} to {cell['high']:+.2f})"
    adjusted = "" if cell.get("adjusted") is None else f", adjusted p {cell['adjusted']:.3f}"
    return f"{probing} and {transfer}: {cell['value']:+.2f}{ends}, {cell['n']} encoders{adjusted}"


def spec(rows: Sequence[Row], *, width: Width = "container") -> Spec:
    """Probing sets go down, transfer tasks across."""
    style = figure_style(width)
    ys, xs = (list(dict.fromkeys(row[name] for row in rows)) for name in ("set_name", "transfer_name"))
    matrix = Matrix(
        x="transfer_name", y="set_name", xs=xs, ys=ys, value="value", domain=(-1.0, 1.0), format="+.2f", short="+.1f",
        colours="both", colour_if="drawn", title="Spearman's rho; grey: not significant",
    )  # fmt: skip
    return single_view(cells(style, matrix, rows, style.total - style.label_width(ys)), rows, style)
