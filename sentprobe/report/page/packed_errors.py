"""Errors, packed: the page of a run with many encoders and sets must stay small enough to send."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from sentprobe.report.types import Bin, ColumnErrors, SetErrors, ShownRow

MAX_SENTENCE_LENGTH = 240
"""Characters of a sentence shown; 99.7 % of 93,000 test rows of X-Probe, EWT, GUM and transfer tasks are shorter."""
MAX_PAGE_ERRORS = 1200
"""Sentences on a page, approximately: with their labels, some 200 kB."""
MIN_ERRORS = 2
"""Sentences for an encoder and set, at least."""


def pack_errors(
    errors: Sequence[SetErrors | None], label_names: Sequence[Mapping[str, str]] = ()
) -> list[dict[str, object] | None]:
    """The errors of each set, with lists in place of records; what follows from the confusions is left out.

    ``label_names``: per set, what labels mean; labels are shown by these names.
    """
    columns = sum(own is not None for found in errors if found for own in found.columns)
    most = max(MIN_ERRORS, MAX_PAGE_ERRORS // max(1, columns))
    names = label_names or [{}] * len(errors)
    return [
        None if found is None else _packed_set(_in_words(found, own), most) | ({"codes": _codes(own)} if own else {})
        for found, own in zip(errors, names, strict=True)
    ]


def _codes(names: Mapping[str, str]) -> str:
    """Which code a name stands for: ``NN = singular, NNS = plural``."""
    return ", ".join(f"{code} = {name}" for code, name in names.items())


def _in_words(found: SetErrors, names: Mapping[str, str]) -> SetErrors:
    """The same with names in place of labels."""
    if not names:
        return found

    def row(own: ShownRow) -> ShownRow:
        return replace(own, label=_name(own.label, names), predicted=_name(own.predicted, names))

    def column(own: ColumnErrors) -> ColumnErrors:
        pairs = (
            replace(p, truth=names.get(p.truth, p.truth), predicted=names.get(p.predicted, p.predicted))
            for p in own.pairs
        )
        return replace(own, errors=tuple(map(row, own.errors)), pairs=tuple(pairs))

    return replace(
        found,
        labels=tuple(names.get(label, label) for label in found.labels),
        columns=tuple(own and column(own) for own in found.columns),
        doubtful=tuple(map(row, found.doubtful)),
        easiest=tuple(map(row, found.easiest)),
    )


def _name(label: str | None, names: Mapping[str, str]) -> str | None:
    return label if label is None else names.get(label, label)


def _packed_set(found: SetErrors, most: int) -> dict[str, object]:
    return {
        "labels": found.labels,
        "columns": [own and _packed(own, most) for own in found.columns],
        "doubtful": [_informative(row) for row in found.doubtful],
        "easiest": [_informative(row) for row in found.easiest],
    }


def _informative(row: ShownRow) -> list[object]:
    return [segments(row.tokens, row.marks), row.label, row.bits, row.source]


def _packed(own: ColumnErrors, most: int) -> dict[str, object]:
    return {
        "confusion": own.confusion,
        "pairs": None if own.confusion is not None else [[p.truth, p.predicted, p.n] for p in own.pairs],
        "length": [_bin(b) for b in own.length],
        "target": own.target and [_bin(b) for b in own.target],
        "errors": [
            [segments(e.tokens, e.marks), e.label, e.predicted, round(e.confidence or 0.0, 3), e.source]
            for e in own.errors[:most]
        ],
    }


def _bin(found: Bin) -> list[int]:
    """Ends, rows, correct rows, and the interval in tenths of a point."""
    return [found.low, found.high, found.n, found.correct, round(1000 * found.below), round(1000 * found.above)]


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
