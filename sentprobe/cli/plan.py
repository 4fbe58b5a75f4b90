"""`sentprobe plan`: what sets can show, before a run or after a small one, and how many rows more would take."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

if TYPE_CHECKING:
    from sentprobe.core.table import CellText, Table
    from sentprobe.data.planning import Plan

order = 68
group = "Probe"

examples = """
Which differences sets can show, and how many rows 3 points need:
  sentprobe plan probes/ --difference 3
The same by what was observed in a run, of two of its encoders:
  sentprobe plan my-run/ static: builtin: --difference 3
"""


def plan(
    path: Path,
    /,
    *encoders: str,
    difference: float = 3.0,
    accuracy: float | None = None,
    task: Annotated[tuple[str, ...], Parameter(("--task", "-t"))] = (),
    format: Literal["table", "md", "csv", "json"] = "table",
) -> int:
    """Say which differences between encoders sets can show, and how many rows smaller ones need.

    Parameters
    ----------
    path: Path
        Sets, as for `sentprobe run`; or a run, which serves as a pilot.
    encoders: str
        Of a run: the two encoders whose difference is planned for, as for `sentprobe compare`. Default: the two whose
        difference varies most; or the only encoder and the best baseline.
    difference: float
        The difference to be shown, in points of accuracy. Default: 3.
    accuracy: float
        Of sets: the accuracy that is expected of both encoders, in %. Default: half-way between that of the most
        frequent label and 100.
    task: tuple[str, ...]
        Only the sets of this task; may be repeated.
    format: str
        table, md (Markdown), csv or json. Default: table.
    """
    import msgspec

    from sentprobe.cli._options import is_run
    from sentprobe.cli._printing import printed_warnings
    from sentprobe.console import out
    from sentprobe.errors import UsageError

    for option, points in (("difference", difference), ("accuracy", accuracy)):
        if points is not None and not 0 < points < 100:
            raise UsageError(f"--{option} {points:g}: expected points of accuracy, above 0 and below 100.")
    unread: list[str] = []
    with printed_warnings():
        if is_run(path):
            plans = _of_run(path, encoders, accuracy, task)
        else:
            plans = _of_sets(path, encoders, accuracy, task, unread)
    table = plan_table(plans, difference / 100)
    if format == "table":
        table.print(out())
    elif format == "md":
        sys.stdout.write("\n".join([*table.markdown(), "", *table.notes, ""]))
    elif format == "csv":
        sys.stdout.write(table.csv())
    else:
        keys = [column.key for column in table.columns]
        rows = zip(*(column.values for column in table.columns), strict=True)
        sets = [dict(zip(keys, row, strict=True)) for row in rows]
        document = {"version": 1, "difference": difference / 100, "sets": sets}
        sys.stdout.write(msgspec.json.format(msgspec.json.encode(document)).decode() + "\n")
    return 2 if unread else 0


def _of_sets(
    path: Path, encoders: Sequence[str], accuracy: float | None, task: Sequence[str], unread: list[str]
) -> list[Plan]:
    from sentprobe.cli._sets import readable_sets
    from sentprobe.console import warn
    from sentprobe.data.planning import plan_set
    from sentprobe.errors import DataError, UsageError

    if encoders:
        raise UsageError(f"Encoders are compared in a run, and {path} has no run.json: leave out {encoders[0]!r}.")
    plans = []
    for dataset in readable_sets([str(path)], unread, task):
        try:
            plans.append(plan_set(dataset, None if accuracy is None else accuracy / 100))
        except DataError as e:
            warn(f"not planned: {e}")
    if not plans:
        raise DataError(f"{path} has no set that can be planned: expected labelled rows with train and test.")
    return plans


def _of_run(path: Path, encoders: Sequence[str], accuracy: float | None, task: Sequence[str]) -> list[Plan]:
    from sentprobe.errors import UsageError
    from sentprobe.results.pilot import pilot_plans
    from sentprobe.run import Run

    if accuracy is not None or task:
        raise UsageError(f"--accuracy and --task are for sets, and {path} is a run: leave them out.")
    return pilot_plans(Run.load(path), encoders)


def plan_table(plans: Sequence[Plan], difference: float) -> Table:
    """A row for each set; ``difference`` is a share of one."""
    from sentprobe.core.table import CellText, Table, TableColumn

    def count(rows: int | None) -> CellText:
        return CellText("–" if rows is None else f"{rows:,}" if rows < 1000 else f"{float(f'{rows:.2g}'):,.0f}")

    points = f"{100 * difference:g}"
    columns = [TableColumn(["set"], [p.dataset for p in plans], "left", key="set")]
    if any(p.pilot for p in plans):
        columns.append(TableColumn(["observed of"], [p.pilot for p in plans], "left", key="pilot"))
    columns += [
        TableColumn(["rows"], [p.rows for p in plans], key="rows"),
        TableColumn(["test"], [p.test for p in plans], key="test_rows"),
        TableColumn(["classes"], [p.classes for p in plans], key="classes"),
        TableColumn(["accuracy"], [p.accuracy for p in plans], format=_points, key="accuracy"),
        TableColumn(["folds"], [p.in_folds for p in plans], format=_points, key="detects_in_folds"),
        TableColumn(["split"], [p.in_split for p in plans], format=_points, key="detects_in_split"),
    ]
    if any(p.pilot for p in plans):
        factors = [p.variation.uncertainty for p in plans]
        columns += [
            TableColumn(["× from"], [low for low, _ in factors], format=_factor, key="factor_low"),
            TableColumn(["to"], [high for _, high in factors], format=_factor, key="factor_high"),
        ]
    columns += [
        TableColumn(
            [f"rows for {points}"],
            [p.rows_in_folds(difference) for p in plans],
            format=count,
            key="rows_needed_in_folds",
        ),
        TableColumn(
            [f"test rows for {points}"], [p.test_rows(difference) for p in plans], format=count, key="test_rows_needed"
        ),
    ]
    return Table(columns, notes=_notes(plans, points))


def _points(value: float | None) -> CellText:
    from sentprobe.core.formatting import POINTS
    from sentprobe.core.table import CellText

    return CellText(POINTS.number(value))


def _factor(value: float) -> CellText:
    from sentprobe.core.table import CellText

    return CellText(f"{value:.2f}")


def _notes(plans: Sequence[Plan], points: str) -> list[str]:
    """What the columns mean, and what is assumed."""
    from sentprobe.stats.level import alpha_text
    from sentprobe.stats.planning import ERROR_CORRELATION, POWER

    folded = [p for p in plans if p.by_default]
    protocol = ""
    if folded:
        which = "" if len(folded) == len(plans) else f" for {len(folded)} of the {len(plans)} sets"
        protocol = f", the default of `run`{which}"
    meaning = (
        f"folds, split: the difference between two encoders, in points, that a test at {alpha_text()} detects with a "
        f"power of {100 * POWER:g} %, if every row is tested in five folds{protocol}, and on the test split alone. "
        f"rows for {points}: how many rows a difference of {points} points needs in folds; test rows for {points}: on "
        "one split, with training rows in proportion."
    )
    if any(p.pilot for p in plans):
        if any(p.can_fold and p.rows_in_folds(float(points) / 100) is None for p in plans):
            meaning += f" A dash under rows for {points}: seeds vary too much for that, however many rows there are."
        return [
            meaning,
            "Observed: on which rows the two differ, and what other test, training and dev rows change. × from … to: "
            "by which factors the differences may be off, as a variance that is estimated from one run is uncertain.",
        ]
    return [
        meaning,
        f"Assumed: the accuracy of both encoders; a correlation of {ERROR_CORRELATION:g} between their errors; and the "
        "usual effect of training rows. What a run detects is mostly 0.7 to 1.5 times that; with a run in place of the "
        "sets, all of it is observed.",
    ]
