"""Checksums next to files that sentprobe wrote, checked when these are read; ``b2sum -c`` reads them as well.

BLAKE2b-128 (vectors.npy) = 5f0c…
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from pathlib import Path

from sentprobe.errors import DataError

CHECKSUMS_FILE = "sentprobe-checksums.txt"
_LINE = re.compile(r"BLAKE2b-128 \(([^/()\n]+)\) = ([0-9a-f]{32})")


def hash_file(path: Path | str) -> str:
    """The hash of a complete file; one of a part would miss changes elsewhere."""
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=16)).hexdigest()


def checksum_lines(paths: Iterable[Path]) -> str:
    """The checksums of files in one folder, one per line."""
    return "".join(f"BLAKE2b-128 ({path.name}) = {hash_file(path)}\n" for path in paths)


def check_hash(path: Path | str, actual: str) -> None:
    """DataError if the checksums next to a file have another hash for it; without checksums, any hash is accepted."""
    path = Path(path)
    checksums = path.with_name(CHECKSUMS_FILE)
    try:
        content = checksums.read_text("utf-8")
    except FileNotFoundError:
        return
    except (OSError, UnicodeDecodeError) as e:
        raise DataError(
            f"{checksums} cannot be read: {e}. Write the files again, or delete it if they are your own."
        ) from e
    expected: dict[str, str] = {}
    for number, line in enumerate(content.splitlines(), 1):
        if not (match := _LINE.fullmatch(line)):
            raise DataError(
                f"{checksums}:{number}: expected a line written by `sentprobe encode`, got {line[:60]!r}. The file is "
                "damaged: encode again, or delete it if the files next to it are your own."
            )
        expected[match[1]] = match[2]
    if expected.get(path.name, actual) != actual:
        raise DataError(
            f"{path} is not the file that `sentprobe encode` wrote: its checksum is not the one in {checksums.name}. "
            f"It was damaged or replaced: encode again, or delete {checksums.name} if you replaced it."
        )
