"""Checksums beside files that this program wrote, to be seen when they are read: ``b2sum -c`` reads them as well.

BLAKE2b-128 (vectors.npy) = 5f0c…
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from pathlib import Path

from sonde.errors import DataError

CHECKSUMS_FILE = "sonde-checksums.txt"
_LINE = re.compile(r"BLAKE2b-128 \(([^/()\n]+)\) = ([0-9a-f]{32})")


def hash_file(path: Path | str) -> str:
    """Of the whole file: a part of it would be quicker, and wrong when another part changes."""
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=16)).hexdigest()


def checksum_lines(paths: Iterable[Path]) -> str:
    """The checksums of files of one folder."""
    return "".join(f"BLAKE2b-128 ({path.name}) = {hash_file(path)}\n" for path in paths)


def check_hash(path: Path | str, found: str) -> None:
    """Refuse a file whose hash is not the one that stands beside it; nothing is said where none does."""
    path = Path(path)
    beside = path.with_name(CHECKSUMS_FILE)
    try:
        content = beside.read_text("utf-8")
    except FileNotFoundError:
        return
    except (OSError, UnicodeDecodeError) as e:
        raise DataError(f"{beside} cannot be read: {e}. Write the files again, or delete it if they are yours.") from e
    known: dict[str, str] = {}
    for number, line in enumerate(content.splitlines(), 1):
        if not (match := _LINE.fullmatch(line)):
            raise DataError(
                f"{beside}:{number}: expected a line as `sonde encode` writes it, got {line[:60]!r}. The file is "
                "damaged: encode again, or delete it if the files beside it are yours."
            )
        known[match[1]] = match[2]
    if known.get(path.name, found) != found:
        raise DataError(
            f"{path} is not the file that `sonde encode` wrote: its checksum is not the one in {beside.name}. It was "
            f"damaged or replaced: encode again, or delete {beside.name} if you replaced it."
        )
