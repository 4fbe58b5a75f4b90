"""`sentprobe compare`: encoders of a run against each other."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

order = 90
group = "Read"


def compare(
    folder: Path,
    /,
    *encoders: str,
    metric: str = "accuracy",
    margin: float = 1.0,
    everything: Annotated[bool, Parameter("--all")] = False,
    format: Literal["table", "md", "csv", "json"] = "table",
) -> int:
    """Compare encoders of a run on the same test rows: two by paired tests, more by groups that share a letter.

    Parameters
    ----------
    folder: Path
        What `sentprobe run` wrote.
    encoders: str
        Two or more, as given to `sentprobe run` or a part of that, with |layer=… and |probe=… if necessary; baselines
        such as nb-uni, too. The name of a recipe stands for all its trainings. Default: all except baselines.
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
