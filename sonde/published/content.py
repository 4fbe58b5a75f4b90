"""What is in a set, as digests that do not depend on how it is stored, named, ordered or tokenised.

    te, all    BLAKE2b over the test rows, or the rows of all splits: a line per row, sorted, of its label, its text
               and its further columns. Of a text all white space is left out and quotation marks of the Penn
               Treebank are plain ones, so that a tokeniser that only sets spaces changes nothing.
    file       the git object id of the uncompressed file, for a set that is one file in SentEval's format: what
               ``git hash-object`` prints, and what a repository that has the file says of it.

``Dataset.digest`` is about numbers, which even the order of rows can move. These digests are about which set it is.
"""

from __future__ import annotations

import hashlib
import lzma
import unicodedata
import zlib
from collections.abc import Iterable
from contextlib import ExitStack, suppress

from sonde.core.files import CHUNK_BYTES, open_source
from sonde.data.dataset import Dataset
from sonde.errors import SondeError
from sonde.task import Example

SENTEVAL_ROWS = 120_000
"""Of each of SentEval's ten probing files, and so of all files whose id is of use."""
PTB_QUOTES = (("``", '"'), ("''", '"'))


def content_digests(dataset: Dataset, file: str | None = None) -> dict[str, str]:
    """The digests of a set, which was read from this file if it is one."""
    found = {"te": rows_digest(dataset.rows.get("te", ())), "all": rows_digest(row for _, row in dataset)}
    if file is not None and len(dataset) == SENTEVAL_ROWS:
        # it was read before; if that is no longer possible, it is only not known
        with suppress(SondeError, OSError, EOFError, zlib.error, lzma.LZMAError):
            found["file"] = git_blob_id(_decompressed(file))
    return found


def _decompressed(file: str) -> bytes:
    """All bytes of a file, decompressed, as they are: ``open_bytes`` unifies the ends of lines."""
    with ExitStack() as stack:
        source = open_source(file, stack)
        return b"".join(iter(lambda: source.read1(CHUNK_BYTES), b""))


def rows_digest(rows: Iterable[Example]) -> str:
    """Thirty-two hexadecimal digits over labels, texts and further columns, in whatever order."""
    state = hashlib.blake2b(digest_size=16)
    for line in sorted(_line(row) for row in rows):
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
    """The id that git gives to a file with this content."""
    return hashlib.sha1(b"blob %d\x00" % len(content) + content, usedforsecurity=False).hexdigest()
