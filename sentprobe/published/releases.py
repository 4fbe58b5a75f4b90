"""Recognises released sets by their content: sets.csv has their digests, with the files that they were computed from.

Human performance and published results belong to a set, not to a task or a name: a set made from another corpus, or a
folder named like a suite, has other sentences.

    suite, task, language   the rows of rows.csv that belong to the set
    by, digest              which digest identifies the set, and the digest:
        te, all             BLAKE2b over the test rows, or the rows of all splits: a line per row, sorted, with its
                            label, text and further columns. White space is removed from texts, and Penn Treebank
                            quotes become plain ones, so that a tokenizer that only inserts spaces changes nothing.
        file                the git object id of the uncompressed file, for a set that is one file in SentEval's format:
                            what ``git hash-object`` prints, and repositories record for the file.
    train                   training rows of the release
    file, bytes, sha256     the file that the digest was computed from; not needed where ``by`` is file

``Dataset.digest`` changes with everything that can change a score, even the order of rows. These digests identify a
set, whatever its format, name, order or tokenisation. The table covers SentEval's ten probing files, four parts of
them, the test sets of X-Probe, and nine transfer tasks. The sets of Krasnowska-Kieraś and Wróblewska (2019) and Adi et
al. (2017), and other transfer tasks, were not available.
"""

from __future__ import annotations

import csv
import hashlib
import lzma
import unicodedata
import zlib
from collections.abc import Iterable, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from functools import cache
from heapq import merge
from importlib.resources import files
from typing import Literal, cast

from sentprobe.core.files import CHUNK_BYTES, open_source
from sentprobe.core.hashing import git_blob
from sentprobe.data.dataset import Dataset
from sentprobe.errors import SentProbeError
from sentprobe.tasks import Example

SENTEVAL_ROWS = 120_000
"""The size of SentEval's ten probing files, the only files that are identified by their git id."""
PTB_QUOTES = (("``", '"'), ("''", '"'))
DigestOf = Literal["te", "all", "file"]
Extent = Literal["this set", "the whole set", "another set", "other vectors"]
"""What a published result was obtained on: this very set; a release that this set is a part of, or shares only the test
rows with; another set of the same task; or, for word spaces, the same task and languages with other vectors."""


@dataclass(frozen=True, slots=True)
class Release:
    """A released set, and how it is recognised."""

    suite: str
    task: str
    language: str
    by: DigestOf
    digest: str
    train: int
    file: str
    bytes: str
    sha256: str
    note: str


def recognise(content: Mapping[str, str], rows: Mapping[str, int]) -> tuple[Release, Extent] | None:
    """The release that a set is, or is a part of, by its digests and its number of rows per split."""
    for by in ("file", "te", "all"):
        release = _releases().get((by, content.get(by, "")))
        if release is not None:
            return release, "this set" if by == "file" or rows.get("tr", 0) == release.train else "the whole set"
    return None


def releases() -> list[Release]:
    """All known releases."""
    return list(_releases().values())


@cache
def _releases() -> dict[tuple[str, str], Release]:
    lines = files("sentprobe.published").joinpath("sets.csv").read_text("utf-8").splitlines()
    rows = [_release(**cells) for cells in csv.DictReader(lines)]
    return {(release.by, release.digest): release for release in rows}


def _release(*, by: str, train: str, **cells: str) -> Release:
    return Release(**cells, by=cast("DigestOf", by), train=int(train))


# Digests


def content_digests(dataset: Dataset, file: str | None = None) -> dict[str, str]:
    """The digests of a set; ``file`` is where it was read from, if it is a single file."""
    lines = {split: sorted(map(_line, rows)) for split, rows in dataset.rows.items()}
    digests = {"te": _lines_digest(lines.get("te", ())), "all": _lines_digest(merge(*lines.values()))}
    if file is not None and len(dataset) == SENTEVAL_ROWS:
        # it has been read before; if it cannot be read now, the id is left out
        with suppress(SentProbeError, OSError, EOFError, zlib.error, lzma.LZMAError):
            digests["file"] = git_blob(_decompressed(file))
    return digests


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
