"""Errors: what the probes got wrong, one set and one encoder at a time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from sentprobe.report.names import set_names
from sentprobe.report.page.section import PageData, Section, sibling_file
from sentprobe.report.types import Bin, ColumnErrors, SetErrors, SetSummary, ShownRow
from sentprobe.report.verdict import verdict_of
from sentprobe.results.metric import metric_named

MAX_SENTENCE_LENGTH = 240
"""Characters of a sentence shown; 99.7 % of 93,000 test rows of X-Probe, EWT, GUM and transfer tasks are shorter."""
MAX_PAGE_ERRORS = 1200
"""Sentences on a page, approximately: with their labels, some 200 kB."""
MIN_ERRORS = 2
"""Sentences for an encoder and set, at least."""


def script_data(page: PageData) -> object:
    """The errors of each set, and the set and the column to begin with."""
    sets = page.summary.sets
    errors = [
        set_errors if set_errors is None or _is_known(s) else replace(set_errors, doubtful=(), easiest=())
        for set_errors, s in zip(page.summary.errors, sets, strict=True)
    ]
    return {
        "first": _first(page.summary.errors, sets),
        "names": set_names(page.summary.sets),
        "columns": page.names,
        "errors": pack_errors(errors, [s.label_names for s in page.summary.sets]),
        "predicts": [metric_named(s.scored_by).predicts for s in page.summary.sets],
        "best": [_best(s) for s in page.summary.sets],
    }


def _first(errors: Sequence[SetErrors | None], sets: Sequence[SetSummary]) -> int | None:
    """The first set on which someone is above the baselines; if there is none, the first with errors."""
    with_errors = [i for i, set_errors in enumerate(errors) if set_errors is not None]
    above = [i for i in with_errors if any(verdict_of(cell) == "above" for cell in sets[i].cells)]
    return next(iter([*above, *with_errors]), None)


def _is_known(s: SetSummary) -> bool:
    """Whether someone knows something about the labels of a set: at chance, an unlikely label is not a doubtful one."""
    return any(
        verdict_of(cell) == "above" or (cell.information is not None and (cell.information.low or 0.0) > 0)
        for cell in s.cells
        if cell is not None
    )


def _best(s: SetSummary) -> int | None:
    """The column with the highest score on a set."""
    scores = [(cell.score.value, -j) for j, cell in enumerate(s.cells) if cell and cell.score.value is not None]
    return -max(scores)[1] if scores else None


def absent(page: PageData) -> str | None:
    """Whether there is a set with predictions."""
    if any(page.summary.errors):
        return None
    return page.summary.kind.no_errors


# Packed: the page of a run with many encoders and sets must stay small enough to send


def pack_errors(
    errors: Sequence[SetErrors | None], label_names: Sequence[Mapping[str, str]] = ()
) -> list[dict[str, object] | None]:
    """The errors of each set, with lists in place of records; what follows from the confusions is left out.

    ``label_names``: per set, what labels mean; labels are shown by these names.
    """
    columns = sum(column is not None for set_errors in errors if set_errors for column in set_errors.columns)
    most = max(MIN_ERRORS, MAX_PAGE_ERRORS // max(1, columns))
    names = label_names or [{}] * len(errors)
    return [
        None
        if set_errors is None
        else _packed_set(_in_words(set_errors, names_of_set), most)
        | ({"codes": _codes(names_of_set)} if names_of_set else {})
        for set_errors, names_of_set in zip(errors, names, strict=True)
    ]


def _codes(names: Mapping[str, str]) -> str:
    """Which code a name stands for: ``NN = singular, NNS = plural``."""
    return ", ".join(f"{code} = {name}" for code, name in names.items())


def _in_words(set_errors: SetErrors, names: Mapping[str, str]) -> SetErrors:
    """The same with names in place of labels."""
    if not names:
        return set_errors

    def in_words(row: ShownRow) -> ShownRow:
        return replace(row, label=_name(row.label, names), predicted=_name(row.predicted, names))

    def column_in_words(column: ColumnErrors) -> ColumnErrors:
        pairs = (
            replace(p, truth=names.get(p.truth, p.truth), predicted=names.get(p.predicted, p.predicted))
            for p in column.pairs
        )
        return replace(column, errors=tuple(map(in_words, column.errors)), pairs=tuple(pairs))

    return replace(
        set_errors,
        labels=tuple(names.get(label, label) for label in set_errors.labels),
        columns=tuple(column and column_in_words(column) for column in set_errors.columns),
        doubtful=tuple(map(in_words, set_errors.doubtful)),
        easiest=tuple(map(in_words, set_errors.easiest)),
    )


def _name(label: str | None, names: Mapping[str, str]) -> str | None:
    return label if label is None else names.get(label, label)


def _packed_set(set_errors: SetErrors, most: int) -> dict[str, object]:
    return {
        "labels": set_errors.labels,
        "columns": [column and _packed(column, most) for column in set_errors.columns],
        "doubtful": [_informative(row) for row in set_errors.doubtful],
        "easiest": [_informative(row) for row in set_errors.easiest],
    }


def _informative(row: ShownRow) -> list[object]:
    return [segments(row.tokens, row.marks), row.label, row.bits, row.source]


def _packed(column: ColumnErrors, most: int) -> dict[str, object]:
    return {
        "confusion": column.confusion,
        "pairs": None if column.confusion is not None else [[p.truth, p.predicted, p.n] for p in column.pairs],
        "length": [_bin(b) for b in column.length],
        "target": column.target and [_bin(b) for b in column.target],
        "errors": [
            [segments(e.tokens, e.marks), e.label, e.predicted, round(e.confidence or 0.0, 3), e.source]
            for e in column.errors[:most]
        ],
    }


def _bin(b: Bin) -> list[int]:
    """Ends, rows, correct rows, and the interval in tenths of a point."""
    return [b.low, b.high, b.n, b.correct, round(1000 * b.below), round(1000 * b.above)]


def segments(tokens: Sequence[str], marks: Sequence[int]) -> list[str]:
    """A sentence in parts, every second of which is marked; a long one is cut around its first mark."""
    marked = {i for i in marks if 0 <= i < len(tokens)}
    centre = min(marked, default=0)
    first, last, room = centre, centre, MAX_SENTENCE_LENGTH - len(tokens[centre]) if tokens else 0
    while room > 0 and (first > 0 or last + 1 < len(tokens)):  # outwards, one token on each side in turn
        if first > 0:
            first -= 1
            room -= len(tokens[first]) + 1
        if last + 1 < len(tokens) and room > 0:
            last += 1
            room -= len(tokens[last]) + 1
    parts = ["… " if first else ""]
    for i in range(first, min(last + 1, len(tokens))):
        token = tokens[i] if len(tokens[i]) <= MAX_SENTENCE_LENGTH else tokens[i][:MAX_SENTENCE_LENGTH] + "…"
        if (i in marked) == (len(parts) % 2 == 0):
            parts[-1] += token
        else:
            parts.append(token)
        if i < last:
            # a space between two marked words belongs to the mark, any other to the unmarked text
            if len(parts) % 2 == 0 and i + 1 not in marked:
                parts.append("")
            parts[-1] += " "
    if last + 1 < len(tokens):
        parts += [" …"] if len(parts) % 2 == 0 else []
        parts[-1] += "" if parts[-1].endswith(" …") else " …"
    return parts


section = Section(
    name="errors",
    order=60,
    title="Errors",
    intro="One encoder on one set at a time: which labels its probe confuses, where it fails, and its most confident "
    "errors.",
    words_intro="One system on one set at a time: the rows that it has wrong.",
    template=sibling_file(__package__, "errors.html"),
    absent=absent,
    script=sibling_file(__package__, "errors.js"),
    script_data=script_data,
)
