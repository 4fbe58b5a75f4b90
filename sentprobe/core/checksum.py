"""Checksums: whether what is read is what was written.

A line of JSON ends with a checksum over all bytes before it, so that any change of the line is detected. A JSON
document has one among its fields, over the values of all others: it may be reformatted, but not changed.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

CHECKSUM = "checksum"
_END = re.compile(rb',"checksum":"([0-9a-f]{32})"\}')


def digest(content: bytes | memoryview) -> str:
    """Thirty-two hexadecimal digits that identify the content of a file."""
    return hashlib.blake2b(content, digest_size=16).hexdigest()


def b2sum(content: bytes | Path) -> str:
    """The BLAKE2b digest of a file, or of what will be in one, as the program ``b2sum`` prints it."""
    if isinstance(content, bytes):
        return hashlib.blake2b(content).hexdigest()
    with content.open("rb") as file:
        return hashlib.file_digest(file, hashlib.blake2b).hexdigest()


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
