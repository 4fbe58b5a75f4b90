"""Comparisons and repetitions as tables, Markdown, CSV and JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

import msgspec

from sonde.compare import Comparison, Ties
from sonde.console import out, visible
from sonde.report.escape import csv_text, in_markdown

if TYPE_CHECKING:
    from sonde.repeat import Repeated

LEVEL = 0.05
Rows = Sequence[Comparison] | Sequence[Ties]


def print_comparison(rows: Rows, names: Sequence[str]) -> None:
    """A table on standard output, with what its columns mean below."""
    from rich.table import Table

    head, *lines = _cells(rows, names)
    table = Table(box=None, pad_edge=False, header_style="bold")
    for i, name in enumerate(head):
        table.add_column(visible(name), justify="right" if i else "left")
    for line in lines:
        table.add_row(*map(visible, line))
    console = out()
    console.print(table)
    console.print("\n" + _legend(rows, names), style="dim", markup=False, soft_wrap=True)


def text_of(rows: Rows, names: Sequence[str], format: Literal["md", "csv", "json"]) -> str:
    """The same as a text."""
    if format == "json":
        found = {"version": 1, "encoders": list(names), "sets": msgspec.to_builtins(list(rows))}
        return msgspec.json.format(msgspec.json.encode(found)).decode() + "\n"
    cells = _cells(rows, names)
    if format == "csv":
        return csv_text(cells)
    head, *lines = ([in_markdown(c) for c in line] for line in cells)
    rule = ["---", *["---:"] * (len(head) - 1)]
    return "".join(f"| {' | '.join(line)} |\n" for line in (head, rule, *lines)) + f"\n{_legend(rows, names)}\n"


def _cells(rows: Rows, names: Sequence[str]) -> list[list[str]]:
    first = rows[0]
    if isinstance(first, Ties):
        body = [[_name(r), f"{r.n:,}", *(_tied(r, name) for name in names)] for r in rows if isinstance(r, Ties)]
        return [["set", "te", *names], *body]
    one, two = names
    head = [
        "set",
        "te",
        one,
        two,
        "difference",
        "95 %",
        "only first",
        "only second",
        "McNemar",
        "mid-p",
        "p",
        "p Holm",
        "detectable",
    ]
    return [head, *(_compared(r) for r in rows if isinstance(r, Comparison))]


def _name(row: Comparison | Ties) -> str:
    return row.dataset + "*" * row.partial


def _tied(row: Ties, name: str) -> str:
    return f"{100 * row.accuracy[name]:.1f} {row.letters[name]}"


def _compared(r: Comparison) -> list[str]:
    found = "!" if r.p_holm <= LEVEL else ""
    return [
        _name(r), f"{r.n:,}", f"{100 * r.one:.1f}", f"{100 * r.two:.1f}", f"{100 * r.difference:+.1f}{found}",
        f"{100 * r.low:+.1f} … {100 * r.high:+.1f}", f"{r.only_one:,}", f"{r.only_two:,}", _p(r.p_exact), _p(r.p_mid),
        _p(r.p), _p(r.p_holm), f"{100 * r.detectable:.1f}",
    ]  # fmt: skip


def _p(value: float) -> str:
    return f"{value:.3f}" if value >= 0.001 else f"{value:.0e}"


def _legend(rows: Rows, names: Sequence[str]) -> str:
    partial = " * a sample of the set only (--limit)." if any(r.partial for r in rows) else ""
    if isinstance(rows[0], Ties):
        return (
            "Accuracy in points. Encoders that share a letter were not found to differ on that set: McNemar's mid-p on "
            "the same rows, or exchange of target forms or sentences that rows share, adjusted by Holm over the pairs, "
            f"at {LEVEL:.0%}.{partial}"
        )
    drawn = any(isinstance(r, Comparison) and r.clusters for r in rows)
    seeds = max(r.seeds for r in rows if isinstance(r, Comparison))
    of_seeds = f" McNemar's test is of the first of {seeds} seeds." if seeds > 1 else ""
    units = "target forms or sentences that rows share, else rows" if drawn else "rows"
    test = "exchange of target forms or sentences that rows share, else McNemar's mid-p" if drawn else "McNemar's mid-p"
    return (
        f"{names[0]} less {names[1]}, in points; ! where p Holm is at most {LEVEL:.0%}. 95 %: paired bootstrap over "
        f"{units}. McNemar, mid-p: the exact test and the sharper one, rows taken as independent. p: {test}, "
        f"two-sided. Holm over the sets. detectable: the difference that so many {'forms or ' * drawn}rows show four "
        f"times out of five.{of_seeds}{partial}"
    )


def print_repeated(found: Repeated) -> None:
    """Say whether a number came out the same."""
    console = out()

    def say(text: str, style: str | None = None) -> None:
        console.print(visible(text), style=style, markup=False, soft_wrap=True)

    scale = 1 if found.now.metric in ("bits", "compression", "rank") else 100
    say(f"now   {scale * found.now.score:.4f}  {found.now.signature}")
    if found.then is not None:
        say(f"then  {scale * found.then.score:.4f}  {found.then.signature}")
        n = found.now.n["te"]
        if found.same:
            labels = "" if found.differing is None else f", and all {n:,} labels"
            say(f"The same: the number{labels}.", "green")
        else:
            many = found.differing
            say(f"Not the same: {f'{many:,} of {n:,} labels differ' if many else 'the number is another one'}.", "red")
    for note in found.notes:
        say(f"note: {note}", "yellow")
