"""How a command ends: every error and signal with words and an exit code of its own."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable
from types import FrameType

import cyclopts

SIGNAL_EXIT_BASE = 128
"""What the number of a signal is added to, as shells do it: 130 for Ctrl-C, 143 for SIGTERM, 129 for SIGHUP."""
TERMINATION_SIGNALS = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))
"""Signals that end a command in good order, with what was written kept and no worker left; Windows has fewer."""


class Terminated(KeyboardInterrupt):
    """A signal asked the command to end. Everything that makes way for Ctrl-C makes way for it."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


def _terminate(number: int, frame: FrameType | None) -> None:
    raise Terminated(number)


def run_to_exit_code(command: Callable[[], object], *, debug: bool) -> int:
    """Run a command, say what went wrong if anything did, and give the exit code."""
    from sonde.errors import SondeError, describe_error

    for each in TERMINATION_SIGNALS:
        here = threading.current_thread() is threading.main_thread()  # the only one that may set handlers
        if here and signal.getsignal(each) is signal.SIG_DFL:  # and not ignored, as under nohup
            signal.signal(each, _terminate)
    try:
        code = command()
    except cyclopts.CycloptsError:
        return 1  # cyclopts has said what is wrong
    except BrokenPipeError:
        # the reader of our output has gone, as in `sonde show … | head`; nothing is left to flush at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt as e:
        for each in (signal.SIGINT, *TERMINATION_SIGNALS):
            signal.signal(each, signal.SIG_DFL)  # a second one ends us at once
        number = e.number if isinstance(e, Terminated) else signal.SIGINT
        what = signal.Signals(number).name if isinstance(e, Terminated) else "interrupted"
        _say(f"{what}; what was already written is kept")
        return SIGNAL_EXIT_BASE + number
    except SystemExit as e:  # nothing of ours raises it
        if debug:
            raise
        _say(f"A part that was named on the command line ended the program: {describe_error(e)}.")
        return 2
    except Exception as e:
        if debug:
            raise
        _say(_words(e) if not isinstance(e, SondeError) else str(e))
        return 1
    return code if isinstance(code, int) else 0


def _words(error: Exception) -> str:
    from sonde.errors import describe_error

    if isinstance(error, OSError) and error.filename is not None:
        where = os.fsdecode(error.filename) if isinstance(error.filename, str | bytes) else str(error.filename)
        return f"{where}: {error.strerror or describe_error(error)}. Check that it can be read, or written to."
    if isinstance(error, OSError):
        return f"{error.strerror or describe_error(error)}."
    return f"Unexpected error: {describe_error(error)}. This is a fault in sonde; --debug shows where."


def _say(text: str) -> None:
    sys.stderr.write(f"sonde: {text}\n")
