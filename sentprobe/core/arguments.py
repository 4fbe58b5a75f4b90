"""What callers and users pass: values and lists, settings of parts, options of verbs; checked once, with one error.

* Arguments: a single string or path where a list is expected is one value, never its characters.
* Settings: named values of a part, with a default, a type and a line of documentation, which users type as text.
* Options: the fields of a dataclass, whose docstring describes them and whose types check them. ``takes`` makes them
  keyword arguments of a function, and ``as_parameters`` the options of a verb: a new option is one field, and the line
  that uses it.

The module imports the standard library only: every verb loads it at start.
"""

from __future__ import annotations

import difflib
import inspect
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields
from functools import cache, wraps
from types import UnionType
from typing import (
    TYPE_CHECKING,
    Any,
    Concatenate,
    Literal,
    ParamSpec,
    TypeVar,
    Union,
    cast,
    get_args,
    get_origin,
    get_type_hints,
)

from sentprobe.errors import UsageError

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

# Arguments


T = TypeVar("T")

StrOrPath = str | os.PathLike[str]
StringsOrPaths = StrOrPath | Iterable[StrOrPath]
"""A string or a path, or several of them."""
Integers = int | Iterable[int]
Progress = Callable[[str, int, int | None], None]
"""Called with a stage, how much of it is done, and the total; None where the total is unknown.

What is in work may follow the stage: ``encode: static:``, ``cells: st:a on bigram_shift``.
"""


def as_strings(values: StringsOrPaths, what: str = "a string") -> list[str]:
    """One or several strings as a list, paths as strings; ``what`` says in an error what was expected."""
    kinds: tuple[type[StrOrPath], ...] = (str, os.PathLike)
    return [os.fspath(value) for value in as_list(values, kinds, what)]


def as_list(values: object, kinds: type[T] | tuple[type[T], ...], what: str) -> list[T]:
    """One or several values as a list: a single value of these types is one, even if it is itself iterable."""
    if isinstance(values, kinds) and not isinstance(values, bool):
        return [values]
    checked: list[T] = []
    # a string that should have been something else is one wrong value, not several characters
    for value in values if isinstance(values, Iterable) and not isinstance(values, str | bytes) else (values,):
        if not isinstance(value, kinds) or isinstance(value, bool):
            raise UsageError(f"Expected {what}, or several, got {value!r:.80} of type {type(value).__name__}.")
        checked.append(value)
    return checked


def check_integer(value: object, what: str, least: int) -> int:
    """An integer of ``least`` or more; booleans and strings are refused."""
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise UsageError(f"Expected {what} of {least} or more, got {value!r:.80} of type {type(value).__name__}.")
    return value


def check_options(least: int, /, **numbers: int | None) -> None:
    """UsageError for a number below ``least``; None is not checked. It is named as the option of a command is."""
    for name, number in numbers.items():
        if number is not None and number < least:
            raise UsageError(f"--{name.replace('_', '-')} {number}: expected an integer, {least} or more.")


def as_texts(texts: str | Iterable[str]) -> list[str]:
    """One or several sentences as a list; paths are refused."""
    if isinstance(texts, str):
        return [texts]
    if not isinstance(texts, Iterable):
        raise UsageError(f"Expected a text, or several, got {texts!r:.80} of type {type(texts).__name__}.")
    sentences = list(texts)
    if (odd := next((i for i, text in enumerate(sentences) if not isinstance(text, str)), None)) is not None:
        raise UsageError(
            f"Text {odd + 1} of {len(sentences)} is of type {type(sentences[odd]).__name__}; expected a string."
        )
    return sentences


def resolve_jobs(jobs: int) -> int:
    """A usable number of worker processes; 0 and below mean all cores."""
    return jobs if jobs > 0 else os.cpu_count() or 1


# Suggestions


MAX_LISTED, LISTED_OF_MANY = 10, 5


def listed_names(names: Iterable[object]) -> str:
    """Names with commas between them; of more than ten, the first five and how many more there are.

    >>> listed_names("abc"), listed_names(range(22))
    ('a, b, c', '0, 1, 2, 3, 4 and 17 more')
    """
    texts = list(map(str, names))
    if len(texts) <= MAX_LISTED:
        return ", ".join(texts)
    return f"{', '.join(texts[:LISTED_OF_MANY])} and {len(texts) - LISTED_OF_MANY} more"


def did_you_mean(name: str, names: Iterable[str], n: int = 2) -> str:
    """`` Did you mean X or Y?`` with the nearest ``n`` of the known names, or nothing."""
    near = difflib.get_close_matches(name, list(names), n=n)
    return f" Did you mean {' or '.join(near)}?" if near else ""


def check_literals(value: DataclassInstance, what: str) -> None:
    """Raise UsageError if a ``Literal`` field of a dataclass has any other value; ``what`` names the object."""
    for name, words in _words(type(value)).items():
        got = getattr(value, name)
        if isinstance(got, str) and got not in words:
            raise UsageError(f"{what}'s {name} must be {' or '.join(words)}, got {got!r}.")


@cache
def _words(kind: type[DataclassInstance]) -> dict[str, tuple[str, ...]]:
    literals = {name: tuple(_literals(hint)) for name, hint in get_type_hints(kind).items()}
    return {name: words for name, words in literals.items() if words}


def _literals(hint: Any) -> list[str]:
    if get_origin(hint) is Literal:
        return [str(word) for word in get_args(hint)]
    if get_origin(hint) in (Union, UnionType):
        return [word for part in get_args(hint) for word in _literals(part)]
    return []


# Settings


Value = bool | int | float | str
"""What a setting may be."""


@dataclass(frozen=True)
class Setting:
    """One setting: its type is that of its default."""

    default: Value
    doc: str
    """A few words, lower case, without a full stop."""
    choices: tuple[str, ...] = ()
    """The only values of a text, if there are few."""
    low: float = 1
    """The smallest value of a number."""
    high: float = float("inf")
    """The largest value of a number."""

    def __post_init__(self) -> None:
        # where a part declares it, instead of in every command that leaves the setting as it is
        try:
            self.parse("", self.default)
        except UsageError as e:
            hint = "give low, high or choices."
            raise UsageError(f"{self.doc}: the default {self.default!r} is not {self.expected}; {hint}") from e

    def parse(self, name: str, value: Value) -> Value:
        """The value as the type of the default; UsageError if it is none, or out of range."""
        try:
            parsed = self._parse(value)
        except ValueError:
            parsed = None
        if parsed is None or (self.choices and parsed not in self.choices):
            raise UsageError(f"{name}={value}: expected {self.expected}.")
        if not isinstance(parsed, str | bool) and not self.low <= parsed <= self.high:
            raise UsageError(f"{name}={value}: expected {self.expected}.")
        return parsed

    @property
    def expected(self) -> str:
        """What the value must be."""
        if isinstance(self.default, bool):
            return "yes or no"
        if isinstance(self.default, str):
            return (
                f"one of {', '.join(self.choices)}" if len(self.choices) > 2 else " or ".join(self.choices) or "a text"
            )
        kind = "an integer" if isinstance(self.default, int) else "a number"
        high = f"{self.high:.0f}" if self.high > 1e6 else f"{self.high:g}"
        return f"{kind}, {self.low:g} or more" if high == "inf" else f"{kind} from {self.low:g} to {high}"

    def _parse(self, value: Value) -> Value | None:
        if isinstance(self.default, bool):
            words = {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False}
            return words.get(str(value).lower())
        if isinstance(value, bool) or (isinstance(self.default, int) and isinstance(value, float)):
            return None
        return type(self.default)(value)


Settings = Mapping[str, Value]
"""Values of settings by name, complete."""


def resolve_settings(settings: Mapping[str, Setting], values: Mapping[str, Value], what: str) -> dict[str, Value]:
    """The values given, as their types, and the defaults of the others; UsageError for an unknown name.

    ``what`` names the part: ``the encoder bilstm-max``.
    """
    if unknown := sorted(set(values) - set(settings)):
        hint = did_you_mean(unknown[0], settings)
        has = ", ".join(sorted(settings)) or "no settings"
        raise UsageError(f"There is no setting {unknown[0]!r} of {what}, which has {has}.{hint}")
    return {name: setting.parse(name, values.get(name, setting.default)) for name, setting in settings.items()}


def value_text(value: object) -> str:
    """The value of a setting as users type it."""
    return ("no", "yes")[value] if isinstance(value, bool) else f"{value:g}" if isinstance(value, float) else str(value)


def defaults_text(settings: Mapping[str, Setting]) -> str:
    """The defaults of settings as users type them."""
    return " ".join(f"{name}={value_text(setting.default)}" for name, setting in settings.items())


# Options


A = TypeVar("A")
B = TypeVar("B")
C = TypeVar("C")
Options = TypeVar("Options")
R = TypeVar("R")
P = ParamSpec("P")

GROUP = "group"
_INDENT = " " * 4


def option(default: T, group: str) -> T:
    """A field of a dataclass that is also an option of a verb, under this heading of its help."""
    return field(default=default, metadata={GROUP: group})


def describe_fields(options: type) -> dict[str, str]:
    """The lines about each field in the docstring of a dataclass, as they are indented there."""
    texts: dict[str, str] = {}
    name = ""
    section = (options.__doc__ or "").partition(f"{_INDENT}----------\n")[2]
    for line in section.rstrip().split("\n"):
        if line.startswith(2 * _INDENT):
            texts[name] += f"\n{line}"
        else:
            name = line.strip()
            texts[name] = ""
    return texts


def takes(
    options: Callable[P, Options],
) -> Callable[[Callable[[A, B, C, Options], R]], Callable[Concatenate[A, B, C, P], R]]:
    """Give a function the fields of a dataclass as keyword arguments, in place of its last parameter, ``options``."""

    def decorate(function: Callable[[A, B, C, Options], R]) -> Callable[Concatenate[A, B, C, P], R]:
        signature = inspect.signature(function)
        *positional, _ = signature.parameters.values()
        keywords = list(inspect.signature(options).parameters.values())
        signature = signature.replace(parameters=[*positional, *keywords])

        @wraps(function)
        def call(*args: Any, **named: Any) -> R:
            values = signature.bind(*args, **named).arguments
            first = [values.pop(parameter.name) for parameter in positional]
            return function(*first, options(**values))  # type: ignore[call-arg]

        call.__signature__ = signature  # type: ignore[attr-defined]
        descriptions = "\n".join(
            f"{_INDENT}{name}{text}" for name, text in describe_fields(cast(type, options)).items()
        )
        head, end, tail = (function.__doc__ or "").partition(f"\n\n{_INDENT}Returns\n")
        call.__doc__ = f"{head}\n{descriptions}{end}{tail}"
        return cast(Callable[Concatenate[A, B, C, P], R], call)

    return decorate


def as_parameters(options: type) -> list[tuple[str, Any, Any, str]]:
    """Name, type on the command line, default and heading of every field that is an option of a verb."""
    types = get_type_hints(options, include_extras=True)
    on_command_line = {StringsOrPaths: tuple[str, ...]}
    return [
        (f.name, on_command_line.get(types[f.name], types[f.name]), f.default, f.metadata[GROUP])
        for f in fields(options)
        if GROUP in f.metadata
    ]
