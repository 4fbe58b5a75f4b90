"""What can go wrong, as a tree.

    SentProbeError
    ├── UsageError            the command or call is wrong
    ├── DataError             the data is wrong
    │   ├── CorpusError       … at a known file and line
    │   └── TooFewError       … there is not enough of it
    ├── EncoderError          the encoder is wrong
    │   ├── ShapeError        … its output does not fit its input
    │   ├── NotInstalled      … it needs a package that is not installed
    │   └── Offline           … it needs the network and there is none
    ├── AnnotatorError        the annotator is wrong, or the server that it is on
    └── RunError              a run folder cannot be used

A SentProbeWarning is not an error: the work goes on. A CorruptionWarning is a SentProbeWarning: a file is not as it was
written, and the damaged part is ignored. A FailureWarning is a SentProbeWarning: something of a run failed.
A message says what was expected, what was found and what to do, and names what the user typed.
"""

from __future__ import annotations

import os
from traceback import extract_tb


class SentProbeError(Exception):
    """An error that the user can fix; the command line shows its message without a traceback.

    Every error that sentprobe raises on purpose is one, so that one ``except`` is enough.

    Examples
    --------
    >>> import sentprobe
    >>> try:
    ...     sentprobe.load_task("subj_nummer")
    ... except sentprobe.SentProbeError as error:
    ...     print(type(error).__name__)
    UsageError
    """


class UsageError(SentProbeError):
    """The command or call is wrong."""


class DataError(SentProbeError):
    """The data is wrong."""


class CorpusError(DataError):
    """A file is malformed at a known line.

    Parameters
    ----------
    path: str
        The file.
    line: int
        The line, from 1.
    got: str
        What is there.
    expected: str
        What should be there.
    ends_file: bool
        Whether nothing after it can be read.
    """

    def __init__(self, path: str, line: int, got: str, expected: str, ends_file: bool = False) -> None:
        super().__init__(path, line, got, expected, ends_file)
        self.path, self.line, self.got, self.expected, self.ends_file = path, line, got, expected, ends_file

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: got {self.got}; expected {self.expected}"


class TooFewError(DataError):
    """There is not enough data for what was requested."""


class EncoderError(SentProbeError):
    """The encoder is wrong."""


class ShapeError(EncoderError):
    """The encoder's output does not fit its input."""


class NotInstalled(EncoderError):
    """The encoder needs a package that is not installed."""


class Offline(EncoderError):
    """The encoder needs the network and there is none."""


class AnnotatorError(SentProbeError):
    """The annotator is wrong, or the server that it is on."""


class RunError(SentProbeError):
    """A run folder cannot be used."""


class SentProbeWarning(UserWarning):
    """Something is wrong, and the work goes on without it; the command line prints it as ``warning: …``."""


class CorruptionWarning(SentProbeWarning):
    """A file is not as it was written, and the damaged part is ignored: which file and line, and what to do."""


class FailureWarning(SentProbeWarning):
    """Something of a run failed, and the rest was computed: what, why, and where all failures are listed."""


class HardExit(SystemExit):
    """Third-party code called ``os._exit``."""


def describe_error(error: BaseException) -> str:
    """What third-party code raised, in a few words; an unexpected exit is an error as well."""
    if isinstance(error, SystemExit):
        call = "os._exit" if isinstance(error, HardExit) else "sys.exit"
        return f"it called {call}({'' if error.code is None else repr(error.code)})"
    try:
        message = str(error)
    except Exception:  # its __str__ is broken
        message = ""
    return f"{type(error).__name__}: {message}" if message else type(error).__name__


def error_location(error: BaseException) -> str:
    """Where third-party code failed, as `` (file:line)``; empty if that was in this package or is not known."""
    ours = os.path.dirname(__file__)  # noqa: PTH120 - the classes of this file are the tree that is drawn above
    frames = [f for f in extract_tb(error.__traceback__) if not f.filename.startswith((ours, "<"))]
    return f" ({frames[-1].filename}:{frames[-1].lineno})" if frames else ""
