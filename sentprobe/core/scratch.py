"""Temporary folders that do not stay behind, even if their process is killed.

A folder has a file that its process holds locked. A system releases locks when a process ends, however it does: so the
next command that needs a folder removes those whose lock it gets.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

PREFIX, LOCK = "sentprobe-", ".lock"


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """A new temporary folder, removed at the end."""
    remove_stale()
    folder = Path(tempfile.mkdtemp(prefix=PREFIX))
    lock = _locked(folder)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        if lock is not None:
            os.close(lock)


def _locked(folder: Path) -> int | None:
    """The lock of a folder; it has its name only once it is held, or another process could take it for stale."""
    try:
        import fcntl
    except ImportError:  # on Windows, where stale folders stay
        return None
    opened: int | None = None
    with suppress(OSError):
        opened = os.open(folder / f"{LOCK}-new", os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
        (folder / f"{LOCK}-new").rename(folder / LOCK)
    return opened


def remove_stale() -> None:
    """Remove the temporary folders of processes of this user that ended without doing so."""
    try:
        import fcntl
    except ImportError:
        return
    with suppress(OSError):
        for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
            with suppress(OSError):
                if folder.is_symlink() or folder.stat().st_uid != os.getuid():
                    continue
                opened = os.open(folder / LOCK, os.O_RDWR | os.O_NOFOLLOW)
                try:
                    fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    shutil.rmtree(folder, ignore_errors=True)
                finally:
                    os.close(opened)
