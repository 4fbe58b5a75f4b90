"""results.jsonl: a line per finished or failed cell. If several lines are about one cell, the last one counts.

Every line has a checksum and its own number. A damaged line is left out, and with it whatever it may have superseded: a
score that no longer counted must not come back. Lines count in the order of their numbers, each once. When a command
ends, run.json records the length of the file and its digest. Anything after that, up to a torn last line, belongs to a
command that is still running or was killed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sentprobe.core.checksum import digest
from sentprobe.errors import RunError
from sentprobe.result import Failure, Result
from sentprobe.run.record_line import from_line

RESULTS = "results.jsonl"
RETRACTED = "gone"
"""The kind of a record that retracts earlier records of its cell."""
REDO_MISSING = "The same `sentprobe run` command computes what is missing."
SHOWN = 3
"""Damaged lines that are reported one by one."""
_KEY = re.compile(rb'"key":"([0-9a-f]{16})"')


@dataclass
class Records:
    """The records of the cells of a run."""

    results: dict[str, Result] = field(default_factory=dict)
    failures: dict[str, Failure] = field(default_factory=dict)
    lines: list[Result | Failure] = field(default_factory=list)
    """All intact records that no damaged line may have superseded, the oldest first."""
    damaged: list[str] = field(default_factory=list)
    """What is damaged, and what to do about it."""
    size: int = 0
    """Bytes of the file, without an unfinished last line."""
    torn: bool = False
    """Whether there is such a line."""

    def note(self, record: Result | Failure) -> None:
        """Add a record, which supersedes earlier ones of its cell."""
        self.results.pop(record.key, None)
        self.failures.pop(record.key, None)
        if isinstance(record, Result):
            self.results[record.key] = record
        elif record.kind != RETRACTED:
            self.failures[record.key] = record

    def forget(self, line: bytes) -> None:
        """Drop whatever a damaged line may have superseded: its own cell, and, unless the line has an identity, results
        of encoders without an identity, which every command recomputes."""
        key = _KEY.search(line)
        gone = {key[1].decode()} if key else set()
        if b'"identity":"' not in line:
            gone |= self._unnamed()
        self._drop(gone)

    def report_moved_lines(self, path: Path, expected: int, found: int) -> None:
        """Report that lines are missing or moved; one of them may have superseded something."""
        self._drop(self._unnamed())
        if expected == found:
            what = "its lines were changed or reordered."
        else:
            what = f"expected {expected} lines, got {found}. Lines were removed, repeated or moved."
        self.damaged.append(f"{path} is damaged: {what} {REDO_MISSING}")

    def drop_unowned(self, own: Callable[[Result], bool]) -> None:
        """Drop the results of other runs from a damaged file."""
        if self.damaged:
            self._drop({key for key, result in self.results.items() if not own(result)})

    def _unnamed(self) -> set[str]:
        """The results of encoders without an identity."""
        return {key for key, result in self.results.items() if result.cell.identity is None}

    def _drop(self, keys: set[str]) -> None:
        self.results = {key: result for key, result in self.results.items() if key not in keys}
        self.failures = {key: failure for key, failure in self.failures.items() if key not in keys}
        self.lines = [record for record in self.lines if record.key not in keys]


def read_records(path: Path, written: Mapping[str, Any] | None) -> Records:
    """Read the records that count; ``written`` is what run.json records about the file."""
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        content = b""
    except OSError as e:
        raise RunError(f"{path} cannot be read: {e.strerror}.") from e
    *lines, rest = content.split(b"\n")
    parsed = [from_line(line) for line in lines]
    # a damaged line is assumed to be in its place
    numbers = [place if one is None else one[1] for place, one in enumerate(parsed)]
    found = Records(size=len(content) - len(rest), torn=bool(rest))
    seen: set[int] = set()
    for place in sorted(range(len(lines)), key=numbers.__getitem__):
        one = parsed[place]
        if one is None:
            found.forget(lines[place])
        elif one[1] not in seen:
            seen.add(one[1])
            found.note(one[0])
            found.lines.append(one[0])
    wrong = [place for place, one in enumerate(parsed) if one is None]
    for place in wrong[:SHOWN]:
        found.damaged.append(f"{path}:{place + 1}: this line is damaged and left out. {REDO_MISSING}")
    if len(wrong) > SHOWN:
        found.damaged.append(f"{path}: {len(wrong) - SHOWN} more lines are damaged. {REDO_MISSING}")
    size = written["bytes"] if written is not None else 0
    if numbers != list(range(len(lines))):
        found.report_moved_lines(
            path, max([*numbers, written["lines"] - 1 if written is not None else 0]) + 1, len(lines)
        )
    elif written is not None and not wrong and (len(content) < size or digest(content[:size]) != written["digest"]):
        found.report_moved_lines(path, written["lines"], len(lines))
    return found
