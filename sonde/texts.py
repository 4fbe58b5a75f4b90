"""Texts as a caller may give them: one string is one text, and not a sequence of letters."""

from __future__ import annotations

from collections.abc import Iterable

from sonde.errors import UsageError

Texts = str | Iterable[str]


def listed(texts: Texts) -> list[str]:
    """The texts as a list; UsageError where one of them is none."""
    if isinstance(texts, str):
        return [texts]
    found = list(texts)
    if (odd := next((i for i, text in enumerate(found) if not isinstance(text, str)), None)) is not None:
        raise UsageError(f"Text {odd + 1} of {len(found)} is of type {type(found[odd]).__name__}; expected a string.")
    return found
