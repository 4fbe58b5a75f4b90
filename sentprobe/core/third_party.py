"""Code that others wrote, and that is run in this process: encoders, tasks and other parts of users.

What it raises is handled where it is called. What it does to the process is handled here: ``os._exit`` raises, and
afterwards the working directory, standard output and standard error are what they were. What it advises is not passed
on where it is to switch off what protects users.
"""

from __future__ import annotations

import importlib.util
import os
import re
import sys
import threading
from collections.abc import Callable
from contextlib import ExitStack, suppress
from pathlib import Path
from traceback import extract_tb
from types import ModuleType
from typing import Any, NoReturn, TypeVar

from sentprobe.errors import HardExit, UsageError, describe_error, error_location

# Isolation


C = TypeVar("C", bound=Callable[..., Any])


class _Isolation:
    """A re-entrant context, also for several threads at once: the first enters it, the last leaves it."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._depth = 0
        self._undo = ExitStack()

    def __enter__(self) -> None:
        with self._lock:
            if not self._depth:
                for name in ("stdout", "stderr"):
                    self._undo.callback(_stream(name))
                self._undo.callback(_directory())
                self._undo.callback(_no_exit())
            self._depth += 1

    def __exit__(self, *error: object) -> None:
        with self._lock:
            self._depth -= 1
            if not self._depth:
                self._undo.close()


third_party_code = _Isolation()
"""``with third_party_code:`` around every call of code from outside this package."""


def isolated(call: C) -> C:
    """A function that is called for every sentence, in isolation; those of this package need none."""
    if str(getattr(call, "__module__", "")).startswith("sentprobe."):
        return call

    def within(*arguments: Any) -> Any:
        with third_party_code:
            return call(*arguments)

    return within  # type: ignore[return-value]


def _no_exit() -> Callable[[], None]:
    real, owner = os._exit, os.getpid()

    def refuse(status: int) -> NoReturn:
        if os.getpid() != owner:  # a process that was forked meanwhile has to exit like this
            real(status)
        raise HardExit(status)

    def restore() -> None:
        os._exit = real

    os._exit = refuse
    return restore


def _directory() -> Callable[[], None]:
    try:
        before = os.getcwd()  # noqa: PTH109 - this is called for every sentence
    except OSError:  # it was deleted
        return lambda: None

    def restore() -> None:
        with suppress(OSError):
            os.chdir(before)

    return restore


def _stream(name: str) -> Callable[[], None]:
    """Remember a stream and its file, so that it can be opened again."""
    stream = getattr(sys, name)
    number = spare = -1
    with suppress(AttributeError, OSError, ValueError):  # there is none, it has no file, or it is closed already
        number = stream.fileno()
        spare = os.dup(number)

    def restore() -> None:
        setattr(sys, name, stream)
        if spare < 0:
            return
        try:
            os.fstat(number)
        except OSError:
            os.dup2(spare, number)
        os.close(spare)
        if stream.closed:
            lines = 1 if getattr(stream, "line_buffering", True) else -1
            reopened = open(  # noqa: SIM115 - it stays open, and has no path
                number, "w", lines, encoding=stream.encoding, errors=stream.errors, closefd=False
            )
            setattr(sys, name, reopened)
            if getattr(sys, f"__{name}__") is stream:
                setattr(sys, f"__{name}__", reopened)

    return restore


# What they say

_ADVICE = re.compile(r"weights_only|allow_pickle|trust_remote_code|safe_globals|trusted source", re.I)


def _without_advice(message: str) -> str:
    """A message of another package without the sentences that tell users to run what was refused.

    What is left of torch's says which name in the file it does not know.
    """
    if not _ADVICE.search(message):
        return message
    sentences = re.split(r"(?<=[.!:;])\s+|\s+\(\d\)\s+", message)
    harmless = " ".join(sentence for sentence in sentences if not _ADVICE.search(sentence))
    return harmless or "it was refused as unsafe"


def summarise_error(why: BaseException) -> str:
    """The type and message of an error, on one line and not too long."""
    message = _without_advice(" ".join(str(why).split())).rstrip(".")
    return (
        f"{type(why).__name__}: {message[:300]}{'…' if len(message) > 300 else ''}" if message else type(why).__name__
    )


# Files and modules


def load_file(path: Path, noun: str) -> ModuleType:
    """Run a user's Python file; raises UsageError, with file and line, if it fails."""
    article = "an" if noun[0] in "aeiou" else "a"
    if not path.is_file():
        raise UsageError(f"There is no file {path} to load {article} {noun} from.")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise UsageError(f"{path} is not a Python file; {article} {noun} file ends in .py and defines `{noun}`.")
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
