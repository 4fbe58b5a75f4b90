"""``checksums.json``: what the files of a folder were when they were written, and how far its logs go."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from sentprobe.core.checksum import is_intact, is_sealed, line_checksum, other_format, read_document, seal_document
from sentprobe.errors import DataError

SEAL = "checksums.json"
FORMAT = 1


class SealedFile(msgspec.Struct, frozen=True, omit_defaults=True):
    """A file as it was written."""

    bytes: int
    blake2b: str
    about: dict[str, Any] = {}
    """What else is known of it."""


class LogState(msgspec.Struct, frozen=True):
    """How far a log goes at least: further lines are of a process that is still writing, or was killed."""

    lines: int = 0
    last: str = ""
    """The checksum of the last of these lines."""


class Seal(msgspec.Struct):
    """The content of ``checksums.json``."""

    format: int
    command: str
    files: dict[str, list[SealedFile | None]]
    """What a file may be: one state; two where a process is replacing it, None for its absence."""
    logs: dict[str, LogState]

    def encode(self) -> bytes:
        """As it is written."""
        return seal_document(msgspec.to_builtins(self))


def decode_seal(content: bytes, file: Path) -> Seal:
    """Of what was written; a ValueError says what is wrong with it."""
    found = read_document(content)
    if not is_intact(found):
        raise ValueError("its checksum does not match")
    if found.get("format") != FORMAT:
        raise DataError(f"{other_format(file, found.get('format'), FORMAT)} Choose a new folder.")
    seal = msgspec.convert(found, Seal)
    for name in (*seal.files, *seal.logs):
        if Path(name).is_absolute() or ".." in Path(name).parts:
            raise ValueError(f"it names {name}, which is outside of the folder")
    return seal


def log_state(lines: Sequence[bytes]) -> LogState:
    """Of a log with these lines."""
    return LogState(len(lines), line_checksum(lines[-1]) if lines else "")


def first_changed(lines: Sequence[bytes], state: LogState) -> int | None:
    """The number of the first line of a log that was changed, removed, repeated or moved; None if there is none."""
    after = ""
    for number, line in enumerate(lines, 1):
        if not is_sealed(line, after):
            return number
        after = line_checksum(line)
        if number == state.lines and after != state.last:  # the log of another folder
            return number
    return len(lines) + 1 if len(lines) < state.lines else None
