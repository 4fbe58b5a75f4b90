"""Standard input as a corpus file."""

from __future__ import annotations

import atexit
import os
import shutil
import sys
from contextlib import ExitStack

from sentprobe.core.folders import scratch_folder


def spool_stdin() -> str:
    """Copy standard input to a temporary file, which other processes can read too; it is removed at exit."""
    head = sys.stdin.buffer.read(6)
    magic = {b"\x1f\x8b": ".gz", b"BZh": ".bz2", b"\xfd7zXZ\x00": ".xz", b"\x28\xb5\x2f\xfd": ".zst"}
    suffix = next((s for m, s in magic.items() if head.startswith(m)), "")
    # the name of the file becomes part of generated sentence ids, so it must be the same every time
    stack = ExitStack()
    path = stack.enter_context(scratch_folder()) / f"stdin{suffix}"
    owner = os.getpid()

    def remove() -> None:
        if os.getpid() == owner:  # a forked child must not remove the file of its parent
            stack.close()

    atexit.register(remove)
    with path.open("wb") as out:
        out.write(head)
        shutil.copyfileobj(sys.stdin.buffer, out)
    return str(path)
