"""What a run is doing while it is written: a small file in its folder, which is gone when the command has ended."""

from __future__ import annotations

import json
import os
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path

import msgspec

STATUS = "progress.json"
MIN_SECONDS = 0.5
"""Between two writes, unless what is done has changed: batches and cells may be finished a hundred times a second."""
MAX_AGE = 600.0
"""Seconds without news after which a command on another machine is taken to have ended."""


@dataclass(frozen=True)
class RunStatus:
    """How far a command is."""

    done: int
    """Cells that are finished or failed."""
    total: int
    action: str
    """What is being done: ``encoding with MiniLM``."""
    pid: int
    host: str
    time: float

    @property
    def is_running(self) -> bool:
        """Whether the command still runs: it may have been killed, and then its file is left."""
        if self.host != socket.gethostname() or os.name != "posix":  # elsewhere, signal 0 is not harmless
            return time.time() - self.time < MAX_AGE
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:
            return False
        except OSError:  # it is another user's
            return True
        return True


class StatusFile:
    """The writing end. What it cannot write is left out: no run ends because of it."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / STATUS
        self._written, self._verb = 0.0, ""

    def write(self, done: int, total: int, action: str) -> None:
        """Say how far the command is, unless that has just been said."""
        now, verb = time.time(), action.partition(" ")[0]
        if verb == self._verb and now - self._written < MIN_SECONDS:
            return
        self._written, self._verb = now, verb
        status = RunStatus(done, total, action, os.getpid(), socket.gethostname(), now)
        part = self.path.with_suffix(".part")
        with suppress(OSError):  # not synced: it is worth nothing after a crash
            part.write_bytes(json.dumps(asdict(status)).encode())
            part.replace(self.path)

    @contextmanager
    def removed_at_end(self) -> Iterator[None]:
        """Remove the file at the end, however that comes."""
        try:
            yield
        finally:
            with suppress(OSError):
                self.path.unlink(missing_ok=True)


def read_status(folder: Path) -> RunStatus | None:
    """What the command that writes a run is doing; None if none does."""
    try:
        status = msgspec.json.decode((folder / STATUS).read_bytes(), type=RunStatus)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return None
    return status if status.is_running else None
