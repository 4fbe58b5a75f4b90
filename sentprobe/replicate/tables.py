"""Answers as tables: for the console, Markdown, CSV and JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, Literal

import msgspec

from sentprobe.core.formatting import ABSENT, PLAIN, POINTS, NumberFormat, count_of
from sentprobe.core.table import CellText, Table, TableColumn
from sentprobe.replicate.claim import Claim
from sentprobe.replicate.decide import OUTCOMES, Answer
from sentprobe.stats.level import level_text

TextFormat = Literal["md", "csv", "json"]
TWO_DIGITS = NumberFormat(1.0, 2)
FORMATS: dict[str, NumberFormat] = {"points": POINTS, "correlation": TWO_DIGITS, "number": TWO_DIGITS}
"""How the number of a claim is written, by its unit."""
STYLES = {"held": "green", "contradicted": "red", "undecided": "yellow", "not tried": "dim"}


def headline(answers: Sequence[Answer]) -> str:
    """How many findings held, in a sentence."""
    counts = Counter(answer.outcome for answer in answers)
    counted = ", ".join(f"{counts[outcome]} {outcome}" for outcome in OUTCOMES if counts[outcome])
    return f"{count_of(len(answers), 'finding')}: {counted}."


def count_table(answers: Sequence[Answer]) -> Table:
    """How many findings of each paper have which verdict."""
    papers = list(dict.fromkeys(answer.claim.paper for answer in answers))
    counts = Counter((answer.claim.paper, answer.outcome) for answer in answers)
    columns = [TableColumn([outcome], [counts[paper, outcome] for paper in papers]) for outcome in OUTCOMES]
    return Table([TableColumn(["paper"], [paper or "your own" for paper in papers], "left"), *columns])


def answer_table(answers: Sequence[Answer], *, wide: bool = True) -> Table:
    """A row per finding: what is claimed, the verdict, and the number that it is about.

    ``wide``: also the name of the finding, which ``--list`` has otherwise, the interval, and what decided.
    """
    columns = [
        TableColumn(["finding"], [a.claim.name for a in answers], "left"),
        TableColumn(["claim"], [a.claim.sentence for a in answers], "left"),
        TableColumn(["verdict"], [_verdict(a) for a in answers], "left"),
        TableColumn(["as claimed"], [count_cells(a) for a in answers]),
        TableColumn(["mean"], [_number(a) for a in answers]),
        TableColumn([level_text()], [_interval(a) for a in answers]),
        TableColumn(["p"], [p_text(a.p) for a in answers]),
        TableColumn(["decided by"], [a.reason or a.rule for a in answers], "left"),
    ]
    _, claim, verdict, count, number, _, p, _ = columns
    narrow = [claim, verdict, count, number, p]
    return Table(columns if wide else narrow, notes=[LEGEND])


LEGEND = (
    "as claimed: cells, each of one set and pair of encoders, whose number is as claimed. mean: of the cells, in "
    "points; correlations and what is not a share as they are. p: of the side that the numbers are on."
)


def _verdict(answer: Answer) -> CellText:
    return CellText(verdict_text(answer), style=STYLES[answer.outcome])


def verdict_text(answer: Answer) -> str:
    """The verdict, and whether some of what is claimed was not tested."""
    return f"{answer.outcome}, in part" if answer.untested else answer.outcome


def _number(answer: Answer) -> str:
    return FORMATS[answer.claim.parts[0].unit].number(answer.estimate, sign=True)


def _interval(answer: Answer) -> str:
    if answer.low is None or answer.high is None:
        return ABSENT
    return FORMATS[answer.claim.parts[0].unit].interval(answer.low, answer.high, sign=True)


def p_text(p: float | None) -> str:
    """A p-value as it is printed."""
    if p is None:
        return ABSENT
    return "<0.001" if p < 0.001 else PLAIN.number(p)


def explain(answer: Answer) -> str:
    """What was claimed where, and what decided."""
    claim = answer.claim
    source = ", ".join(filter(None, (claim.paper, claim.where)))
    note = f" {claim.note}" if claim.note else ""
    verdict = f"{verdict_text(answer).capitalize()}: {answer.reason or answer.rule}."
    return f"{claim.name} ({source}): {claim.sentence} {verdict}{note}"


def run_notes(answer: Answer) -> list[str]:
    """Which encoders a verdict is about, and how it differs from what was claimed."""
    if not answer.tests or not answer.roles:
        return []
    roles = (
        f"{name} = {' and '.join(encoders)}{' (by its name)' if name in answer.matched else ''}"
        for name, encoders in answer.roles.items()
    )
    notes = [f"Encoders: {', '.join(roles)}."]
    if answer.published is not None:
        notes.append(f"The paper's own tables: {answer.published.outcome}, {number_text(answer.published)}.")
    if answer.untested:
        notes.append(f"Tested without {', '.join(answer.untested)}: the run has no results of both sides.")
    if answer.languages:
        notes.append(f"Tested in other languages than the paper's: {', '.join(answer.languages)}.")
    return notes


def cell_rows(answer: Answer) -> list[tuple[str, ...]]:
    """Each cell of a claim: its number, its interval, and the p-values for the claim and against it."""
    form = FORMATS[answer.claim.parts[0].unit]
    return [
        (
            test.label,
            form.number(test.value, sign=True),
            form.interval(*test.ends, sign=True) if test.ends else ABSENT,
            p_text(test.p_for),
            p_text(test.p_against),
        )
        for test in answer.tests
    ]


def cell_table(answer: Answer) -> Table:
    """The same as a table."""
    headings = ("cell", "number", level_text(), "p for", "p against")
    return Table.of_rows(headings, cell_rows(answer), title=answer.claim.sentence)


def number_text(answer: Answer) -> str:
    """The number of a claim, with its interval if it has one; of p-values alone, how many are as claimed."""
    if answer.estimate is None:
        return count_cells(answer)
    ends = _interval(answer)
    return _number(answer) + (f" ({ends})" if ends != ABSENT else "")


def count_cells(answer: Answer) -> str:
    """How many cells are as claimed."""
    return f"{answer.agreeing} of {answer.cells}" if answer.cells else ABSENT


def claim_table(claims: Sequence[Claim]) -> Table:
    """What each finding says, and where; and the roles that ``--as`` takes."""
    rows = [(claim.name, claim.where, claim.sentence, ", ".join(claim.role_names)) for claim in claims]
    return Table.of_rows(("finding", "where", "claim", "roles"), rows, texts=("where", "claim", "roles"))


def format_claims(claims: Sequence[Claim], format: TextFormat) -> str:
    """The list as text."""
    table = claim_table(claims)
    if format == "md":
        return "\n".join(table.markdown()) + "\n"
    if format == "csv":
        return table.csv()
    records = [
        {
            "finding": c.name,
            "paper": c.paper,
            "where": c.where,
            "claim": c.sentence,
            "roles": c.role_names,
            "note": c.note,
        }
        for c in claims
    ]
    return msgspec.json.format(msgspec.json.encode(records)).decode() + "\n"


def record(answer: Answer) -> dict[str, Any]:
    """An answer with unrounded numbers."""
    claim = answer.claim
    return {
        "finding": claim.name,
        "paper": claim.paper,
        "where": claim.where,
        "claim": claim.sentence,
        "verdict": answer.outcome,
        "estimate": answer.estimate,
        "low": answer.low,
        "high": answer.high,
        "p": answer.p,
        "cells": answer.cells,
        "agreeing": answer.agreeing,
        "rule": answer.rule,
        "reason": answer.reason,
        "note": claim.note,
        "published": answer.published.outcome if answer.published else None,
        "untested": ", ".join(answer.untested),
        "languages": ", ".join(answer.languages),
    }


def format_answers(answers: Sequence[Answer], format: TextFormat) -> str:
    """Answers as text; CSV and JSON have unrounded numbers, and JSON every cell and role."""
    if format == "md":
        return "\n".join([headline(answers), "", *answer_table(answers).markdown(), "", LEGEND]) + "\n"
    records = [record(answer) for answer in answers]
    if format == "csv":
        return Table.of_rows(list(records[0]), [list(r.values()) for r in records]).csv()
    for entry, answer in zip(records, answers, strict=True):
        entry["roles"] = {name: list(encoders) for name, encoders in answer.roles.items()}
        entry["untested"], entry["languages"] = answer.untested, answer.languages
        entry["tests"] = [
            {"cell": t.label, "value": t.value, "p_for": t.p_for, "p_against": t.p_against} for t in answer.tests
        ]
    return msgspec.json.format(msgspec.json.encode(records)).decode() + "\n"
