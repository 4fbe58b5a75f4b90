"""A result or failure as one line of ``results.jsonl``, with its number and checksum."""

from __future__ import annotations

import msgspec

from sentprobe.core.checksum import is_sealed, seal_line
from sentprobe.errors import DataError
from sentprobe.result import Failure, Result


class _Line(msgspec.Struct, omit_defaults=True):
    number: int
    result: Result | None = None
    failure: Failure | None = None


def to_line(record: Result | Failure, number: int) -> bytes:
    """A record as line ``number`` (from 0) of results.jsonl, with its checksum and without the newline."""
    line = _Line(number, result=record) if isinstance(record, Result) else _Line(number, failure=record)
    what = f"The record of {record.cell.encoder} on {record.cell.dataset}"
    if not _is_own(record):
        raise DataError(f"{what} has the key {record.key!r}; expected that of its cell, {record.cell.key!r}.")
    try:
        found = seal_line(msgspec.json.encode(line))
    except (TypeError, UnicodeEncodeError, msgspec.EncodeError) as e:
        raise DataError(f"{what} cannot be encoded as JSON: {e}") from e
    if from_line(found) is None:  # NaN and infinity are written as null
        raise DataError(f"{what} has a number that is not finite, and could not be read back.")
    return found


def from_line(line: bytes) -> tuple[Result | Failure, int] | None:
    """The record and its line number; None if the line is damaged."""
    if not is_sealed(line):
        return None
    try:
        found = msgspec.json.decode(line, type=_Line)
    except (ValueError, RecursionError):
        return None
    record = found.result or found.failure
    return (record, found.number) if record is not None and _is_own(record) else None


def _is_own(record: Result | Failure) -> bool:
    """Whether the key of a record is that of its cell. Paths are made of the key and of the digest of the set: a record
    from elsewhere must not point outside its folder."""
    return record.key == record.cell.key and (record.cell.data or "a").replace("-", "a").isalnum()
