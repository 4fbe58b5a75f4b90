"""`sentprobe compare`: encoders of a run against each other."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sentprobe.run import Run

order = 90
group = "Read"
Format = Literal["table", "md", "csv", "json"]


def compare(
    folder: Path,
    /,
    *encoders: str,
    with_controls: Annotated[list[str] | None, Parameter("--with")] = None,
    metric: str = "accuracy",
    margin: float = 1.0,
    everything: Annotated[bool, Parameter("--all")] = False,
    format: Format = "table",
) -> int:
    """Compare encoders of a run on the same test rows: two by paired tests, more by groups that share a letter.

    One encoder is compared with its own controls: does its score fall if words are permuted? Two runs are compared on
    the sets that both have.

    Parameters
    ----------
    folder: Path
        What `sentprobe run` wrote.
    encoders: str
        Encoders as given to `sentprobe run` or a part of that, with |layer=… and |probe=… if necessary; baselines such
        as nb-uni, too. The name of a recipe stands for all its trainings. Default: all except baselines. Or a second
        run: its encoders of the same name, or those that follow, against the first's.
    with_controls: list[str]
        For one encoder: the controls, such as permuted or untrained, and measures, such as inlp, to compare it with.
        May be repeated. Default: all that were tested on the rows of the score.
    metric: str
        By what: accuracy (with precision@1 of what is retrieved), or another metric of predicted classes that
        `sentprobe ls metrics` lists and that has a paired test, such as balanced_accuracy. Default: accuracy.
    margin: float
        For two encoders: the difference in points below which they count as equivalent. Default: 1.
    everything: bool
        For two encoders: also how equal they are, what would be detected, and tests of the probes alone; csv and
        json have all of it anyway.
    format: str
        table, md (Markdown), csv or json. Default: table.
    """
    from sentprobe.cli._printing import printed_warnings
    from sentprobe.console import say
    from sentprobe.core.formatting import printable
    from sentprobe.errors import UsageError
    from sentprobe.report.comparison import format_comparison, print_comparison
    from sentprobe.report.set_summary import erroneous_sets
    from sentprobe.results.compare import compare as compare_two
    from sentprobe.results.compare import ties
    from sentprobe.results.sides import non_baseline_encoders, shown_names, single_trainings, untested_sets
    from sentprobe.run import Run

    if not 0 < margin < 100:
        raise UsageError(f"--margin {margin:g}: expected points of accuracy, above 0 and below 100.")
    with printed_warnings():
        run = Run.load(folder)
        names = encoders or non_baseline_encoders(run)
        if encoders and _is_run(encoders[0], run):
            if with_controls:
                raise UsageError("--with is for one encoder and its controls; got two runs.")
            return _compare_runs(run, encoders, metric, margin, format, everything=everything)
        if len(names) == 1:
            return _compare_controls(run, names[0], with_controls or (), metric, format)
        if with_controls:
            raise UsageError(f"--with is for one encoder and its controls; got {', '.join(names)}.")
        rows = compare_two(run, *names, metric=metric) if len(names) == 2 else ties(run, names, metric=metric)
    if errors := erroneous_sets(run.info):
        where = ", ".join(f"{name} ({codes})" for name, codes in errors.items())
        text = f"Data errors: differences on {where} do not mean what they seem to; `sentprobe show {folder}` says why."
        say(printable(text), "red")
    if format == "table":
        print_comparison(rows, names, margin / 100, shown_names(run, names), everything=everything)
    else:
        labels = shown_names(run, names)
        sys.stdout.write(format_comparison(rows, names, format, margin / 100, labels, everything=everything))
    for name, recipe in single_trainings(run, names).items():
        text = f"{shown_names(run, [name])[0]} is one training of {recipe}: another seed may differ from it as well."
        say(printable(text))
    if untested := untested_sets(run, names, metric):
        text = f"Not tested, since rows are not right or wrong: {', '.join(untested)}."
        say(printable(text))
    return 0


def _compare_controls(run: Run, name: str, controls: Sequence[str], metric: str, format: Format) -> int:
    """An encoder against its own controls."""
    from sentprobe.report.control_comparison import format_controls, print_controls
    from sentprobe.results.sides import shown_names
    from sentprobe.run.own_score import compare_with_controls

    rows = compare_with_controls(run, name, controls, metric=metric)
    (label,) = shown_names(run, [name])
    if format == "table":
        print_controls(rows, label)
    else:
        sys.stdout.write(format_controls(rows, label, format))
    return 0


def _is_run(text: str, run: Run) -> bool:
    """Whether an argument is the folder of a second run, and no encoder of the first."""
    from sentprobe.results.records import RESULTS

    return text not in run.encoders and (Path(text) / RESULTS).exists()


def _compare_runs(
    run: Run, words: Sequence[str], metric: str, margin: float, format: Format, *, everything: bool
) -> int:
    """A run against another one."""
    from sentprobe.console import say
    from sentprobe.core.formatting import printable
    from sentprobe.report.comparison import format_comparison, print_comparison
    from sentprobe.results.compare_runs import compare_runs
    from sentprobe.run import Run

    second, *encoders = words
    compared = compare_runs(run, Run.load(Path(second)), encoders, metric=metric)
    rows, labels = compared.comparisons, compared.labels
    if format == "table":
        print_comparison(rows, labels, margin / 100, labels, everything=everything)
    else:
        sys.stdout.write(format_comparison(rows, labels, format, margin / 100, labels, everything=everything))
    for sentence in compared.skipped:
        say(printable(sentence))
    return 0
