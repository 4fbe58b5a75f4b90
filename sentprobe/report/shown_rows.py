"""A test row as it is shown: a long sentence is cut, with … in its place; further inputs follow after a bar."""

from __future__ import annotations

from collections.abc import Sequence

from sentprobe.report.types import ShownRow
from sentprobe.tasks import Example

MAX_TOKENS_SHOWN, MAX_TOKEN_LENGTH = 60, 200
"""Tokens of a sentence, and characters of a token, that are shown."""
ELLIPSIS, INPUT_SEPARATOR = "…", "|"


def shown_row(row: Example, inputs: Sequence[str]) -> ShownRow:
    """As much of a row as there is room for."""
    tokens, marks = _window(row.tokens, row.marks)
    for name in inputs:
        tokens += [INPUT_SEPARATOR, *_window(dict(row.extra).get(name, "").split(), ())[0]]
    return ShownRow(tokens=tuple(tokens), marks=tuple(marks), source=row.source, label=row.label)


def _window(tokens: Sequence[str], marks: Sequence[int]) -> tuple[list[str], list[int]]:
    """At most MAX_TOKENS_SHOWN tokens around the marks, or the first ones, and the positions of the marks in these."""
    marks = sorted({mark for mark in marks if 0 <= mark < len(tokens)})
    start = 0
    if marks and len(tokens) > MAX_TOKENS_SHOWN:
        apart = marks[-1] - marks[0] >= MAX_TOKENS_SHOWN
        start = marks[0] if apart else (marks[0] + marks[-1] + 1 - MAX_TOKENS_SHOWN) // 2
        start = max(0, min(start, len(tokens) - MAX_TOKENS_SHOWN))
    end = min(len(tokens), start + MAX_TOKENS_SHOWN)
    shown = [
        token if len(token) <= MAX_TOKEN_LENGTH else f"{token[: MAX_TOKEN_LENGTH - 1]}{ELLIPSIS}"
        for token in tokens[start:end]
    ]
    before, after = [ELLIPSIS] * (start > 0), [ELLIPSIS] * (end < len(tokens))
    return before + shown + after, [mark - start + len(before) for mark in marks if start <= mark < end]
