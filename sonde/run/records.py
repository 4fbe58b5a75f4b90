"""results.jsonl: a line per finished or failed cell. Of several lines about one cell the last one counts.

Every line has a checksum. One that is not as it was written is left out, and with it what it may have superseded: a
number that no longer counted must not come back. When a command ends, run.json notes how long the file is and its
digest, so that lines that were removed, repeated or moved are found, too. What stands after that, up to a torn last
line, is of a command that is still running, or was ended by force.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sonde.checksum import digest
from sonde.errors import RunError
from sonde.result import Failure, Result, from_line

RESULTS = "results.jsonl"
GONE = "gone"
"""The kind of a record that says: what was said of this cell before no longer counts."""
AGAIN = "The same `sonde run` command does what is missing again."
SHOWN = 3
"""Damaged lines that are told one by one."""
_KEY = re.compile(rb'"key":"([0-9a-f]{16})"')


@dataclass
class Records:
    """What is known of the cells of a run."""

    results: dict[str, Result] = field(default_factory=dict)
    failures: dict[str, Failure] = field(default_factory=dict)
    lines: list[tuple[str, bytes]] = field(default_factory=list)
    """Key and bytes of all lines that are as they were written and not superseded by one that is not."""
    damaged: list[str] = field(default_factory=list)
    """What is not as it was written, and what to do."""
    torn: bool = False
    """Whether the last line is not finished."""

    def note(self, record: Result | Failure) -> None:
        """Let a record count."""
        self.results.pop(record.key, None)
        self.failures.pop(record.key, None)
        if isinstance(record, Result):
            self.results[record.key] = record
        elif record.kind != GONE:
            self.failures[record.key] = record

    def forget(self, line: bytes) -> None:
        """Drop what a damaged line may have superseded: its own cell, and results of encoders without an identity,
        which every command makes anew, unless the line names an identity."""
        key = _KEY.search(line)
        gone = {key[1].decode()} if key else set()
        if b'"identity":"' not in line:
            gone |= self.unnamed()
        self._drop(gone)

    def unnamed(self) -> set[str]:
        """The results of encoders that do not say what they are."""
        return {key for key, result in self.results.items() if result.cell.identity is None}

    def _drop(self, keys: set[str]) -> None:
        self.results = {key: result for key, result in self.results.items() if key not in keys}
        self.failures = {key: failure for key, failure in self.failures.items() if key not in keys}
        self.lines = [(key, line) for key, line in self.lines if key not in keys]

    def compare(self, path: Path, content: bytes, written: Mapping[str, Any]) -> None:
        """Tell if a file is not as the last command left it."""
        size = written["bytes"]
        if len(content) >= size and digest(content[:size]) == written["digest"]:
            return
        self._drop(self.unnamed())
        found = len(self.lines)
        self.damaged.append(
            f"{path} is not as the last command left it: expected {written['lines']} lines, got {found}. Lines were "
            f"removed, repeated or moved. {AGAIN}"
        )


def read_records(path: Path, written: Mapping[str, Any] | None) -> Records:
    """All that counts; ``written`` is what run.json says about the file."""
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        content = b""
    except OSError as e:
        raise RunError(f"{path} cannot be read: {e.strerror}.") from e
    found = Records()
    wrong: list[int] = []
    *lines, rest = content.split(b"\n")
    for i, line in enumerate(lines, 1):
        record = from_line(line)
        if record is None:
            wrong.append(i)
            found.forget(line)
        else:
            found.note(record)
            found.lines.append((record.key, line))
    found.torn = bool(rest)
    for i in wrong[:SHOWN]:
        found.damaged.append(f"{path}:{i}: this line is not as it was written, and is left out. {AGAIN}")
    if len(wrong) > SHOWN:
        found.damaged.append(f"{path}: {len(wrong) - SHOWN} more lines are not as they were written. {AGAIN}")
    if written is not None and not wrong:
        found.compare(path, content, written)
    return found
