"""One training per folder at a time: a second one would write over the data that the first one reads."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sonde.errors import UsageError


@contextmanager
def only_training(folder: Path) -> Iterator[None]:
    """Refuse a folder in which another process trains. The lock ends with the process, however that ends."""
    try:
        import fcntl
    except ImportError:  # Windows, where files that are read cannot be written over
        yield
        return
    number = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(number)
        raise UsageError(
            f"Another process is training in {folder}: wait until it has ended, or choose another folder."
        ) from None
    except OSError:  # not all file systems lock folders
        pass
    try:
        yield
    finally:
        os.close(number)
