"""Signals that stop a command."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def blocked_signals() -> Iterator[None]:
    """What stops a command is blocked while a worker starts, which inherits that.

    So it prints no traceback before it can ignore Ctrl-C, which ``begin_worker`` does.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, stopping_signals())
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def stopping_signals() -> set[signal.Signals]:
    """The signals that stop a command, where the system has them."""
    return {getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)}
