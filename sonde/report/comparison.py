"""Comparisons and repetitions as tables, Markdown, CSV and JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

import msgspec

from sonde.compare import LEVEL, MARGIN, Comparison, Ties
from sonde.console import out, visible
from sonde.report.escape import csv_text, in_markdown

if TYPE_CHECKING:
    from sonde.repeat import Repeated

Rows = Sequence[Comparison] | Sequence[Ties]


def print_comparison(rows: Rows, names: Sequence[str], margin: float = MARGIN) -> None:
    """A table on standard output, with what its columns mean below."""
    from rich.table import Table

    head, *lines = _cells(rows, names, margin)
    table = Table(box=None, pad_edge=False, header_style="bold")
    for i, name in enumerate(head):
        table.add_column(visible(name), justify="right" if i else "left")
    for line in lines:
        table.add_row(*map(visible, line))
    console = out()
    console.print(table)
    console.print("\n" + _legend(rows, names, margin), style="dim", markup=False, soft_wrap=True)


def text_of(rows: Rows, names: Sequence[str], format: Literal["md", "csv", "json"], margin: float = MARGIN) -> str:
    """The same as a text."""
    if format == "json":
        sets = [
            {**msgspec.to_builtins(row), **({"verdict": row.verdict(margin)} if isinstance(row, Comparison) else {})}
            for row in rows
        ]
        found = {"version": 2, "encoders": list(names), "margin": margin, "sets": sets}
        return msgspec.json.format(msgspec.json.encode(found)).decode() + "\n"
    cells = _cells(rows, names, margin)
    if format == "csv":
        return csv_text(cells)
    head, *lines = ([in_markdown(c) for c in line] for line in cells)
    rule = ["---", *["---:"] * (len(head) - 1)]
    return "".join(f"| {' | '.join(line)} |\n" for line in (head, rule, *lines)) + f"\n{_legend(rows, names, margin)}\n"


def _cells(rows: Rows, names: Sequence[str], margin: float) -> list[list[str]]:
    first = rows[0]
    if isinstance(first, Ties):
        body = [[_name(r), f"{r.n:,}", *(_tied(r, name) for name in names)] for r in rows if isinstance(r, Ties)]
        return [["set", "te", *names], *body]
    one, two = names
    head = [
        "set", "te", one, two, "difference", "95 %", "p", "p Holm", "within", "verdict", "only first", "only second",
        "McNemar", "mid-p", "t-test", "p probe", "detectable",
    ]  # fmt: skip
    return [head, *(_compared(r, margin) for r in rows if isinstance(r, Comparison))]


def _name(row: Comparison | Ties) -> str:
    return row.dataset + "*" * row.partial


def _tied(row: Ties, name: str) -> str:
    return f"{100 * row.accuracy[name]:.1f} {row.letters[name]}"


def _compared(r: Comparison, margin: float) -> list[str]:
    found = "!" if r.p_holm <= LEVEL else ""
    return [
        _name(r), f"{r.n:,}", f"{100 * r.one:.1f}", f"{100 * r.two:.1f}", f"{100 * r.difference:+.1f}{found}",
        f"{100 * r.low:+.1f} … {100 * r.high:+.1f}", _p(r.p), _p(r.p_holm), f"±{100 * r.within:.1f}", r.verdict(margin),
        _count(r.only_one), _count(r.only_two), _p(r.p_exact), _p(r.p_mid), _p(r.p_t), _p(r.p_probe),
        f"{100 * r.detectable:.1f}",
    ]  # fmt: skip


def _p(value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value:.3f}" if value >= 0.001 else f"{value:.0e}"


def _count(rows: float) -> str:
    return f"{rows:,.0f}" if rows == int(rows) else f"{rows:,.1f}"


def _legend(rows: Rows, names: Sequence[str], margin: float) -> str:
    partial = " * a sample of the set only (--limit)." if any(r.partial for r in rows) else ""
    if isinstance(rows[0], Ties):
        return (
            "Accuracy in points. Encoders that share a letter do not differ significantly on that set, which is not to "
            f"say that they are equal. {_tests(rows)} Holm over the pairs, at {LEVEL:.0%}.{partial}"
        )
    return (
        f"{names[0]} less {names[1]}, in points; ! where p Holm, over the sets, is at most {LEVEL:.0%}. {_tests(rows)} "
        "within: the smallest margin within which the two are equivalent (two one-sided tests at "
        f"{LEVEL:.0%}). verdict: the better one; or equivalent if that margin is at most ±{100 * margin:g}; else "
        "undecided. About the trained probes alone are only first and only second (rows that one of them has right), "
        "McNemar's exact and mid-p tests and the paired t-test over rows, which take rows as independent, and p probe, "
        "which exchanges what rows share. "
        f"detectable: the difference that a comparison like this shows four times out of five.{partial}"
    )


def _tests(rows: Rows) -> str:
    """What intervals and p-values are about."""
    about = {row.about for row in rows}
    encoder = "Intervals and p are about the encoders: test rows, training rows and seeds could have been others."
    probe = "about the trained probes alone, as none was trained again (--resample)"
    if about == {"encoder"}:
        return encoder
    if about == {"probe"}:
        return f"Intervals and p are {probe}."
    sets = ", ".join(row.dataset for row in rows if row.about == "probe")
    return f"{encoder} On {sets} they are {probe}."


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
