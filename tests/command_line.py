"""The command line as a user sees it, in this process: starting one takes longer than most commands do."""

import gc
import os
import signal
import subprocess
import sys
from contextlib import chdir, nullcontext, redirect_stderr, redirect_stdout
from io import BytesIO, TextIOWrapper
from typing import NamedTuple

import pytest

from sentprobe.cli import main

SIGNALS = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))
PLAIN = {"COLUMNS": "100", "NO_COLOR": "1"}


class Done(NamedTuple):
    """How a command ended."""

    returncode: int
    stdout: str
    stderr: str


def sentprobe(*words, cwd=None, stdin=""):
    """Run ``sentprobe`` with these words; everything it changes in this process is put back."""
    out, err, given = (TextIOWrapper(BytesIO(text), encoding="utf-8") for text in (b"", b"", stdin.encode()))
    handlers, thresholds = {number: signal.getsignal(number) for number in SIGNALS}, gc.get_threshold()
    with pytest.MonkeyPatch.context() as patch:
        for name, value in PLAIN.items():
            patch.setenv(name, value)
        patch.setattr(sys, "argv", ["sentprobe", *map(str, words)])
        patch.setattr(sys, "stdin", given)
        with redirect_stdout(out), redirect_stderr(err), chdir(cwd) if cwd else nullcontext():
            try:
                main()
                raise AssertionError("main always exits")
            except SystemExit as e:
                code = e.code
            finally:
                gc.set_threshold(*thresholds)
                for number, handler in handlers.items():
                    signal.signal(number, handler)
    printed = []
    for stream in (out, err):
        stream.flush()
        printed.append(stream.buffer.getvalue().decode())
    return Done(code, *printed)


def process(*words, cwd=None, stdin=None):
    """The same in a process of its own, for what only a process shows."""
    return subprocess.run(
        [sys.executable, "-m", "sentprobe", *map(str, words)],
        capture_output=True, text=True, cwd=cwd, env={**os.environ, **PLAIN}, input=stdin, timeout=300,
    )  # fmt: skip
