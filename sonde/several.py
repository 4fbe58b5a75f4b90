"""One or several: a bare text, path or number where a list is expected means one, never its letters."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TypeVar

from sonde.errors import UsageError

T = TypeVar("T")

Text = str | os.PathLike[str]
Texts = Text | Iterable[Text]
"""A text or a path, or several of them."""
Numbers = int | Iterable[int]


def texts(given: Texts, what: str = "a text") -> list[str]:
    """The texts that are meant, paths among them as texts; ``what`` says in an error what was expected."""
    kinds: tuple[type[Text], ...] = (str, os.PathLike)
    return [os.fspath(each) for each in several(given, kinds, what)]


def several(given: object, kinds: type[T] | tuple[type[T], ...], what: str) -> list[T]:
    """What is given as a list: one of these kinds alone means one, even if it could be gone through itself."""
    if isinstance(given, kinds):
        return [given]
    found: list[T] = []
    for each in given if isinstance(given, Iterable) else (given,):
        if not isinstance(each, kinds):
            raise UsageError(f"Expected {what}, or several, got {each!r:.80} of type {type(each).__name__}.")
        found.append(each)
    return found


def listed(given: str | Iterable[str]) -> list[str]:
    """Sentences as a list, of which one alone is one; none of them is a path."""
    if isinstance(given, str):
        return [given]
    found = list(given)
    if (odd := next((i for i, text in enumerate(found) if not isinstance(text, str)), None)) is not None:
        raise UsageError(f"Text {odd + 1} of {len(found)} is of type {type(found[odd]).__name__}; expected a string.")
    return found
