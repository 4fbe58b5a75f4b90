"""Rank correlations between probing and transfer tasks over encoders, as in Conneau et al. (2018), figure 2.

Cells that are not significant after adjustment over the matrix, or that are over too few encoders, are grey.
"""

from __future__ import annotations

from collections.abc import Sequence

from sentprobe.report.drawing.chart import Chart, OnPage, Options, selected_sets
from sentprobe.report.drawing.figure_style import Row, Spec, figure_style, single_view
from sentprobe.report.drawing.matrix import Matrix, cells
from sentprobe.report.types import CorrelationCell, Summary


def rows(summary: Summary, options: Options) -> list[Row]:
    """A row per probing set and transfer task."""
    matrix = summary.correlations
    if not matrix:
        return []
    titles = selected_sets(summary, options.sets)
    records: list[Row] = []
    for row_set, line in zip(matrix.rows, matrix.cells, strict=True):
        for column_set, cell in zip(matrix.columns, line, strict=True):
            if not {row_set.set, column_set.set} <= titles.keys():
                continue
            probing, transfer = titles[row_set.set], titles[column_set.set]
            records.append(
                {
                    "set": row_set.set,
                    "set_name": probing,
                    "transfer": column_set.set,
                    "transfer_name": transfer,
                    **{name: getattr(cell, name, None) for name in ("value", "low", "high", "p", "adjusted", "n")},
                    "drawn": cell is not None and cell.significant,
                    "adjust": matrix.adjust,
                    "text": _tooltip_text(probing, transfer, cell),
                }
            )
    return records if any(row["value"] is not None for row in records) else []


def _tooltip_text(probing: str, transfer: str, cell: CorrelationCell | None) -> str:
    if cell is None:
        return f"{probing} and {transfer}: too few encoders"
    ends = "" if cell.low is None else f" ({cell.low:+.2f} to {cell.high:+.2f})"
    adjusted = "" if cell.adjusted is None else f", adjusted p {cell.adjusted:.3f}"
    return f"{probing} and {transfer}: {cell.value:+.2f}{ends}, {cell.n} encoders{adjusted}"


def spec(rows: Sequence[Row], options: Options) -> Spec:
    """Probing sets go down, transfer tasks across."""
    style = figure_style(options.width)
    ys, xs = (list(dict.fromkeys(row[name] for row in rows)) for name in ("set_name", "transfer_name"))
    matrix = Matrix(
        x="transfer_name",
        y="set_name",
        xs=xs,
        ys=ys,
        value="value",
        domain=(-1.0, 1.0),
        format="+.2f",
        short="+.1f",
        colours="both",
        colour_if="drawn",
        title="Spearman's rho; grey: not significant",
    )
    return single_view(cells(style, matrix, rows, style.total - style.label_width(ys)), rows, style)


def caption(summary: Summary) -> str:
    """The caption, with how the p-values of this run were adjusted."""
    adjusted = summary.correlations.caption if summary.correlations else ""
    return f"Spearman's rho over encoders; grey: not significant ({adjusted}), or too few encoders."


chart = Chart(
    name="correlation",
    order=80,
    title="Correlation of each probing set with each transfer set, over encoders",
    doc="Spearman's rho between probing and transfer tasks, over encoders",
    needs="Correlations need at least three encoders with results on both probing sets and transfer tasks; give the "
    "runs that have them together: sentprobe figure PROBING TRANSFER --kind correlation.",
    rows=rows,
    spec=spec,
    options={
        "adjust": "`--adjust`: how p-values are adjusted for the number of pairs: `holm` (the default), `bonferroni`, "
        "`bh` (Benjamini and Hochberg's false discovery rate) or `none`"
    },
    caption=caption,
    page=OnPage(
        section="correlations",
        caption="Rank correlations over encoders. Grey: not significant (see below), or too few encoders.",
        columns=(
            ("set_name", "Probing"),
            ("transfer_name", "Transfer"),
            ("value", "Spearman"),
            ("low", "from"),
            ("high", "to"),
            ("n", "Encoders"),
            ("adjusted", "adjusted p"),
        ),
    ),
)
