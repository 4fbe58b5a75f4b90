"""`sonde figure`: a figure of a run for a paper."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from sonde.core.plugins import offered


def _kinds() -> str:
    """The charts there are: the files of the folder and the entry points, which can be listed without loading them."""
    folder = Path(__file__).parents[1] / "report" / "charts"
    built_in = sorted(file.stem for file in folder.glob("[!_]*.py"))
    return f"The chart: {', '.join([*built_in, *offered('sonde.charts')])}."


def figure(
    run: Path,
    /,
    *more: Path,
    kind: Annotated[str, Parameter(("--kind", "-k"), help=_kinds())],
    out: Annotated[tuple[Path, ...], Parameter(("--out", "-o"))],
    set: tuple[str, ...] = (),
    encoder: Annotated[tuple[str, ...], Parameter(("--encoder", "-e"))] = (),
    mode: Literal["absolute", "above", "relative"] = "absolute",
    relative_to: str | None = None,
    lines: Literal["set", "encoder"] | None = None,
    columns: Literal[1, 2] = 1,
    adjust: Literal["holm", "bonferroni", "bh", "none"] | None = None,
    published: bool = False,
) -> int:
    """Write a figure of a run for a paper; what should stand in its caption is printed.

    Parameters
    ----------
    run: Path
        A folder that `sonde run` wrote.
    more: Path
        Further ones, to be drawn together with the first.
    kind: str
        The chart.
    out: tuple[Path, ...]
        What to write; may be repeated. The ending says what it is: .pdf, .svg, .png, .json (the Vega-Lite spec) or .csv
        (the numbers).
    set: tuple[str, ...]
        Only the sets of which this is the name or a part of it; may be repeated.
    encoder: tuple[str, ...]
        Only the encoders of which this is the name or a part of it; may be repeated.
    mode: str
        Of a heat map: absolute, above (the best baseline) or relative. Of profiles: absolute or relative.
        Default: absolute.
    relative_to: str
        The encoder or language that numbers are divided by. Default for profiles: en, else the first language.
    lines: str
        Of layers, dimensions, epochs and learning: what a line is, set or encoder; the other one is a panel. Default:
        encoder if there are several, and of learning always.
    columns: int
        1 or 2: as wide as one column of a paper with two (3.3 in) or as both (6.9 in). Default: 1.
    adjust: str
        Of correlations: how p-values are adjusted for their number, holm, bonferroni, bh (Benjamini and Hochberg's
        false discovery rate) or none. Default: holm.
    published: bool
        Of intervals: show what papers printed of the same tasks for other sets, too. Default: only what is of these
        very sets.
    """
    from sonde.cli.shared import printed_warnings
    from sonde.console import err
    from sonde.report.charts import CHARTS
    from sonde.report.figure import check_figure_suffix, check_options, write
    from sonde.report.full_summary import full_summary
    from sonde.report.published_results import check_published
    from sonde.run import Run, join

    for path in out:
        check_figure_suffix(path)
    check_options(CHARTS.get(kind), adjust=adjust, published=published)
    with printed_warnings():
        runs = [Run.load(folder) for folder in (run, *more)]
    summary = full_summary(join(runs), adjust=adjust or "holm", published=published)
    check_published(summary, published)
    caption = ""
    for path in out:
        caption = write(
            summary, kind, path, columns=columns, sets=set, encoders=encoder, mode=mode, relative_to=relative_to,
            lines=lines,
        )  # fmt: skip
        sys.stdout.write(f"{path}\n")
    if caption:
        err().print(f"For the caption: {caption}", markup=False, soft_wrap=True)
    return 0
