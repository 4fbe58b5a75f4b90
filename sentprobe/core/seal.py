"""The seal of a folder: what its files were when they were written, how far its logs and growing files go."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import msgspec

from sentprobe.core.checksum import (
    CHECKSUM,
    digest,
    is_intact,
    is_sealed,
    line_checksum,
    other_format,
    read_document,
    seal_document,
)
from sentprobe.errors import DataError, SentProbeError

SEAL = "checksums.json"
FORMAT = 1


class SealedFile(msgspec.Struct, frozen=True, omit_defaults=True):
    """A file as it was written."""

    bytes: int
    blake2b: str
    about: dict[str, Any] = {}
    """What else is known of it."""


class GrowingFile(msgspec.Struct, frozen=True, omit_defaults=True):
    """A file that is appended to: so many of its bytes count, whatever follows them."""

    bytes: int = 0
    blake2b: str = hashlib.blake2b().hexdigest()
    """Of these bytes."""
    moved_to: str = ""
    """Its name beside the folder, where it is moved when it is complete."""


class LogState(msgspec.Struct, frozen=True):
    """How far a log goes at least: further lines are of a process that is still writing, or was killed."""

    lines: int = 0
    last: str = ""
    """The checksum of the last of these lines; where they are sealed one by one, a digest of all their checksums."""


class Seal(msgspec.Struct):
    """The content of ``checksums.json``."""

    format: int
    files: dict[str, list[SealedFile | None]] = {}
    """What a file may be: one state; two where a process is replacing it, None for its absence."""
    logs: dict[str, LogState] = {}
    growing: dict[str, GrowingFile] = {}
    facts: dict[str, Any] = {}
    """What else is recorded: the other fields of the document."""

    def encode(self) -> bytes:
        """As it is written."""
        fields: dict[str, Any] = msgspec.to_builtins(self)
        facts = fields.pop("facts")
        return seal_document(facts | {name: value for name, value in fields.items() if value or name == "logs"})


def decode_seal(content: bytes, file: Path, format: int = FORMAT, error: type[SentProbeError] = DataError) -> Seal:
    """Of what was written; a ValueError says what is wrong with it, ``error`` that its format is another one."""
    document = read_document(content)
    if not is_intact(document) and (CHECKSUM in document or "format" not in document):
        raise ValueError("its checksum does not match")
    if document.get("format") != format:
        raise error(f"{other_format(file, document.get('format'), format)} Choose a new folder.")
    if CHECKSUM not in document:
        raise ValueError("its checksum is missing")
    fields: dict[str, Any] = {
        name: document.pop(name) for name in ("format", "files", "logs", "growing") if name in document
    }
    del document[CHECKSUM]
    fields["facts"] = document
    seal = msgspec.convert(fields, Seal)
    outside = [name for name in (*seal.files, *seal.logs, *seal.growing) if _leads_out(name)]
    outside += [each.moved_to for each in seal.growing.values() if each.moved_to != Path(each.moved_to).name]
    if outside:
        raise ValueError(f"it names {outside[0]}, which is outside of the folder")
    return seal


def _leads_out(name: str) -> bool:
    return Path(name).is_absolute() or ".." in Path(name).parts


def log_state(lines: Sequence[bytes]) -> LogState:
    """Of a log with these lines, each sealed together with the one before."""
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


def independent_state(lines: Iterable[bytes], state: LogState | None = None) -> LogState:
    """Of a log whose lines are sealed one by one, so that the loss of one leaves the others; ``state``: before them."""
    number, last = (state.lines, state.last) if state is not None else (0, "")
    for line in lines:
        number, last = number + 1, digest(last.encode() + line[-34:-2])
    return LogState(number, last)
