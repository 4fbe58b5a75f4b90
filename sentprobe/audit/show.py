"""An audit on the console, as Markdown and as JSON."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING

from sentprobe import __version__
from sentprobe.audit.audit import Audit, UnreadableSet, count_severities
from sentprobe.audit.check import MAX_EXAMPLES, SEVERITIES, Code, Finding, Severity, codes
from sentprobe.console import out
from sentprobe.core.formatting import POINTS, count_of, printable
from sentprobe.tasks import SPLIT_NAMES

if TYPE_CHECKING:
    from rich.console import Console


def as_json(
    audits: Sequence[Audit], collection_findings: Sequence[Finding], unreadable: Sequence[UnreadableSet]
) -> str:
    """Everything, findings of all severities included."""
    document = {
        "format": "sentprobe.audit.v1",
        "sets": [audit.to_dict() for audit in audits],
        "collection": [asdict(f) for f in collection_findings],
        "unread": [asdict(u) for u in unreadable],
        "versions": {"sentprobe": __version__},
    }
    return json.dumps(document, indent=2) + "\n"


def markdown(
    audits: Sequence[Audit],
    collection_findings: Sequence[Finding],
    unreadable: Sequence[UnreadableSet],
    severities: Collection[Severity] = SEVERITIES,
) -> str:
    """A page to paste: an overview, then a section for each set."""
    lines = ["# Audit", "", f"{count_findings(audits, collection_findings)}.", ""]
    if len(audits) > 1:
        lines += ["| set | rows | classes | errors | warnings | notes |", "|---|---:|---:|---:|---:|---:|"]
        for audit in audits:
            counts = Counter(f.severity for f in merge_splits(audit.findings))
            rows = f"{sum(audit.sizes.values()):,}"
            cells = (audit.name, rows, audit.classes, *(counts[s] for s in SEVERITIES))
            lines.append("| " + " | ".join(_cell(str(c)) for c in cells) + " |")
        lines.append("")
    for audit in audits:
        lines += [f"## {_cell(audit.name)}", "", _cell(facts(audit)), ""]
        lines += [*_table([f for f in audit.findings if f.severity in severities]), ""]
        if audit.measures:
            lines += [_cell(measured(audit)), ""]
    if common := [f for f in collection_findings if f.severity in severities]:
        lines += ["## All sets together", "", *_table(common), ""]
    lines += [f"{_cell(u.name)} could not be read: {_cell(u.reason)}\n" for u in unreadable]
    return "\n".join(lines).rstrip() + "\n"


def codes_page() -> str:
    """Every code and what it means, as a Markdown page."""
    lines = ["# Audit codes", ""]
    for topic, topic_codes in codes().items():
        lines += [f"## {topic.capitalize()}", ""]
        for code in topic_codes:
            lines += [f"### {code.name}", "", f"*{code.title.capitalize()}.* {code.meaning}", ""]
            lines += [f"What to do: {code.advice}", ""]
    return "\n".join(lines).rstrip() + "\n"


def count_findings(audits: Sequence[Audit], collection_findings: Sequence[Finding]) -> str:
    """How many findings are listed, in a sentence."""
    findings = (*(f for audit in audits for f in merge_splits(audit.findings)), *collection_findings)
    return f"{count_of(len(audits), 'set')}: {count_severities(findings)}"


def facts(audit: Audit) -> str:
    """Sizes and classes, in a line."""
    sizes = ", ".join(f"{SPLIT_NAMES[split]} {n:,}" for split, n in audit.sizes.items())
    only = " (no other split)" if len(audit.sizes) == 1 else ""
    return f"{sizes} rows{only}; {audit.classes} classes" + (f"; language {audit.language}" if audit.language else "")


def measured(audit: Audit) -> str:
    """The accuracies of shallow classifiers, in a line; those that the task declares legitimate are in brackets."""
    first = audit.measures[0]
    cells = [
        (m.expected, f"{m.name} {POINTS.number(m.accuracy)}")
        for m in audit.measures
        if m.name != "unigrams cased inside"
    ]
    scores = ", ".join(f"({cell})" if expected else cell for expected, cell in cells)
    head = (
        f"shortcuts, {_named_splits(first.trained_on)}, {first.rows:,} rows: majority {POINTS.number(first.majority)}"
    )
    return f"{head}; {scores}"


def _named_splits(text: str | None) -> str:
    """The splits in a text such as ``tr → va+te`` by their names."""
    return re.sub(r"\b(tr|va|te)\b", lambda match: SPLIT_NAMES[match[0]], text or "")


def merge_splits(findings: Sequence[Finding]) -> list[Finding]:
    """Findings, with those that repeat for another split as one: *1 of 400 dev rows and 2 of 800 test rows: …*."""
    out: list[Finding] = []
    for f in findings:
        last = out[-1] if out else None
        if last is not None and last.split and f.split and (last.code, last.severity) == (f.code, f.severity):
            before, after = last.message.split(": ", 1), f.message.split(": ", 1)
            if len(before) == len(after) == 2 and before[1] == after[1]:
                examples = tuple(dict.fromkeys((*last.examples, *f.examples)))[:MAX_EXAMPLES]
                out[-1] = replace(
                    last,
                    message=f"{before[0]} and {after[0]}: {before[1]}",
                    split=f"{last.split} {f.split}",
                    count=last.count + f.count,
                    examples=examples,
                )
                continue
        out.append(f)
    return out


def _table(findings: Sequence[Finding]) -> list[str]:
    if not findings:
        return ["Nothing found."]
    lines = ["| severity | code | split | count | message | examples |", "|---|---|---|---:|---|---|"]
    for f in merge_splits(findings):
        cells = (f.severity, f.code, _named_splits(f.split), f"{f.count:,}", f.message, " · ".join(f.examples))
        lines.append("| " + " | ".join(map(_cell, cells)) + " |")
    return lines


def _cell(text: str) -> str:
    """Text with everything escaped that Markdown, inside a table or elsewhere, would interpret."""
    return "".join(f"&#{ord(c)};" if c in "\\`*_[]<>|&~$@#:" else c for c in printable(" ".join(text.split())))


# On the console


def print_audit(audit: Audit, severities: Collection[str]) -> None:
    """One set's findings, most severe first."""
    from rich.markup import escape

    console = out()
    console.print(f"[bold]{escape(printable(audit.name))}[/bold]  {escape(printable(facts(audit)))}", soft_wrap=True)
    findings = [f for f in audit.findings if f.severity in severities]
    if findings:
        _print_findings(console, findings)
    if not findings:
        hidden = len(merge_splits(audit.findings))
        console.print(f"  nothing found{f' but {hidden} of lower severity' * bool(hidden)}", style="green")
    if audit.measures:
        console.print(f"  {printable(measured(audit))}", style="dim", markup=False, soft_wrap=True)
    console.print()


def print_collection_findings(findings: Sequence[Finding], severities: Collection[str]) -> None:
    """What several sets should not have in common."""
    selected = [f for f in findings if f.severity in severities]
    if selected:
        console = out()
        console.print("[bold]all sets together[/bold]")
        _print_findings(console, selected)
        for f in selected:
            pairs = [f"{name} {n:,}" for name, n in f.evidence.items() if " and " in name]
            console.print(f"  {printable('; '.join(pairs))}", style="dim", markup=False, soft_wrap=True)


def _print_findings(console: Console, findings: Sequence[Finding]) -> None:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, show_header=False)
    for name in ("severity", "code", "split", "message"):
        table.add_column(name, no_wrap=name != "message", overflow="fold")
    for f in merge_splits(findings):
        message = Text(printable(f.message))
        if f.examples:
            message.append(" · ".join(("", *map(printable, f.examples))), style="dim")
        table.add_row(
            Text(f"  {f.severity}", style=SEVERITY_STYLES[f.severity]), f.code, _named_splits(f.split), message
        )
    console.print(table)


SEVERITY_STYLES = {"error": "bold red", "warning": "yellow", "note": "cyan"}


def print_code(code: Code) -> None:
    """What an audit code means."""
    console = out()
    console.print(f"[bold]{code.name}[/bold]: {code.title}\n")
    console.print(code.meaning, markup=False)
    console.print(f"\nWhat to do: {code.advice}", markup=False)
