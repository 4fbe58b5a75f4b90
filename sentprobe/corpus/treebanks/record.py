"""What is known of a downloaded treebank: a file beside its data, for later commands and for manifests."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from sentprobe.core.files import write_atomically
from sentprobe.core.seal import is_intact, read_document, seal_document

RECORD = "treebank.json"
FORMAT = "sentprobe.treebank.v1"
_FOR_MANIFESTS = (
    "treebank", "release", "language", "licence", "genres", "address", "sentences", "tokens", "words", "verified",
)  # fmt: skip


def write_record(folder: Path, facts: dict[str, Any]) -> None:
    """Write what is known of the treebank in a folder."""
    write_atomically(folder / RECORD, seal_document({"format": FORMAT, **facts}))


def read_record(folder: Path) -> dict[str, Any] | None:
    """What was written, if it is there and unchanged."""
    try:
        document = read_document((folder / RECORD).read_bytes())
    except (OSError, ValueError):
        return None
    return document if document.get("format") == FORMAT and is_intact(document) else None


def describe_treebanks(files: Iterable[str]) -> list[dict[str, Any]]:
    """What a manifest says of the treebanks that these files are of: release, licence, counts, files with checksums."""
    by_folder: dict[Path, set[str]] = {}
    for path in map(Path, files):
        by_folder.setdefault(path.parent, set()).add(path.name)
    described = []
    for folder, names in by_folder.items():
        if (record := read_record(folder)) is not None:
            used = [one for one in record["files"] if one["name"] in names]
            if used:
                described.append({name: record[name] for name in _FOR_MANIFESTS if name in record} | {"files": used})
    return described
