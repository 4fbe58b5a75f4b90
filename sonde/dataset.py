"""A probing set: labelled rows in three splits, with the manifest that says how they came about."""

from __future__ import annotations

import hashlib
import os
import re
from array import array
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate
from pathlib import Path
from typing import Any

import msgspec

from sonde.errors import DataError
from sonde.task import SPLITS, Example

MANIFEST, ROWS = "manifest.json", "rows.parquet"


@dataclass(frozen=True)
class Dataset:
    """Rows per split. ``name`` is ``suite/task``; ``manifest`` is plain data, complete enough to make the set again."""

    name: str
    task: str
    version: int
    language: str | None
    labels: tuple[str, ...]
    rows: Mapping[str, Sequence[Example]]
    manifest: Mapping[str, Any] = field(default_factory=dict)

    def __len__(self) -> int:
        return sum(map(len, self.rows.values()))

    def __iter__(self) -> Iterator[tuple[str, Example]]:
        return ((split, row) for split in SPLITS for row in self.rows.get(split, ()))

    @cached_property
    def digest(self) -> str:
        """Sixteen hexadecimal digits over every split, label, token, text and further column, in order."""
        state = hashlib.blake2b(digest_size=8)
        for split, row in self:
            cells = (split, row.label, *row.tokens, row.text, *(c for pair in sorted(row.extra) for c in pair))
            state.update("\x1f".join(cells).encode(errors="surrogatepass") + b"\n")
        return state.hexdigest()

    def save(self, folder: Path) -> None:
        """Write the SentEval file, the Parquet file and, last, the manifest that marks the folder as complete."""
        make_folder(folder)
        (folder / MANIFEST).unlink(missing_ok=True)
        write_atomically(folder / f"{self.task}.txt", "".join(_senteval(split, row) for split, row in self).encode())
        write_rows(self, folder / ROWS)
        manifest = {**self.manifest, "digest": self.digest}
        write_atomically(folder / MANIFEST, msgspec.json.format(msgspec.json.encode(manifest, order="deterministic")))

    @classmethod
    def load(cls, folder: Path | str) -> Dataset:
        """Read what ``save`` wrote, and make sure that it is what was written."""
        folder = Path(folder)
        manifest = read_manifest(folder)
        found = cls(
            name=manifest["name"],
            task=manifest["task"],
            version=manifest["version"],
            language=manifest["language"],
            labels=tuple(manifest["labels"]),
            rows=read_rows(folder / ROWS),
            manifest=manifest,
        )
        if found.digest != manifest["digest"]:
            raise DataError(
                f"{folder / ROWS} is not what the manifest describes: met digest {found.digest}, expected "
                f"{manifest['digest']}. The file was altered or is damaged; make the set again."
            )
        return found


def make_folder(folder: Path) -> None:
    """Make a folder, or say why it cannot be made."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as e:
        raise DataError(f"The folder {folder} cannot be made: {e.strerror}. Choose another one.") from e


def find(path: Path | str) -> list[Path]:
    """The folders of sets under a path, sorted; the path may itself be one."""
    path = Path(path)
    if not path.exists():
        raise DataError(f"There is no {path}; expected a folder that `sonde make` wrote.")
    places = [path / MANIFEST] if (path / MANIFEST).exists() else path.rglob(MANIFEST)
    found = sorted(p.parent for p in places if p.is_file())  # and no pipe
    if not found:
        raise DataError(f"{path} holds no probing set: expected a {MANIFEST} in it or below. `sonde make` writes one.")
    return found


def read_manifest(folder: Path) -> dict[str, Any]:
    """The manifest of one set."""
    path = folder / MANIFEST
    try:
        found = msgspec.json.decode(path.read_bytes())
    except FileNotFoundError:
        raise DataError(f"There is no {path}; expected a folder that `sonde make` wrote.") from None
    except (msgspec.DecodeError, OSError) as e:
        raise DataError(f"{path} cannot be read: {e}. Make the set again.") from e
    missing = NEEDED - set(found if isinstance(found, dict) else ())
    if missing:
        raise DataError(f"{path} is no manifest of a probing set: it lacks {', '.join(sorted(missing))}.")
    return dict(found)


NEEDED = frozenset(
    {
        "name", "task", "version", "language", "labels", "digest", "question", "corpus", "reading", "sizes",
        "majority", "label_length_correlation", "audit",
    }
)  # fmt: skip
"""What a manifest cannot do without."""
LINE_BREAKS = re.compile(r"[\t\r\n\v\f\x1c-\x1e\x85\u2028\u2029]")


def _senteval(split: str, row: Example) -> str:
    """One line of SentEval's format: partition, label, further columns, and the sentence last."""
    cells = (split, row.label, *(value for _, value in row.extra), " ".join(row.tokens))
    if LINE_BREAKS.search("".join(cells)):
        cells = tuple(LINE_BREAKS.sub(" ", c) for c in cells)
    return "\t".join(cells) + "\n"


def write_atomically(path: Path, content: bytes | memoryview) -> None:
    """Write under a temporary name, sync, rename."""
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with part.open("wb") as out:
            out.write(content)
            out.flush()
            os.fsync(out.fileno())
        part.replace(path)
    except OSError as e:
        raise DataError(f"{path} cannot be written: {e.strerror}. Free some space or choose another folder.") from e
    finally:
        with suppress(OSError):  # a read-only disk refuses even to remove what is not there
            part.unlink(missing_ok=True)


COLUMNS = ("split", "label", "text", "tokens", "source", "key", "stratum", "marks")


def write_rows(dataset: Dataset, path: Path) -> None:
    """Write the rows of all splits as one Parquet file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rows = list(dataset)
    extra = dict.fromkeys(name for _, row in rows for name, _ in row.extra)
    if reserved := sorted(extra.keys() & set(COLUMNS)):
        raise DataError(f"{dataset.name}: a task's own column cannot be called {reserved[0]}, which every set has.")
    table = {
        "split": _names([split for split, _ in rows]),
        "label": _names([row.label for _, row in rows]),
        "text": _strings([row.text for _, row in rows]),
        "tokens": _lists(_strings([t for _, row in rows for t in row.tokens]), [len(row.tokens) for _, row in rows]),
        "source": _strings([row.source for _, row in rows]),
        "key": _strings([row.key for _, row in rows]),
        "stratum": _names([row.stratum for _, row in rows]),
        "marks": _lists(_numbers([m for _, row in rows for m in row.marks]), [len(row.marks) for _, row in rows]),
        **{name: _strings([dict(row.extra).get(name) for _, row in rows]) for name in extra},
    }
    buffer = pa.BufferOutputStream()
    pq.write_table(pa.table(table), buffer, compression="zstd", use_dictionary=["split", "label", "key", "stratum"])
    write_atomically(path, memoryview(buffer.getvalue()))


# Arrow arrays, built without pyarrow.array, which imports pandas wherever that is installed


def _strings(values: Sequence[str | None]) -> Any:
    import pyarrow as pa

    builder = pa.lib.StringBuilder()
    builder.append_values(values)
    return builder.finish()


def _numbers(values: Sequence[int]) -> Any:
    import pyarrow as pa

    return pa.Array.from_buffers(pa.int32(), len(values), [None, pa.py_buffer(array("i", values))])


def _names(values: Sequence[str]) -> Any:
    import pyarrow as pa

    known = {name: i for i, name in enumerate(dict.fromkeys(values))}
    return pa.DictionaryArray.from_arrays(_numbers([known[v] for v in values]), _strings(list(known)))


def _lists(items: Any, lengths: Sequence[int]) -> Any:
    import pyarrow as pa

    return pa.ListArray.from_arrays(_numbers([0, *accumulate(lengths)]), items)


def read_rows(path: Path) -> dict[str, list[Example]]:
    """The rows of each split, as ``write_rows`` wrote them."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table = pq.read_table(path)
    except FileNotFoundError:
        raise DataError(f"There is no {path} beside the manifest. Make the set again.") from None
    except (pa.ArrowException, OSError) as e:
        raise DataError(f"{path} cannot be read as Parquet: {e}. Make the set again.") from e
    missing = set(COLUMNS) - set(table.column_names)
    if missing:
        raise DataError(f"{path} lacks the column {', '.join(sorted(missing))}. Make the set again.")
    extra = [name for name in table.column_names if name not in COLUMNS]
    rows: dict[str, list[Example]] = {split: [] for split in SPLITS}
    columns = [_plain(table[name]).to_pylist() for name in (*COLUMNS, *extra)]
    for split, label, text, tokens, source, key, stratum, marks, *more in zip(*columns, strict=True):
        if split not in rows:
            raise DataError(
                f"{path} has a row of the split {split!r}; expected {', '.join(SPLITS)}. Make the set again."
            )
        pairs = tuple((name, value) for name, value in zip(extra, more, strict=True) if value is not None)
        rows[split].append(Example(label, tuple(tokens), text, source, key, stratum, tuple(marks), pairs))
    return rows


def _plain(column: Any) -> Any:
    """A column with its values in place of their numbers in a dictionary, which take ten times as long to look up."""
    import pyarrow as pa

    return column.cast(pa.string()) if pa.types.is_dictionary(column.type) else column
