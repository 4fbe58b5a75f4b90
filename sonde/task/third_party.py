"""Code that users wrote for a task: loading it, checking its functions, and the line where it fails."""

from __future__ import annotations

import importlib.util
import inspect
import sys
from collections.abc import Callable
from pathlib import Path
from traceback import extract_tb
from types import ModuleType
from typing import Any

from sonde.core.third_party import third_party_code
from sonde.errors import UsageError, describe_error, error_location
from sonde.task.task import Task

ARGUMENTS = {
    "propose": "(sentence, context)",
    "count": "(sentence)",
    "plan": "(counts, policy, reading)",
    "complete": "(examples, rng)",
    "original": "(row)",
    "label_issues": "(rows)",
}
"""What each function of a task is called with."""


def load_file(path: Path, noun: str) -> ModuleType:
    """Run a user's Python file; raises UsageError, with file and line, if it fails."""
    if not path.is_file():
        raise UsageError(f"There is no file {path} to load a {noun} from.")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise UsageError(f"{path} is not a Python file; a {noun} file ends in .py and defines `{noun}`.")
    module = importlib.util.module_from_spec(spec)
    before = sys.modules.get(path.stem)
    sys.modules[path.stem] = module  # dataclasses look their module up while it runs
    try:
        with third_party_code:
            spec.loader.exec_module(module)
    except KeyboardInterrupt:
        raise
    except BaseException as e:  # sys.exit among them
        where = _import_location(e, str(path))
        raise UsageError(f"The {noun} file {path} does not run: {describe_error(e)}{where}") from e
    finally:  # removed again, so that workers are sent the code and do not try to import it
        del sys.modules[path.stem]
        if before is not None:
            sys.modules[path.stem] = before
    return module


def load_module(name: str, noun: str) -> ModuleType:
    """Import a user's module; raises UsageError, with file and line, if that fails."""
    try:
        with third_party_code:
            return importlib.import_module(name)
    except KeyboardInterrupt:
        raise
    except BaseException as e:
        reason = str(e) if isinstance(e, ImportError) else describe_error(e)
        raise UsageError(
            f"The {noun} names the module {name!r}, which cannot be imported: {reason}{_import_location(e)}."
        ) from e


def _import_location(error: BaseException, path: str | None = None) -> str:
    """The line where running a file failed, of the file itself if its path is given, as `` (file:line)``."""
    if isinstance(error, SyntaxError) and error.filename and error.lineno:
        return f" ({error.filename}:{error.lineno})"
    lines = [frame.lineno for frame in extract_tb(error.__traceback__) if frame.filename == path]
    return f" ({path}:{lines[-1]})" if lines else error_location(error)


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
