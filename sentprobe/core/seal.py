"""Seals: whether what is read is what was written.

A line of JSON ends with a checksum over all bytes before it, so that any change of the line is detected. A JSON
document has one among its fields, over the values of all others: it may be reformatted, but not changed. The seal of a
folder says what its files were when they were written, how far its logs and growing files go.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from sentprobe.core.hashing import digest
from sentprobe.errors import DataError, SentProbeError

# Lines and documents


CHECKSUM = "checksum"
_END = re.compile(rb',"checksum":"([0-9a-f]{32})"\}')


def seal_line(line: bytes, after: str = "") -> bytes:
    """A JSON object on one line, with at least one field, and its checksum added as the last one.

    ``after`` is the checksum of the line before: in a log that has it, no line is removed, repeated or moved unnoticed.
    """
    body = line.removesuffix(b"}")
    return b'%s,"%s":"%s"}' % (body, CHECKSUM.encode(), digest(after.encode() + body).encode())


def is_sealed(line: bytes, after: str = "") -> bool:
    """Whether a line is unchanged since ``seal_line`` returned it."""
    start = line.rfind(b',"checksum":"')
    end = _END.fullmatch(line, start) if start >= 0 else None
    return end is not None and end[1].decode() == digest(after.encode() + line[:start])


def line_checksum(line: bytes) -> str:
    """The checksum at the end of a line that ``seal_line`` returned."""
    return line[-34:-2].decode()


def seal_document(document: Mapping[str, Any]) -> bytes:
    """A JSON object, indented, with its checksum among its fields."""
    plain = msgspec.json.decode(msgspec.json.encode(_without(document)), type=dict[str, Any])
    return msgspec.json.format(
        msgspec.json.encode({**plain, CHECKSUM: _checksum(plain)}, order="deterministic"), indent=2
    )


def read_document(content: bytes) -> dict[str, Any]:
    """Parse a JSON object; raises ValueError if it is something else."""
    try:
        return msgspec.json.decode(content, type=dict[str, Any])
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def other_format(path: object, got: object, expected: object) -> str:
    """The beginning of a message about something that another version of sentprobe wrote."""
    return (
        f"{path} has the format {got!r}; this version of sentprobe reads {expected!r}. It was written by another "
        "version, or before the project had its present name, and is not read."
    )


def is_intact(document: Mapping[str, Any]) -> bool:
    """Whether a document is unchanged since ``seal_document`` returned it."""
    try:
        return document.get(CHECKSUM) == _checksum(_without(document))
    except (ValueError, TypeError, OverflowError, RecursionError):  # what cannot be serialised was never written
        return False


def _without(document: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in document.items() if name != CHECKSUM}


def _checksum(plain: Mapping[str, Any]) -> str:
    return digest(msgspec.json.encode(plain, order="deterministic"))


# Folders


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
    outside += [grown.moved_to for grown in seal.growing.values() if grown.moved_to != Path(grown.moved_to).name]
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
