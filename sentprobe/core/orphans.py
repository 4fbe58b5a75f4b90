"""Processes that a cluster of our own started, and that would live on after a command was killed.

Ray's own processes end with the one that started them, but not their agents, which take minutes to notice. What all of
them have is an open file in the folder of their session, which is ours: so a process that does nothing but wait for
the end of the command ends whatever has one, and removes the folder. Linux shows who has a file open.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from sentprobe.core.signals import blocked_signals

START = "import sys; sys.path[:] = sys.argv[2:]; from sentprobe.core.orphans import reap; reap(sys.argv[1])"
GRACE_SECONDS = 2.0
"""How long processes have to end by themselves, after the command has ended."""
WAIT_SECONDS = 10
"""How long a command waits for the last of them."""


@contextmanager
def no_orphans(folder: Path) -> Iterator[None]:
    """End all processes that have a file in this folder open, when the context or this process ends."""
    if not Path("/proc/self/fd").is_dir():
        yield
        return
    with blocked_signals():  # which the watcher inherits: only the end of the command counts
        watcher = subprocess.Popen(  # noqa: S603 - this Python, and our own code
            [sys.executable, "-c", START, str(folder), *sys.path], stdin=subprocess.PIPE, start_new_session=True
        )
    assert watcher.stdin is not None
    try:
        yield
    finally:
        watcher.stdin.close()
        with suppress(subprocess.TimeoutExpired):
            watcher.wait(WAIT_SECONDS)


def reap(folder: str) -> None:
    """Wait for the end of the command, which has the other end of standard input, and then clean up after it."""
    command = os.getppid()
    sys.stdin.buffer.read()
    until = time.monotonic() + GRACE_SECONDS
    while (alive := [pid for pid in users_of(folder) if pid != command]) and time.monotonic() < until:
        time.sleep(0.1)
    for pid in alive:
        with suppress(OSError):
            os.kill(pid, signal.SIGKILL)
    shutil.rmtree(folder, ignore_errors=True)


def users_of(folder: str) -> list[int]:
    """The processes, but for this one, that have a file below a folder open."""
    below, found = folder.rstrip("/") + "/", []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            with suppress(OSError):  # of another user, or it has ended
                if any(str(file.readlink()).startswith(below) for file in (entry / "fd").iterdir()):
                    found.append(int(entry.name))
    return found
