"""One process at a time."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from sentprobe.errors import SentProbeError


@contextmanager
def locked(
    place: Path, folder: Path, error: type[SentProbeError], waiting: Callable[[], None] | None = None
) -> Iterator[None]:
    """Hold the lock of a file, which is made, or of a folder; it is released when the process dies.

    ``folder`` is what errors name. If another process has the lock, that is an error; with ``waiting``, which is called
    then, it is waited for. There are no locks on Windows, nor on some network drives.
    """
    try:
        import fcntl
    except ImportError:  # not on Windows
        yield
        return
    try:
        opened = os.open(place, os.O_RDONLY if place.is_dir() else os.O_RDWR | os.O_CREAT, 0o666)
    except OSError as e:
        raise error(f"{folder} cannot be written to: {e.strerror}. Choose another folder.") from e
    try:
        try:
            fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if waiting is None:
                raise error(f"Another process is writing to {folder}; wait for it, or choose another folder.") from None
            waiting()
            fcntl.flock(opened, fcntl.LOCK_EX)
        except OSError:
            if not place.is_dir():  # some drives lock files only
                raise error(f"{folder} cannot be locked; choose a folder on another drive.") from None
        yield
    finally:
        os.close(opened)
