"""What can go wrong, as a tree.

    SondeError
    ├── UsageError            the command or call was wrong
    ├── DataError             the data was wrong
    │   ├── CorpusError       … at a file and a line
    │   └── TooFewError       … there is not enough of it
    ├── EncoderError          the encoder was wrong
    │   ├── ShapeError        … its output does not fit its input
    │   ├── NotInstalled      … it needs a package that is not here
    │   └── Offline           … it needs the network and there is none
    └── RunError              a run folder cannot be used

A SondeWarning is none of these: the work goes on. A DamageWarning is one: something is not as it was written, and is
left out.
A message says what was met, what was expected and what to do, and names the thing the user typed.
"""

from __future__ import annotations

import os
from traceback import extract_tb


class SondeError(Exception):
    """Something the user can put right; shown without a traceback at the command line."""


class UsageError(SondeError):
    """The command or call was wrong."""


class DataError(SondeError):
    """The data was wrong."""


class CorpusError(DataError):
    """A corpus file is malformed at a known place."""

    def __init__(self, path: str, line: int, got: str, expected: str) -> None:
        super().__init__(path, line, got, expected)
        self.path, self.line, self.got, self.expected = path, line, got, expected

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: got {self.got}; expected {self.expected}"


class TooFewError(DataError):
    """There is not enough data for what was asked."""


class EncoderError(SondeError):
    """The encoder was wrong."""


class ShapeError(EncoderError):
    """The encoder's output does not fit its input."""


class NotInstalled(EncoderError):
    """The encoder needs a package that is not installed."""


class Offline(EncoderError):
    """The encoder needs the network and there is none."""


class RunError(SondeError):
    """A run folder cannot be used."""


class SondeWarning(UserWarning):
    """Something is wrong that the work goes on without; the command line prints it as ``warning: …``."""


class CorruptionWarning(SondeWarning):
    """Something is not as it was written, and is left out: which file and line, and what to do."""


class HardExit(SystemExit):
    """Code that is not ours called ``os._exit``."""


def describe_error(error: BaseException) -> str:
    """What code that is not ours raised, in a few words; to exit is an error as well, where nobody asked for it."""
    if isinstance(error, SystemExit):
        call = "os._exit" if isinstance(error, HardExit) else "sys.exit"
        return f"it called {call}({'' if error.code is None else repr(error.code)})"
    try:
        said = str(error)
    except Exception:  # of an exception that cannot even say what it is
        said = ""
    return f"{type(error).__name__}: {said}" if said else type(error).__name__


def error_location(error: BaseException) -> str:
    """Where code that is not ours went wrong, as `` (file:line)``; nothing if it was in ours or cannot be told."""
    ours = os.path.dirname(__file__)  # noqa: PTH120 - the classes of this file are the tree that is drawn above
    frames = [f for f in extract_tb(error.__traceback__) if not f.filename.startswith((ours, "<"))]
    return f" ({frames[-1].filename}:{frames[-1].lineno})" if frames else ""
