"""One value or several: a single string or path where a list is expected is one value, never its characters."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TypeVar

from sentprobe.errors import UsageError

T = TypeVar("T")

StrOrPath = str | os.PathLike[str]
StringsOrPaths = StrOrPath | Iterable[StrOrPath]
"""A string or a path, or several of them."""
Integers = int | Iterable[int]


def as_strings(given: StringsOrPaths, what: str = "a string") -> list[str]:
    """One or several strings as a list, paths as strings; ``what`` says in an error what was expected."""
    kinds: tuple[type[StrOrPath], ...] = (str, os.PathLike)
    return [os.fspath(value) for value in as_list(given, kinds, what)]


def as_list(given: object, kinds: type[T] | tuple[type[T], ...], what: str) -> list[T]:
    """One or several values as a list: a single value of these types is one, even if it is itself iterable."""
    if isinstance(given, kinds) and not isinstance(given, bool):
        return [given]
    found: list[T] = []
    # a string that should have been something else is one wrong value, not several characters
    for value in given if isinstance(given, Iterable) and not isinstance(given, str | bytes) else (given,):
        if not isinstance(value, kinds) or isinstance(value, bool):
            raise UsageError(f"Expected {what}, or several, got {value!r:.80} of type {type(value).__name__}.")
        found.append(value)
    return found


def check_integer(given: object, what: str, least: int) -> int:
    """An integer of ``least`` or more; booleans and strings are refused."""
    if isinstance(given, bool) or not isinstance(given, int) or given < least:
        raise UsageError(f"Expected {what} of {least} or more, got {given!r:.80} of type {type(given).__name__}.")
    return given


def check_options(least: int, /, **numbers: int | None) -> None:
    """UsageError for a number below ``least``; None is not checked. It is named as the option of a command is."""
    for name, number in numbers.items():
        if number is not None and number < least:
            raise UsageError(f"--{name.replace('_', '-')} {number}: expected an integer, {least} or more.")


def as_texts(given: str | Iterable[str]) -> list[str]:
    """One or several sentences as a list; paths are refused."""
    if isinstance(given, str):
        return [given]
    if not isinstance(given, Iterable):
        raise UsageError(f"Expected a text, or several, got {given!r:.80} of type {type(given).__name__}.")
    found = list(given)
    if (odd := next((i for i, text in enumerate(found) if not isinstance(text, str)), None)) is not None:
        raise UsageError(f"Text {odd + 1} of {len(found)} is of type {type(found[odd]).__name__}; expected a string.")
    return found


def resolve_jobs(jobs: int) -> int:
    """A usable number of worker processes; 0 and below mean all cores."""
    return jobs if jobs > 0 else os.cpu_count() or 1
