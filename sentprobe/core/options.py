"""Options that are declared once, as the fields of a dataclass: its docstring describes them, its types check them.

``takes`` makes them keyword arguments of a function, and ``as_parameters`` the options of a verb. So a new option is
one field, and the line that uses it.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import field, fields
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar, cast, get_type_hints

from sentprobe.core.arguments import StringsOrPaths

A = TypeVar("A")
B = TypeVar("B")
C = TypeVar("C")
Options = TypeVar("Options")
R = TypeVar("R")
T = TypeVar("T")
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
        *own, _ = signature.parameters.values()
        keywords = list(inspect.signature(options).parameters.values())
        signature = signature.replace(parameters=[*own, *keywords])

        @wraps(function)
        def call(*args: Any, **named: Any) -> R:
            values = signature.bind(*args, **named).arguments
            first = [values.pop(parameter.name) for parameter in own]
            return function(*first, options(**values))  # type: ignore[call-arg]

        call.__signature__ = signature  # type: ignore[attr-defined]
        more = "\n".join(f"{_INDENT}{name}{text}" for name, text in describe_fields(cast(type, options)).items())
        head, end, tail = (function.__doc__ or "").partition(f"\n\n{_INDENT}Returns\n")
        call.__doc__ = f"{head}\n{more}{end}{tail}"
        return cast(Callable[Concatenate[A, B, C, P], R], call)

    return decorate


def as_parameters(options: type) -> list[tuple[str, Any, Any, str]]:
    """Name, type on the command line, default and heading of every field that is an option of a verb."""
    types = get_type_hints(options)
    on_command_line = {StringsOrPaths: tuple[str, ...]}
    return [
        (f.name, on_command_line.get(types[f.name], types[f.name]), f.default, f.metadata[GROUP])
        for f in fields(options)
        if GROUP in f.metadata
    ]
