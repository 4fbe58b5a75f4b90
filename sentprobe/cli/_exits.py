"""How a command ends: every error and signal has a message and an exit code of its own."""

from __future__ import annotations

import errno
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from os import _exit  # the real one, whatever third-party code runs: see sentprobe/core/third_party.py
from types import FrameType

import cyclopts

STUCK_SECONDS = 10
"""How long native code may keep Python from handling a signal that ends the command."""
SIGNAL_EXIT_BASE = 128
"""Added to the number of a signal, as shells do: 130 for Ctrl-C, 143 for SIGTERM, 129 for SIGHUP."""
TERMINATION_SIGNALS = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))
"""Signals that end a command cleanly: what was written is kept, no worker is left. Windows has fewer."""


class Terminated(KeyboardInterrupt):
    """A signal terminated the command; whatever handles Ctrl-C handles it, too."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


_is_handled = threading.Event()


def _terminate(number: int, frame: FrameType | None) -> None:
    _is_handled.set()
    raise Terminated(number)


@contextmanager
def _ended_if_stuck() -> Iterator[None]:
    """While a command runs, end the process some seconds after a signal if native code does not return.

    Python handles signals between its own instructions. A BLAS that gets no memory may ask for it again for ever, and
    would not be ended by SIGTERM at all. A thread is told of signals through a pipe, which needs no such instruction.
    """
    if (previous := signal.set_wakeup_fd(-1)) != -1:  # somebody listens, such as a loop of asyncio
        signal.set_wakeup_fd(previous)
        yield
        return
    _is_handled.clear()
    listen, tell = os.pipe()
    for end in (listen, tell):
        os.set_inheritable(end, False)
    os.set_blocking(tell, False)
    signal.set_wakeup_fd(tell, warn_on_full_buffer=False)

    def watch() -> None:
        while number := os.read(listen, 1):
            if number[0] in TERMINATION_SIGNALS and not _is_handled.wait(STUCK_SECONDS):
                name = signal.Signals(number[0]).name
                _print(
                    f"{name}; a library has not returned for {STUCK_SECONDS} seconds, as happens where memory is "
                    f"limited{_limit()}: ended without it. What was already written is kept."
                )
                _exit(SIGNAL_EXIT_BASE + number[0])

    watcher = threading.Thread(target=watch, name="watch for signals", daemon=True)
    watcher.start()
    try:
        yield
    finally:  # a program that goes on after the command handles its signals itself
        signal.set_wakeup_fd(-1)
        _is_handled.set()
        os.close(tell)
        watcher.join()
        os.close(listen)


def run_to_exit_code(command: Callable[[], object], *, debug: bool, resumes: bool = False) -> int:
    """Run a command, print what went wrong if anything did, and return the exit code.

    ``resumes``: whether the same command goes on where it was interrupted.
    """
    from sentprobe.errors import SentProbeError, describe_error

    is_ours = False
    for ending in TERMINATION_SIGNALS:
        is_main_thread = threading.current_thread() is threading.main_thread()  # the only one that may set handlers
        if is_main_thread and signal.getsignal(ending) is signal.SIG_DFL:  # and not ignored, as under nohup
            signal.signal(ending, _terminate)
            is_ours = True
    try:
        with _ended_if_stuck() if is_ours else nullcontext():
            code = command()
    except cyclopts.CycloptsError:
        return 1  # cyclopts has printed what is wrong
    except BrokenPipeError:
        # the reader of our output is gone, as in `sentprobe show … | head`; nothing is left to flush at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt as e:
        for ending in (signal.SIGINT, *TERMINATION_SIGNALS):
            signal.signal(ending, signal.SIG_DFL)  # a second one ends the process at once
        number = e.number if isinstance(e, Terminated) else signal.SIGINT
        what = signal.Signals(number).name if isinstance(e, Terminated) else "interrupted"
        _print(f"{what}; what was already written is kept{', and the same command resumes' * resumes}")
        return SIGNAL_EXIT_BASE + number
    except SystemExit as e:  # sentprobe itself never raises it
        if isinstance(e.__context__, BrokenPipeError):
            return 0  # rich, with which cyclopts prints help, ends the program if its reader is gone
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

    if isinstance(error, MemoryError) or (isinstance(error, OSError) and error.errno == errno.ENOMEM):
        return f"There is too little memory{_limit()}: {describe_error(error)}. What was already written is kept."
    if isinstance(error, ImportError) and _limit() and "failed to map" in str(error):
        return f"There is too little memory{_limit()} to load a library: {describe_error(error)}."
    if isinstance(error, OSError) and error.filename is not None:
        where = os.fsdecode(error.filename) if isinstance(error.filename, str | bytes) else str(error.filename)
        return f"{where}: {error.strerror or describe_error(error)}. Check that it can be read, or written to."
    if isinstance(error, OSError):
        return f"{error.strerror or describe_error(error)}."
    return f"Unexpected error: {describe_error(error)}. This is a bug in sentprobe; --debug shows where."


def _limit() -> str:
    """The limit of memory that the shell has set for this process, if there is one."""
    try:
        import resource
    except ImportError:  # on Windows
        return ""
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    return "" if limit == resource.RLIM_INFINITY else f" (ulimit -v is {limit // 1024:,} kB)"


def _print(text: str) -> None:
    sys.stderr.write(f"sentprobe: {text}\n")
