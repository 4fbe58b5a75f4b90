"""Arithmetic on one thread: with more, sums depend on how many there are, and cells side by side get slower."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from threadpoolctl import threadpool_limits


class _Here(threading.local):
    """What this Python thread has asked for: some limits are of a thread, others are the first thread's to set."""

    inside = 0
    modules = 0

    def __init__(self) -> None:
        self.limits = ExitStack()


_here = _Here()


@contextmanager
def single_threaded() -> Iterator[None]:
    """Tell BLAS and OpenMP to take one thread, until the outermost that asked for it is done.

    It is cheap to ask within: to look for the libraries takes as long as a small fit, and is done again only if modules
    were imported since, which may have brought a library.
    """
    if not _here.inside or len(sys.modules) != _here.modules:
        _here.limits.enter_context(threadpool_limits(limits=1))
        _here.modules = len(sys.modules)
    _here.inside += 1
    try:
        yield
    finally:
        _here.inside -= 1
        if not _here.inside:
            _here.limits.close()
