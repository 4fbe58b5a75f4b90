"""A probing set: labelled rows in three splits, with the manifest that says how they were made."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec

from sentprobe.core.checksum import digest, is_intact, other_format, read_document, seal_document
from sentprobe.core.files import make_folder, write_atomically
from sentprobe.data.parquet import decode_rows, encode_rows
from sentprobe.data.preview import dataset_html
from sentprobe.errors import DataError
from sentprobe.task import SPLITS, Example

MANIFEST_FILE, ROWS_FILE = "manifest.json", "rows.parquet"
MANIFEST_FORMAT = "sentprobe.manifest.v1"
DIGESTED_ROWS = 1000
"""Rows that are serialised at a time for the digest."""


@dataclass(frozen=True, repr=False)
class Dataset:
    """A probing set: labelled sentences in three splits, with the manifest that says how they were made.

    Parameters
    ----------
    name
        ``suite/task``.
    task
        The name of the task.
    version
        The version of the task; 0 for a set that sentprobe did not make.
    language
        A language code, or None.
    labels
        All labels, in a fixed order.
    rows
        The examples of each split: ``tr`` (train), ``va`` (validation), ``te`` (test).
    manifest
        Plain data, complete enough to make the set again; empty for a set that sentprobe did not make.

    Examples
    --------
    >>> from sentprobe import Dataset, Example
    >>> rows = {"te": [Example("PAST", ("She", "left"), "She left"), Example("PRES", ("He", "runs"), "He runs")]}
    >>> found = Dataset("mine/tense", "tense", 0, "en", ("PAST", "PRES"), rows)
    >>> found
    Dataset('mine/tense', en, 2 labels, tr 0, va 0, te 2)
    >>> len(found), [(split, row.text) for split, row in found]
    (2, [('te', 'She left'), ('te', 'He runs')])
    """

    name: str
    task: str
    version: int
    language: str | None
    labels: tuple[str, ...]
    rows: Mapping[str, Sequence[Example]]
    manifest: Mapping[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        sizes = ", ".join(f"{split} {len(self.rows.get(split, ())):,}" for split in SPLITS)
        language = f"{self.language}, " if self.language else ""
        return f"Dataset({self.name!r}, {language}{len(self.labels):,} labels, {sizes})"

    def _repr_html_(self) -> str:
        return dataset_html(self.name, self.language, self.labels, self.rows)

    def __len__(self) -> int:
        return sum(map(len, self.rows.values()))

    def __iter__(self) -> Iterator[tuple[str, Example]]:
        return ((split, row) for split in SPLITS for row in self.rows.get(split, ()))

    @cached_property
    def digest(self) -> str:
        """Sixteen hexadecimal digits over everything that can change a result: every field of every row, in order, the
        labels, and how the manifest says the set is to be used. Name, task, version and language are not part of it: a
        result is identified by these as well."""
        state = hashlib.blake2b(_canonical_json((self.labels, _use(self.manifest))), digest_size=8)
        rows = ((split, *row[:-1], sorted(row.extra)) for split, row in self)
        while block := [*islice(rows, DIGESTED_ROWS)]:
            state.update(_canonical_lines(block))
        return state.hexdigest()

    def save(self, folder: Path | str) -> None:
        """Write the set to a folder: a SentEval file, a Parquet file and, last, the manifest.

        Parameters
        ----------
        folder
            Where to write; it is created if necessary, and its files are replaced.
        """
        folder = Path(folder)
        make_folder(folder)
        (folder / MANIFEST_FILE).unlink(missing_ok=True)
        text = "".join(_senteval(split, row) for split, row in self).encode()
        write_atomically(folder / f"{self.task}.txt", text)
        files = {f"{self.task}.txt": digest(text), ROWS_FILE: write_rows(self, folder / ROWS_FILE)}
        manifest = seal_document({**self.manifest, "digest": self.digest, "files": files})
        write_atomically(folder / MANIFEST_FILE, manifest)

    @classmethod
    def load(cls, folder: Path | str) -> Dataset:
        """Read what ``save`` wrote, and verify that nothing was altered.

        Parameters
        ----------
        folder
            The folder with ``manifest.json``.

        Raises
        ------
        DataError
            If the folder holds no set, or a file is not as it was written.
        """
        folder = Path(folder)
        manifest = read_manifest(folder)
        found = cls(
            name=manifest["name"],
            task=manifest["task"],
            version=manifest["version"],
            language=manifest["language"],
            labels=tuple(manifest["labels"]),
            rows=read_rows(folder / ROWS_FILE, manifest["files"].get(ROWS_FILE)),
            manifest=manifest,
        )
        if found.digest != manifest["digest"]:
            raise DataError(
                f"{folder / ROWS_FILE} is not what the manifest describes: expected the digest {manifest['digest']}, "
                f"got {found.digest}. The file was altered or is damaged; make the set again."
            )
        return found


def _canonical_lines(rows: Sequence[Sequence[Any]]) -> bytes:
    """One line for each row, all at once where that is possible."""
    try:
        return msgspec.json.Encoder().encode_lines(rows)
    except (TypeError, UnicodeEncodeError):
        return b"".join(map(_canonical_json, rows))


def _canonical_json(values: Sequence[Any]) -> bytes:
    """Values as one line of JSON, different for different values."""
    try:
        return msgspec.json.encode(values) + b"\n"
    except (TypeError, UnicodeEncodeError):  # numpy's numbers; lone surrogates, which only Python's encoder can escape
        return (
            json.dumps(values, default=_plain, separators=(",", ":"), ensure_ascii=False).encode(errors="surrogatepass")
            + b"\n"
        )


def _plain(value: Any) -> Any:
    """A numpy value as a Python one, and what is not data as its repr."""
    return (
        value.item() if hasattr(value, "item") else sorted(map(str, value)) if isinstance(value, Set) else repr(value)
    )


def _use(manifest: Mapping[str, Any]) -> list[Any]:
    """The parts of a manifest that an evaluation, a sample or an audit depends on."""
    policy, corpus = (
        found if isinstance(found := manifest.get(name), Mapping) else {} for name in ("policy", "corpus")
    )
    return [
        manifest.get("protocol", "split"), manifest.get("inputs"), _sorted(manifest.get("solved_by")),
        policy.get("balance"), bool(policy.get("disjoint")), bool(corpus.get("synthetic")),
    ]  # fmt: skip


def _sorted(values: Any) -> Any:
    return sorted(map(str, values)) if isinstance(values, list | tuple | Set) else values


def find_set_folders(path: Path | str) -> list[Path]:
    """The folders of sets under a path, sorted; the path may itself be one."""
    path = Path(path)
    if not path.exists():
        raise DataError(
            f"There is no file or folder {str(path)!r}; expected sets that `sentprobe make` wrote, or a run."
        )
    places = [path / MANIFEST_FILE] if (path / MANIFEST_FILE).exists() else path.rglob(MANIFEST_FILE)
    found = sorted(p.parent for p in places if p.is_file())  # not a pipe
    if not found:
        raise DataError(
            f"{path} holds no probing set: expected a {MANIFEST_FILE} in it or below. `sentprobe make` writes one."
        )
    return found


def read_manifest(folder: Path) -> dict[str, Any]:
    """The manifest of one set; a DataError if it is not as it was written."""
    path = folder / MANIFEST_FILE
    try:
        found = read_document(path.read_bytes())
    except FileNotFoundError:
        raise DataError(f"There is no {path}; expected a folder that `sentprobe make` wrote.") from None
    except (ValueError, OSError) as e:
        raise DataError(f"{path} cannot be read: {e}. Make the set again.") from e
    if (got := found.get("format")) not in (None, MANIFEST_FORMAT):
        raise DataError(f"{other_format(path, got, MANIFEST_FORMAT)} Make the set again.")
    if missing := [name for name in _Manifest.__struct_fields__ if name not in found]:
        raise DataError(
            f"{path} is not the manifest of a probing set: it lacks {', '.join(missing)}. If an older version of "
            "sentprobe made the set, make it again."
        )
    if not is_intact(found):
        raise DataError(
            f"{path} is not as it was written: its checksum does not match. It was altered or is damaged; make the set "
            "again."
        )
    try:
        msgspec.convert(found, _Manifest)
    except msgspec.ValidationError as e:
        raise DataError(f"{path} is not the manifest of a probing set: {e}. Make the set again.") from e
    del found["checksum"]
    return found


class _Manifest(msgspec.Struct):
    """The fields that every manifest has."""

    name: str
    task: str
    version: int
    language: str | None
    labels: list[str]
    digest: str
    question: str
    corpus: dict[str, Any]
    reading: dict[str, Any]
    sizes: dict[str, Any]
    majority: dict[str, Any]
    label_length_correlation: dict[str, Any]
    audit: list[Any]
    files: dict[str, str]
    checksum: str


def check_against_manifest(path: Path) -> None:
    """Verify that a SentEval file next to a manifest is the one that was written with it."""
    try:
        files = read_manifest(path.parent)["files"]
    except DataError:  # another program's manifest: nothing vouches for the file
        return
    if path.name in files and path.is_file() and digest(path.read_bytes()) != files[path.name]:
        raise DataError(
            f"{path} is not what the manifest next to it describes: it was altered or is damaged. Make the set again, "
            "or copy the file to a folder of its own to use it as it is."
        )


LINE_BREAKS = re.compile(r"[\t\r\n\v\f\x1c-\x1e\x85\u2028\u2029]")


def _senteval(split: str, row: Example) -> str:
    """One line of SentEval's format: partition, label, extra columns, and the sentence last."""
    cells = (split, row.label, *(value for _, value in row.extra), " ".join(row.tokens))
    content = "".join(cells)
    if not content.isprintable() and LINE_BREAKS.search(content):
        cells = tuple(LINE_BREAKS.sub(" ", c) for c in cells)
    return "\t".join(cells) + "\n"


def write_rows(dataset: Dataset, path: Path) -> str:
    """Write the rows of all splits as one Parquet file, and return its digest."""
    content = encode_rows(dataset.name, dataset.rows)
    write_atomically(path, content)
    return digest(content)


def read_rows(path: Path, expected: str | None) -> dict[str, list[Example]]:
    """The rows of each split, as ``write_rows`` wrote them; ``expected`` is the digest it returned."""
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        raise DataError(f"There is no {path} next to the manifest. Make the set again.") from None
    except OSError as e:
        raise DataError(f"{path} cannot be read: {e.strerror}. Make the set again.") from e
    if digest(content) != expected:
        raise DataError(f"{path} is not what the manifest describes: it was altered or is damaged. Make the set again.")
    try:
        return decode_rows(content)
    except ValueError as e:
        raise DataError(f"{path} cannot be read as the rows of a set: {e}. Make the set again.") from e
