"""Atomic writes: files are written under a temporary name, synced, and renamed."""

from __future__ import annotations

import contextlib
import os
import secrets
import time
from collections.abc import Sequence
from pathlib import Path

PART_SUFFIX = ".part"
STALE_SECONDS = 24 * 60 * 60
"""Age in seconds at which an unfinished file was left behind by a process that died."""


def commit(path: Path, parts: Sequence[bytes | memoryview]) -> None:
    """Write a file under a temporary name, sync it, rename it, and sync the folder."""
    part = path.with_name(f"{path.name}.{os.getpid():x}-{secrets.token_hex(4)}{PART_SUFFIX}")
    try:
        with part.open("xb") as out:
            for content in parts:
                out.write(content)
            out.flush()
            os.fsync(out.fileno())
        part.replace(path)
    finally:
        with contextlib.suppress(OSError):
            part.unlink()
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Make a rename in the folder durable; Windows has no way to."""
    if os.name == "posix":
        opened = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(opened)
        finally:
            os.close(opened)


def remove_stale(folder: Path) -> None:
    """Remove the unfinished files of processes that died."""
    with contextlib.suppress(OSError):
        for path in folder.glob(f"*{PART_SUFFIX}"):
            if time.time() - path.stat().st_mtime > STALE_SECONDS:
                remove(path)


def remove(path: Path) -> bool:
    """Remove a file, and say whether that succeeded; another process may have been faster."""
    with contextlib.suppress(OSError):
        path.unlink()
        return True
    return False
