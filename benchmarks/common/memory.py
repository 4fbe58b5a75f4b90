"""Resident memory of this process, as Linux tells it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def resident() -> dict[str, int]:
    """Bytes of all pages (VmRSS), and of those that are not of files (RssAnon), which cannot be given back."""
    lines = (line.split(":") for line in Path("/proc/self/status").read_text().splitlines())
    return {name: 1024 * int(value.split()[0]) for name, value in lines if name in ("VmRSS", "RssAnon")}


@contextmanager
def watched() -> Iterator[dict[str, int]]:
    """The largest of each while the block runs, looked at fifty times per second."""
    highest, done = resident(), threading.Event()

    def watch() -> None:
        while not done.wait(0.02):
            for name, size in resident().items():
                highest[name] = max(highest[name], size)

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield highest
    finally:
        done.set()
        watcher.join()
