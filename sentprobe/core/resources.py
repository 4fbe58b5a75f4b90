"""Resources of this process: threads of numerics, memory, and the garbage collector."""

from __future__ import annotations

import ctypes
import gc
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import wraps
from typing import TypeVar

from threadpoolctl import ThreadpoolController

# Memory


A = TypeVar("A")
R = TypeVar("R")

MANY_OBJECTS = 200_000
"""Objects that are made while the garbage collector is paused; fewer are examined in some hundredths of a second."""


def remember_last(call: Callable[[A], R]) -> Callable[[A], R]:
    """A function of one argument that computes its result once while it is called with the same object.

    Several tasks in turn look at the same sentence. It is compared by identity, which costs less than hashing it.
    """
    last: tuple[A, R] | None = None

    @wraps(call)
    def remembered(argument: A) -> R:
        nonlocal last
        entry = last  # once: another thread may replace it
        if entry is None or entry[0] is not argument:
            entry = last = (argument, call(argument))
        return entry[1]

    return remembered


@contextmanager
def gc_paused() -> Iterator[None]:
    """Pause the garbage collector: a pass over a corpus makes many objects and no reference cycles."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            # what was made meanwhile counts as old, and is not examined several times; where others have frozen
            # objects, these stay so, and counting them takes as long as they are many
            if gc.get_count()[0] > MANY_OBJECTS and not gc.get_freeze_count():
                gc.freeze()
                gc.unfreeze()
            gc.enable()


def return_free_memory() -> None:
    """Return memory that is free to the system, where C's library can: glibc keeps what lies between other things."""
    try:
        ctypes.CDLL(None).malloc_trim(0)
    except (AttributeError, TypeError, OSError):  # another library, or Windows
        return


# Threads


class _ThreadLimits(threading.local):
    """The limits this Python thread has set: some are per thread, others can only be set by the first thread."""

    inside = 0
    modules = 0

    def __init__(self) -> None:
        self.limits = ExitStack()


_thread_limits = _ThreadLimits()
_cached_controller: tuple[int, ThreadpoolController] | None = None


def _libraries() -> ThreadpoolController:
    """Those that are loaded."""
    global _cached_controller
    if _cached_controller is None or _cached_controller[0] != len(sys.modules):
        _cached_controller = len(sys.modules), ThreadpoolController()
    return _cached_controller[1]


@contextmanager
def single_threaded() -> Iterator[None]:
    """Limit BLAS and OpenMP to one thread until the outermost such context ends.

    Finding the libraries takes as long as a small fit, and is repeated only if modules were imported since, which may
    have loaded another library.
    """
    if not _thread_limits.inside or len(sys.modules) != _thread_limits.modules:
        _thread_limits.limits.enter_context(_libraries().limit(limits=1))
        _thread_limits.modules = len(sys.modules)
    _thread_limits.inside += 1
    try:
        yield
    finally:
        _thread_limits.inside -= 1
        if not _thread_limits.inside:
            _thread_limits.limits.close()
