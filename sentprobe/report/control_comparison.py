"""An encoder against its own controls, as a sentence, a table, Markdown, CSV and JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import msgspec

from sentprobe.console import narrow_out, print_wrapped
from sentprobe.core.table import Table, csv_text, plain
from sentprobe.report.comparison import INTERVALS_ALONE, about_tests, p_text, print_narrow, short_set_names
from sentprobe.report.names import listed
from sentprobe.results.metric import DEFAULT_METRIC, metric_named
from sentprobe.run.own_score import ControlComparison
from sentprobe.stats.level import alpha_text, level_text

Rows = Sequence[ControlComparison]


def print_controls(rows: Rows, label: str) -> None:
    """Print what the score falls with in a sentence, then the table."""
    print_wrapped(narrow_out(), control_sentence(rows, label))
    narrow_out().print()
    print_narrow(_table(rows, label))


def control_sentence(rows: Rows, label: str) -> str:
    """What the score falls with, and where; what it rises with; and what makes no significant difference."""
    names = short_set_names(list(dict.fromkeys(row.comparison.dataset for row in rows)))
    by_control: dict[str, list[ControlComparison]] = {}
    for row in rows:
        by_control.setdefault(row.control, []).append(row)
    falls = [_clause(control, of_control, "first", names) for control, of_control in by_control.items()]
    rises = [_clause(control, of_control, "second", names) for control, of_control in by_control.items()]
    changes = [
        f"{verb} significantly with {'; '.join(filter(None, clauses))}"
        for verb, clauses in (("falls", falls), ("rises", rises))
        if any(clauses)
    ]
    tests = f"paired tests, Holm over {len(rows)}, {alpha_text()}" if len(rows) > 1 else f"paired test, {alpha_text()}"
    if not changes:
        return plain(f"No control changes the score of {label} significantly ({tests}).")
    return plain(f"The score of {label} {'; it '.join(changes)} ({tests}).")


def _clause(control: str, rows: Rows, better: Literal["first", "second"], names: dict[str, str]) -> str:
    """``permuted on tense (79.0 to 71.0) and shift``; empty if there is no such set."""
    sets = [f"{names[row.comparison.dataset]} ({_numbers(row)})" for row in rows if row.comparison.better() == better]
    return f"{control} on {listed(sets, most=4, remainder='more')}" if sets else ""


def _numbers(row: ControlComparison) -> str:
    number = metric_named(row.comparison.metric).in_text
    return f"{number(row.comparison.first)} to {number(row.comparison.second)}"


def format_controls(rows: Rows, label: str, format: Literal["md", "csv", "json"]) -> str:
    """The table as text; CSV and JSON have unrounded numbers."""
    if format == "md":
        table = _table(rows, label)
        return "\n".join([control_sentence(rows, label), "", *table.markdown(), "", *table.notes, ""])
    fields = [{"control": row.control, **msgspec.to_builtins(row.comparison)} for row in rows]
    if format == "csv":
        return csv_text([list(fields[0]), *(list(values.values()) for values in fields)])
    document = {"version": 1, "encoder": label, "tests": len(rows), "controls": fields}
    return msgspec.json.format(msgspec.json.encode(document)).decode() + "\n"


def _table(rows: Rows, label: str) -> Table:
    comparisons = [row.comparison for row in rows]
    metric = metric_named(comparisons[0].metric)
    body = [
        [
            c.dataset + "*" * c.partial,
            row.control,
            metric.number.number(c.first),
            metric.number.number(c.second),
            metric.number.number(-c.difference, sign=True),
            metric.number.interval(-c.high, -c.low, sign=True, between=" … "),
            p_text(c.p_holm),
        ]
        for row, c in zip(rows, comparisons, strict=True)
    ]
    partial = "* a sample of the set only (--limit). " if any(c.partial for c in comparisons) else ""
    what = "" if metric.name == DEFAULT_METRIC else f"{metric.heading}. "
    legend = (
        f"{what}change: the control minus the score of {label}, on the same test rows, with its interval, in "
        f"{metric.unit or 'units of the metric'}. p: adjusted by Holm over all {len(rows)} rows of this table"
        f"{INTERVALS_ALONE if len(rows) > 1 else ''}. "
        f"{about_tests(comparisons)} {partial}"
        "Selectivity (key) has an interval of its own, on other rows: `sentprobe show`."
    )
    return Table.of_rows(
        ["set", "control", label, "with it", "change", level_text(), "p"], body, notes=[legend], texts=["control"]
    )
