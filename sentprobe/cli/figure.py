"""`sentprobe figure`: a figure of a run for a paper."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from sentprobe.core.plugins import entry_points_in, part_modules

if TYPE_CHECKING:
    from sentprobe.report.types import Summary

order = 110
group = "Read"


def _kinds() -> str:
    """The charts there are, by their files and entry points, which can be listed without loading them."""
    built_in = [name.replace("_", "-") for name in part_modules("sentprobe.report.charts")]
    return f"The chart: {', '.join([*built_in, *(entry.name for entry in entry_points_in('sentprobe.charts'))])}."


def figure(
    *runs: Path,
    kind: Annotated[str, Parameter(("--kind", "-k"), help=_kinds())],
    out: Annotated[tuple[Path, ...], Parameter(("--out", "-o"))],
    on: tuple[str, ...] = (),
    encoder: Annotated[tuple[str, ...], Parameter(("--encoder", "-e"))] = (),
    mode: Literal["absolute", "above", "relative"] | None = None,
    relative_to: str | None = None,
    lines: Literal["set", "encoder"] | None = None,
    width: Literal["one", "two"] = "one",
    names: Path | None = None,
    metric: str = "accuracy",
    adjust: Literal["holm", "bonferroni", "bh", "none"] | None = None,
    published: bool = False,
    sentence: tuple[str, ...] = (),
    words: tuple[str, ...] = (),
) -> int:
    """Write a figure of a run, of encoders or of an alignment, for a paper, and print what its caption should say.

    Parameters
    ----------
    runs: Path
        A folder that `sentprobe run` or `sentprobe words` wrote; or several, to be drawn together. For criterion and
        words-map, a folder that `sentprobe align` wrote.
    kind: str
        The chart.
    out: tuple[Path, ...]
        The file to write; may be repeated. The suffix sets the format: .pdf, .svg, .png, .json (the Vega-Lite spec) or
        .csv (the numbers).
    on: tuple[str, ...]
        Only the sets whose name contains this; may be repeated.
    encoder: tuple[str, ...]
        Only the encoders whose name contains this; for selection, the encoders to load; may be repeated.
    mode: str
        For heat maps: absolute, above (the best baseline) or relative. For profiles: absolute or relative. Default:
        above for heat maps where there is a baseline, as on the page; else absolute.
    relative_to: str
        The encoder or language that numbers are divided by. Default for profiles: en, else the first language.
    lines: str
        For layers, dimensions, epochs and learning: what a line is, set or encoder; the other one is a panel. Default:
        encoder if there are several, and always for learning.
    width: str
        one or two: as wide as one column (3.3 in) or two columns (6.9 in) of a paper. Default: one.
    names: Path
        A TOML file of what tasks, sets and encoders are called.
    metric: str
        What sets are scored by: another metric of predicted classes, in points, that `sentprobe ls metrics` lists, such
        as balanced_accuracy. Default: accuracy, or what the manifest of a set names.
    adjust: str
        For correlations: how p-values are adjusted for multiple testing, holm, bonferroni, bh (Benjamini and Hochberg's
        false discovery rate) or none. Default: holm.
    published: bool
        For intervals: also show published results on other sets of the same tasks. Default: only those on exactly
        these sets.
    sentence: tuple[str, ...]
        For selection: a sentence; may be repeated.
    words: tuple[str, ...]
        For words-map: a source word to be drawn with its translation; may be repeated. Default: frequent words.
    """
    from sentprobe.cli._names import read_names
    from sentprobe.console import say
    from sentprobe.core.folders import folder_type_of
    from sentprobe.errors import UsageError
    from sentprobe.report.charts import CHARTS
    from sentprobe.report.figure import check_figure_suffix, check_options, check_run, write

    for path in out:
        check_figure_suffix(path)
    check_options(CHARTS.get(kind), adjust=adjust, published=published, sentence=sentence or None, words=words or None)
    typed_folders = [(folder, folder_type) for folder in runs if (folder_type := folder_type_of(folder)) is not None]
    check_run(CHARTS.get(kind), len(typed_folders) < len(runs), typed_folders[0][1] if typed_folders else None)
    if len(typed_folders) > 1:
        folders = ", ".join(str(folder) for folder, _ in typed_folders)
        raise UsageError(f"--kind {kind} draws one {typed_folders[0][1].name}; got {folders}.")
    summary, file_names = None, None
    if runs and not typed_folders:
        summary = _summary_of(runs, metric, adjust, published)
        file_names = read_names(names, summary)
    caption = ""
    for path in out:
        caption = write(
            summary,
            kind,
            path,
            width=width,
            names=file_names,
            sets=on,
            encoders=encoder,
            mode=mode,
            relative_to=relative_to,
            lines=lines,
            sentences=sentence,
            folder=typed_folders[0][0] if typed_folders else None,
            words=words,
        )
        sys.stdout.write(f"{path}\n")
    if caption:
        say(f"For the caption: {caption}")
    return 0


def _summary_of(
    runs: tuple[Path, ...], metric: str, adjust: Literal["holm", "bonferroni", "bh", "none"] | None, published: bool
) -> Summary:
    """The summary of all runs together."""
    from sentprobe.cli._printing import printed_warnings
    from sentprobe.report.published import check_published
    from sentprobe.report.summary import full_summary
    from sentprobe.run import Run, join

    with printed_warnings():
        loaded = [Run.load(folder) for folder in runs]
    summary = full_summary(join(loaded), metric=metric, adjust=adjust or "holm", published=published)
    check_published(summary, published)
    return summary
