"""How a command ends: every error and signal has a message and an exit code of its own."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable
from types import FrameType

import cyclopts

SIGNAL_EXIT_BASE = 128
"""Added to the number of a signal, as shells do: 130 for Ctrl-C, 143 for SIGTERM, 129 for SIGHUP."""
TERMINATION_SIGNALS = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))
"""Signals that end a command cleanly: what was written is kept, no worker is left. Windows has fewer."""


class Terminated(KeyboardInterrupt):
    """A signal terminated the command; whatever handles Ctrl-C handles it, too."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


def _terminate(number: int, frame: FrameType | None) -> None:
    raise Terminated(number)


def run_to_exit_code(command: Callable[[], object], *, debug: bool, resumes: bool = False) -> int:
    """Run a command, print what went wrong if anything did, and return the exit code.

    ``resumes``: whether the same command goes on where it was interrupted.
    """
    from sentprobe.errors import SentProbeError, describe_error

    for each in TERMINATION_SIGNALS:
        here = threading.current_thread() is threading.main_thread()  # the only one that may set handlers
        if here and signal.getsignal(each) is signal.SIG_DFL:  # and not ignored, as under nohup
            signal.signal(each, _terminate)
    try:
        code = command()
    except cyclopts.CycloptsError:
        return 1  # cyclopts has printed what is wrong
    except BrokenPipeError:
        # the reader of our output is gone, as in `sentprobe show … | head`; nothing is left to flush at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt as e:
        for each in (signal.SIGINT, *TERMINATION_SIGNALS):
            signal.signal(each, signal.SIG_DFL)  # a second one ends the process at once
        number = e.number if isinstance(e, Terminated) else signal.SIGINT
        what = signal.Signals(number).name if isinstance(e, Terminated) else "interrupted"
        _print(f"{what}; what was already written is kept{', and the same command resumes' * resumes}")
        return SIGNAL_EXIT_BASE + number
    except SystemExit as e:  # sentprobe itself never raises it
        if debug:
            raise
        _print(f"A part named on the command line ended the program: {describe_error(e)}.")
        return 2
    except Exception as e:
        if debug:
            raise
        _print(str(e) if isinstance(e, SentProbeError) else _message(e))
        return 1
    return code if isinstance(code, int) else 0


def _message(error: Exception) -> str:
    from sentprobe.errors import describe_error

    if isinstance(error, OSError) and error.filename is not None:
        where = os.fsdecode(error.filename) if isinstance(error.filename, str | bytes) else str(error.filename)
        return f"{where}: {error.strerror or describe_error(error)}. Check that it can be read, or written to."
    if isinstance(error, OSError):
        return f"{error.strerror or describe_error(error)}."
    return f"Unexpected error: {describe_error(error)}. This is a bug in sentprobe; --debug shows where."


def _print(text: str) -> None:
    sys.stderr.write(f"sentprobe: {text}\n")
