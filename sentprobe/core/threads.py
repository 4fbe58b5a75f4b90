"""Numerics on one thread: with more, sums depend on the thread count, and parallel cells slow each other down."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from threadpoolctl import ThreadpoolController


class _Here(threading.local):
    """The limits this Python thread has set: some are per thread, others can only be set by the first thread."""

    inside = 0
    modules = 0

    def __init__(self) -> None:
        self.limits = ExitStack()


_here = _Here()
_found: tuple[int, ThreadpoolController] | None = None


def _libraries() -> ThreadpoolController:
    """Those that are loaded."""
    global _found
    if _found is None or _found[0] != len(sys.modules):
        _found = len(sys.modules), ThreadpoolController()
    return _found[1]


@contextmanager
def single_threaded() -> Iterator[None]:
    """Limit BLAS and OpenMP to one thread until the outermost such context ends.

    Finding the libraries takes as long as a small fit, and is repeated only if modules were imported since, which may
    have loaded another library.
    """
    if not _here.inside or len(sys.modules) != _here.modules:
        _here.limits.enter_context(_libraries().limit(limits=1))
        _here.modules = len(sys.modules)
    _here.inside += 1
    try:
        yield
    finally:
        _here.inside -= 1
        if not _here.inside:
            _here.limits.close()
