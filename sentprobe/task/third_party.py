"""Code that users wrote for a task: checking its functions, and the line where it fails."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from traceback import extract_tb
from typing import Any

from sentprobe.errors import UsageError, error_location
from sentprobe.task.task import Task

ARGUMENTS = {
    "propose": "(sentence, context)",
    "count": "(sentence)",
    "plan": "(counts, policy, reading)",
    "complete": "(examples, rng)",
    "original": "(row)",
    "label_issues": "(rows)",
}
"""What each function of a task is called with."""


def check_signatures(task: Task) -> None:
    """Refuse a task one of whose functions cannot be called with what it will be given, naming its file and line."""
    for name, expected in ARGUMENTS.items():
        call = getattr(task, name)
        if call is None:
            if name == "propose":
                raise UsageError(f"The task {task.name} has no `propose`; expected a function {name}{expected}.")
            continue
        if not callable(call):
            raise UsageError(
                f"The task {task.name}: expected `{name}` to be a function {name}{expected}, got {call!r:.80}."
            )
        try:
            signature = inspect.signature(call)
        except (TypeError, ValueError):  # some functions written in C have none
            continue
        try:
            signature.bind(*[None] * (expected.count(",") + 1))
        except TypeError:
            raise UsageError(
                f"The task {task.name}: expected a function {name}{expected}, "
                f"got {getattr(call, '__name__', name)}{signature}{_defined_at(call)}."
            ) from None


def failure_location(error: BaseException, call: Callable[..., Any] | None) -> str:
    """Where a function of a task went wrong, as `` (file:line)``: the last line of its own file that was running.

    The innermost frame may be a library's, and a call with the wrong arguments has no frame at all.
    """
    if (file := _file(call)) is not None:
        lines = [frame.lineno for frame in extract_tb(error.__traceback__) if frame.filename == file]
        if lines:
            return f" ({file}:{lines[-1]})"
    return error_location(error) or _defined_at(call)


def _file(call: Callable[..., Any] | None) -> str | None:
    code = getattr(call, "__code__", None)
    return None if code is None else str(code.co_filename)


def _defined_at(call: Callable[..., Any] | None) -> str:
    file = _file(call)
    return "" if call is None or file is None else f" ({file}:{call.__code__.co_firstlineno})"
