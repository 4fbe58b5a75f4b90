"""What goes wrong, packed: a page for many encoders and sets must stay small enough to send."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

MAX_SENTENCE_LENGTH = 240
"""Of a sentence that is shown: 99.7 % of 93,000 test rows of X-Probe, EWT, GUM and the transfer tasks are shorter."""
MAX_PAGE_ERRORS = 1800
"""Sentences on a page, more or less: with their labels some 300 kB."""
MIN_ERRORS = 2
"""Sentences of an encoder and set, at least."""


def pack_errors(mistakes: Sequence[Mapping[str, Any] | None]) -> list[dict[str, Any] | None]:
    """The mistakes of each set with lists in place of records; what follows from the confusions is left out."""
    columns = sum(own is not None for found in mistakes if found for own in found["columns"])
    most = max(MIN_ERRORS, MAX_PAGE_ERRORS // max(1, columns))
    return [
        None
        if found is None
        else {
            "labels": found["labels"],
            "columns": [own and _packed(own, most) for own in found["columns"]],
            **{
                end: [
                    [segments(row["tokens"], row["marks"]), row["label"], row["bits"], row["source"]]
                    for row in found[end]
                ]
                for end in ("doubtful", "telling")
            },
        }
        for found in mistakes
    ]


def _packed(own: Mapping[str, Any], most: int) -> dict[str, Any]:
    whole = own["confusion"] is not None
    return {
        "confusion": own["confusion"],
        "pairs": None if whole else [[p["truth"], p["predicted"], p["n"]] for p in own["pairs"]],
        "length": [_bin(b) for b in own["length"]],
        "target": own["target"] and [_bin(b) for b in own["target"]],
        "errors": [
            [segments(e["tokens"], e["marks"]), e["truth"], e["predicted"], round(e["confidence"], 3), e["source"]]
            for e in own["errors"][:most]
        ],
    }


def _bin(found: Mapping[str, Any]) -> list[int]:
    """Ends, rows, rows that are right, and the interval in tenths of a point."""
    below, above = (round(1000 * found[name]) for name in ("below", "above"))
    return [found["low"], found["high"], found["n"], found["right"], below, above]


def segments(tokens: Sequence[str], marks: Sequence[int]) -> list[str]:
    """A sentence in parts, every second of which is marked; of a long one, what stands around the first mark."""
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
            # a blank between two marked words belongs to the mark, any other to what is not marked
            if len(parts) % 2 == 0 and i + 1 not in marked:
                parts.append("")
            parts[-1] += " "
    if last + 1 < len(tokens):
        parts += [" …"] if len(parts) % 2 == 0 else []
        parts[-1] += "" if parts[-1].endswith(" …") else " …"
    return parts
