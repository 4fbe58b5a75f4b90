"""Which files a training reads, with a digest of each, so that a card says exactly what an encoder has seen."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from sentprobe.errors import DataError

DIGEST_BYTES = 16


def describe_sources(sources: Iterable[str]) -> list[dict[str, Any]]:
    """Name, bytes and digest of each file of the sources; only the name of one that is not a file."""
    descriptions: list[dict[str, Any]] = []
    for source in sources:
        files = list(source_files(source))
        descriptions += [_describe(file) for file in files] or [{"name": Path(source).name or source}]
    return descriptions


def source_files(source: str) -> Iterator[Path]:
    """The files of a source: a file, all of a folder, those that match a pattern, or several with commas between."""
    path = Path(source).expanduser()
    if path.is_dir():
        yield from sorted(p for p in path.rglob("*") if p.is_file() and not p.name.startswith("."))
    elif path.is_file():
        yield path
    elif "*" in path.name:
        yield from sorted(file for file in path.parent.glob(path.name) if file.is_file())
    elif "," in source:
        for part in source.split(","):
            yield from source_files(part) if part else ()


def _describe(file: Path) -> dict[str, Any]:
    try:
        with file.open("rb") as opened:
            digest = hashlib.file_digest(opened, lambda: hashlib.blake2b(digest_size=DIGEST_BYTES)).hexdigest()
            return {"name": file.name, "bytes": opened.tell(), "blake2b": digest}
    except OSError as e:
        raise DataError(f"{file} cannot be read: {e.strerror}.") from None
