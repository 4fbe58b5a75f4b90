"""Contrast sets: an anchor, a positive that means the same, and a contrast that looks alike and means something else.

A folder of one has

    rows.parquet      the columns of COLUMNS, all of them strings
    NAME.tsv          the same to read
    manifest.json     format, version, name, language, rules, counts, digest, digests of the files, a checksum

A plain table (CSV, TSV, JSON lines, Parquet) with at least the first three columns is read as well.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from sentprobe.core.files import make_folder, write_atomically
from sentprobe.core.hashing import digest
from sentprobe.core.reader import read_rows
from sentprobe.core.seal import is_intact, other_format, read_document, seal_document
from sentprobe.data.dataset import LINE_BREAKS, MANIFEST_FILE, ROWS_FILE, string_array
from sentprobe.data.search import is_plain_file
from sentprobe.data.text_set import TextSet
from sentprobe.errors import CorpusError, DataError

CONTRAST_FORMAT, CONTRAST_VERSION = "contrast", 1
TEXT_COLUMNS = ("anchor", "positive", "contrast")
COLUMNS = (*TEXT_COLUMNS, "kind", "positive_kind", "id", "group")
MANIFEST_FIELDS = {"name": str, "language": str | None, "rules": dict, "counts": dict, "digest": str, "files": dict}
"""What every manifest has, and of which type."""
REMEDY = "Make the set again, or restore the file."


class ContrastRow(NamedTuple):
    """One row of a contrast set.

    Attributes
    ----------
    anchor
        A sentence.
    positive
        Another one with the same meaning.
    contrast
        One that differs from it little, and means something else.
    kind
        How the contrast was made: ``negation``, ``roles``, ``numbers``, …; empty if that is not known.
    positive_kind
        How the positive was made: ``fronting``, ``passive``, …
    id
        The id of the sentence it was made from.
    group
        What rows share that are not independent of each other, such as a document. Default: the anchor.

    Examples
    --------
    >>> from sentprobe.data.contrast_set import ContrastRow
    >>> row = ContrastRow("Kim saw Lee .", "Lee was seen by Kim .", "Lee saw Kim .", "roles")
    >>> row.kind, row.cluster
    ('roles', 'Kim saw Lee .')
    """

    anchor: str
    positive: str
    contrast: str
    kind: str = ""
    positive_kind: str = ""
    id: str = ""
    group: str = ""

    @property
    def cluster(self) -> str:
        """What rows share that are not independent: the group, or else the anchor."""
        return self.group or self.anchor


@dataclass(frozen=True, repr=False)
class ContrastSet(TextSet[ContrastRow]):
    """A contrast set: is the positive nearer to its anchor than the contrast is?

    Parameters
    ----------
    name
        What the set is called.
    rows
        The rows.
    language
        A language code, or None.
    manifest
        How the set was made, as plain data; empty for a set that sentprobe did not make.

    Examples
    --------
    >>> from sentprobe import ContrastSet
    >>> roles = ContrastSet.from_rows(
    ...     [("Kim saw Lee .", "Lee was seen by Kim .", "Lee saw Kim .", "roles")], name="mine", language="en"
    ... )
    >>> roles
    ContrastSet('mine', en, 1 row: roles 1)
    >>> roles.rows[0].contrast
    'Lee saw Kim .'
    """

    manifest: Mapping[str, Any] = field(default_factory=dict)

    # sentence-transformers has anchor, positive and negative
    NAMES: ClassVar = {column: (column,) for column in COLUMNS} | {"contrast": ("contrast", "negative")}
    REQUIRED: ClassVar = TEXT_COLUMNS

    def __repr__(self) -> str:
        language = f"{self.language}, " if self.language else ""
        counts = ", ".join(f"{kind or 'no kind'} {n:,}" for kind, n in self.counts.items())
        return f"ContrastSet({self.name!r}, {language}{len(self.rows):,} row{'s' * (len(self.rows) != 1)}: {counts})"

    @property
    def counts(self) -> dict[str, int]:
        """Rows by kind."""
        by_kind = Counter(row.kind for row in self.rows)
        return {kind: by_kind[kind] for kind in self.kinds}

    def save(self, folder: Path | str) -> None:
        """Write the set to a folder: the rows as Parquet and as TSV and, last, the manifest.

        Parameters
        ----------
        folder
            Where to write; it is created if necessary, and its files are replaced.
        """
        folder, text_file = Path(folder), f"{Path(self.name).name}.tsv"
        make_folder(folder)
        (folder / MANIFEST_FILE).unlink(missing_ok=True)
        contents: dict[str, bytes | memoryview] = {text_file: self._tsv(), ROWS_FILE: _parquet(self.rows)}
        for file, content in contents.items():
            write_atomically(folder / file, content)
        about = {
            "rules": {},
            **self.manifest,
            "format": CONTRAST_FORMAT,
            "version": CONTRAST_VERSION,
            "name": self.name,
            "language": self.language,
            "counts": self.counts,
            "digest": self.digest,
            "files": {file: digest(content) for file, content in contents.items()},
        }
        write_atomically(folder / MANIFEST_FILE, seal_document(about))

    def _tsv(self) -> bytes:
        lines = (COLUMNS, *self.rows)
        return "".join("\t".join(LINE_BREAKS.sub(" ", cell) for cell in line) + "\n" for line in lines).encode()

    @classmethod
    def load(cls, folder: Path | str) -> ContrastSet:
        """Read what ``save`` wrote, and verify that nothing was altered.

        Parameters
        ----------
        folder
            The folder with ``manifest.json``.

        Raises
        ------
        DataError
            If the folder holds no contrast set, or a file is not as it was written.
        """
        folder = Path(folder)
        manifest, path = _read_manifest(folder), folder / ROWS_FILE
        try:
            content = path.read_bytes()
        except OSError as e:
            raise DataError(f"{path} cannot be read: {e.strerror}. {REMEDY}") from None
        if digest(content) != manifest["files"].get(ROWS_FILE):
            raise DataError(f"{path} is not what the manifest describes: it was altered or is damaged. {REMEDY}")
        rows = tuple(cls._rows(str(path), read_rows(str(path), [("--columns", name) for name in COLUMNS]), COLUMNS))
        contrast_set = cls(manifest["name"], rows, manifest["language"], manifest)
        if contrast_set.digest != manifest["digest"]:
            raise DataError(
                f"{path} is not what the manifest describes: expected the digest {manifest['digest']}, got "
                f"{contrast_set.digest}. {REMEDY}"
            )
        return contrast_set

    @classmethod
    def read(cls, path: Path | str, *, name: str | None = None, language: str | None = None) -> ContrastSet:
        """Read a folder that ``save`` wrote, or a table.

        Parameters
        ----------
        path
            The folder; or a CSV, TSV, JSON lines or Parquet file with the columns anchor, positive and contrast (or
            negative), and any of kind, positive_kind, id and group.
        name
            Another name. Default: the one in the manifest, or that of the file.
        language
            The language of a table.

        Raises
        ------
        UsageError
            If a table lacks one of the columns.
        CorpusError
            If a row has no text, or a positive that is its contrast; the message names the line.
        """
        if Path(path).is_dir():
            loaded = cls.load(path)
            return loaded if name is None else cls(name, loaded.rows, loaded.language, loaded.manifest)
        return cls._from_table(str(path), name, language)

    @classmethod
    def from_frame(cls, frame: Any, *, name: str = "contrasts", language: str | None = None) -> ContrastSet:
        """Make a set of a frame of pandas, polars or Arrow, or of a dict of lists.

        Parameters
        ----------
        frame
            Anything that has columns by name: anchor, positive and contrast (or negative), and any of kind,
            positive_kind, id and group.
        name
            The name of the set.
        language
            A language code.

        Examples
        --------
        >>> from sentprobe import ContrastSet
        >>> frame = {"anchor": ["He sings ."], "positive": ["He does sing ."], "negative": ["He does not sing ."]}
        >>> ContrastSet.from_frame(frame)
        ContrastSet('contrasts', 1 row: no kind 1)
        """
        return cls._from_frame(frame, name, language)

    @classmethod
    def from_rows(cls, rows: Iterable[Any], *, name: str = "contrasts", language: str | None = None) -> ContrastSet:
        """Make a set of a list of rows.

        Parameters
        ----------
        rows
            Dicts with the keys that ``from_frame`` has as columns; or tuples with the values of anchor, positive,
            contrast, kind, positive_kind, id and group, in this order, of which the first three are required.
        name
            The name of the set.
        language
            A language code.
        """
        return cls._from_rows(rows, name, language)

    @classmethod
    def _row(cls, path: str, number: int, cells: Mapping[str, str]) -> ContrastRow:
        """The row; a CorpusError for one that asks nothing."""
        row = ContrastRow(**cells)
        for column in TEXT_COLUMNS:
            if not cells[column].strip():
                raise CorpusError(path, number, f"an empty {column}", "a text in each of anchor, positive and contrast")
        for first, second in combinations(TEXT_COLUMNS, 2):
            if cells[first] == cells[second]:
                raise CorpusError(path, number, f"a {second} that is its {first}", "different texts; remove the row")
        return row


def is_contrast_folder(folder: Path) -> bool:
    """Whether a folder holds a contrast set, as far as its manifest says."""
    if not is_plain_file(folder / MANIFEST_FILE):
        return False
    try:
        return read_document((folder / MANIFEST_FILE).read_bytes()).get("format") == CONTRAST_FORMAT
    except (ValueError, OSError):
        return False


def contrast_folders(path: Path | str) -> list[Path]:
    """The folders of contrast sets under a path, sorted; the path may itself be one."""
    folder = Path(path)
    if is_contrast_folder(folder):
        return [folder]
    return sorted(file.parent for file in folder.rglob(MANIFEST_FILE) if is_contrast_folder(file.parent))


def _read_manifest(folder: Path) -> dict[str, Any]:
    """The manifest of a contrast set; a DataError if it is not as it was written."""
    path = folder / MANIFEST_FILE
    try:
        manifest = read_document(path.read_bytes())
    except FileNotFoundError:
        raise DataError(f"There is no {path}; expected the folder of a contrast set.") from None
    except (ValueError, OSError) as e:
        raise DataError(f"{path} cannot be read: {e}. {REMEDY}") from None
    if (got := manifest.get("format")) != CONTRAST_FORMAT:
        raise DataError(f"{path} has the format {got!r}; expected {CONTRAST_FORMAT!r}, that of a contrast set.")
    if (got := manifest.get("version")) != CONTRAST_VERSION:
        raise DataError(f"{other_format(path, got, CONTRAST_VERSION)} {REMEDY}")
    wrong = [name for name, expected in MANIFEST_FIELDS.items() if not isinstance(manifest.get(name, ...), expected)]
    if wrong:
        raise DataError(f"{path} is not the manifest of a contrast set: it lacks {', '.join(wrong)}. {REMEDY}")
    if not is_intact(manifest):
        raise DataError(f"{path} is not as it was written: its checksum does not match. {REMEDY}")
    del manifest["checksum"]
    return manifest


def _parquet(rows: Sequence[ContrastRow]) -> memoryview:
    """The rows as a Parquet file; the same bytes for the same rows."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    cells = zip(*rows, strict=True) if rows else ((),) * len(COLUMNS)
    table = {name: string_array(list(values)) for name, values in zip(COLUMNS, cells, strict=True)}
    buffer = pa.BufferOutputStream()
    pq.write_table(pa.table(table), buffer, compression="zstd")
    return memoryview(buffer.getvalue())
