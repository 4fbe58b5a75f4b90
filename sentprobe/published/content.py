"""Digests of the content of a set, whatever its format, name, order or tokenisation.

    te, all    BLAKE2b over the test rows, or the rows of all splits: a line per row, sorted, with its label, text and
               further columns. White space is removed from texts, and Penn Treebank quotes become plain ones, so that
               a tokenizer that only inserts spaces changes nothing.
    file       the git object id of the uncompressed file, for a set that is one file in SentEval's format: what
               ``git hash-object`` prints, and repositories record for the file.

``Dataset.digest`` changes with everything that can change a score, even the order of rows. These digests identify a
set.
"""

from __future__ import annotations

import hashlib
import lzma
import unicodedata
import zlib
from collections.abc import Iterable
from contextlib import ExitStack, suppress
from heapq import merge

from sentprobe.core.files import CHUNK_BYTES, open_source
from sentprobe.data.dataset import Dataset
from sentprobe.errors import SentProbeError
from sentprobe.tasks import Example

SENTEVAL_ROWS = 120_000
"""The size of SentEval's ten probing files, the only files that are identified by their git id."""
PTB_QUOTES = (("``", '"'), ("''", '"'))


def content_digests(dataset: Dataset, file: str | None = None) -> dict[str, str]:
    """The digests of a set; ``file`` is where it was read from, if it is a single file."""
    lines = {split: sorted(map(_line, rows)) for split, rows in dataset.rows.items()}
    found = {"te": _lines_digest(lines.get("te", ())), "all": _lines_digest(merge(*lines.values()))}
    if file is not None and len(dataset) == SENTEVAL_ROWS:
        # it has been read before; if it cannot be read now, the id is left out
        with suppress(SentProbeError, OSError, EOFError, zlib.error, lzma.LZMAError):
            found["file"] = git_blob_id(_decompressed(file))
    return found


def _decompressed(file: str) -> bytes:
    """The decompressed bytes of a file, unchanged: ``open_bytes`` would normalise line endings."""
    with ExitStack() as stack:
        source = open_source(file, stack)
        return b"".join(iter(lambda: source.read1(CHUNK_BYTES), b""))


def rows_digest(rows: Iterable[Example]) -> str:
    """Digest of labels, texts and further columns, in any order: 32 hexadecimal digits."""
    return _lines_digest(sorted(map(_line, rows)))


def _lines_digest(lines: Iterable[str]) -> str:
    """The same of sorted lines."""
    state = hashlib.blake2b(digest_size=16)
    for line in lines:
        state.update(line.encode(errors="surrogatepass") + b"\n")
    return state.hexdigest()


def _line(row: Example) -> str:
    return "\x1f".join(
        (row.label.strip(), _normalised(row.text), *(_normalised(value) for _, value in sorted(row.extra)))
    )


def _normalised(text: str) -> str:
    if not text.isascii():
        text = unicodedata.normalize("NFC", text)
    for pair, plain in PTB_QUOTES:
        text = text.replace(pair, plain)
    return "".join(text.split())


def git_blob_id(content: bytes) -> str:
    """The git object id of a file with this content."""
    return hashlib.sha1(b"blob %d\x00" % len(content) + content, usedforsecurity=False).hexdigest()
