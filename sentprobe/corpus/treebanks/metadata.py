"""Metadata of a treebank: what its stats.xml and README say, what its files contain, and the record of its download."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sentprobe.core.files import write_atomically
from sentprobe.core.seal import is_intact, read_document, seal_document
from sentprobe.errors import DataError

SPLITS = ("train", "dev", "test")
RECORD = "treebank.json"
FORMAT = "sentprobe.treebank.v1"
_MANIFEST_FIELDS = (
    "treebank",
    "release",
    "language",
    "licence",
    "genres",
    "address",
    "sentences",
    "tokens",
    "words",
    "verified",
)
_METADATA = re.compile(r"[-=]{3} machine[- ]readable metadata", re.I)
_NO_TEXT_SHARE = 0.5
"""A treebank most of whose words are underscores was released without its text; a real underscore is rare."""


@dataclass(frozen=True, slots=True)
class TreebankCounts:
    """The size of a file or a treebank."""

    sentences: int = 0
    tokens: int = 0
    """Surface tokens: *don't* is one."""
    words: int = 0
    """Syntactic words: *don't* is two, *do* and *n't*."""
    hidden: int = 0
    """Words whose form is an underscore; stats.xml does not count them."""

    def __add__(self, other: TreebankCounts) -> TreebankCounts:
        return TreebankCounts(
            self.sentences + other.sentences,
            self.tokens + other.tokens,
            self.words + other.words,
            self.hidden + other.hidden,
        )

    def __str__(self) -> str:
        return f"{self.sentences:,} sentences, {self.tokens:,} tokens and {self.words:,} words"

    @property
    def size(self) -> tuple[int, int, int]:
        """What stats.xml counts."""
        return self.sentences, self.tokens, self.words

    @property
    def lacks_text(self) -> bool:
        """Whether the words were replaced by underscores."""
        return self.hidden > self.words * _NO_TEXT_SHARE


@dataclass(frozen=True, slots=True)
class Metadata:
    """What a README says; what it does not say is empty."""

    licence: str = ""
    text: str = ""
    """Whether the text is included: ``yes`` or ``no``."""
    genres: str = ""


def parse_stats(content: bytes) -> dict[str, TreebankCounts]:
    """The counts of stats.xml: of ``total``, ``train``, ``dev`` and ``test``; DataError if it has none.

    Releases before 2.4 have the total only.
    """
    # no XML parser: entities of a downloaded document could expand without end, and four elements are wanted
    text = content.decode("utf-8", "replace")
    sizes = re.search(r"<size>(.*?)</size>", text, re.S)
    elements = re.findall(r"<(total|train|dev|test)>(.*?)</\1>", sizes[1], re.S) if sizes else []
    counts = {part: _counts(element) for part, element in elements}
    if not counts.get("total", TreebankCounts()).sentences:
        raise DataError("stats.xml has no <size> with the number of sentences")
    return counts


def _counts(element: str) -> TreebankCounts:
    numbers = {name: int(n) for name, n in re.findall(r"<(\w+)>(\d{1,12})</", element)}
    tokens = numbers.get("tokens", 0)
    # "The words and fused elements can be omitted if no token is split", says stats.xml
    return TreebankCounts(numbers.get("sentences", 0), tokens, numbers.get("words", tokens))


def parse_readme(text: str) -> Metadata:
    """The machine-readable metadata at the end of a README."""
    *_, block = _METADATA.split(text)
    if block == text:
        return Metadata()
    fields = {
        name.strip().lower(): value.strip()
        for name, colon, value in (line.partition(":") for line in block.splitlines())
        if colon
    }
    return Metadata(fields.get("license", ""), fields.get("includes text", "").lower(), fields.get("genre", ""))


def count_conllu(pieces: Iterable[bytes]) -> TreebankCounts:
    """Count what a CoNLL-U file contains, as UD's own statistics do; the pieces are of whole lines."""
    sentences = tokens = words = hidden = 0
    inside, end = False, 0
    for piece in pieces:
        for line in piece.removesuffix(b"\n").split(b"\n"):
            if not line.strip():
                inside, end = False, 0
                continue
            if line.startswith(b"#"):
                continue
            number, _, cells = line.partition(b"\t")
            if not inside:
                sentences, inside = sentences + 1, True
            if b"-" in number:
                tokens += 1
                last = number.partition(b"-")[2]
                end = int(last) if last.isdigit() else 0
            elif number.isdigit():
                words += 1
                tokens += int(number) > end  # the words of a multi-word token are counted with it
                hidden += cells.partition(b"\t")[0] == b"_"
    return TreebankCounts(sentences, tokens, words, hidden)


# The record of a downloaded treebank: a file beside its data, for later commands and for manifests


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
            files = [file for file in record["files"] if file["name"] in names]
            if files:
                described.append({key: record[key] for key in _MANIFEST_FIELDS if key in record} | {"files": files})
    return described
