"""Which files a source means, how each is read, and digests of them: so that a card says what an encoder has seen.

How a file is read follows from its suffix, and from its first line where that does not tell.
"""

from __future__ import annotations

import glob
import hashlib
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from sentprobe.core.files import nearest, plain_name
from sentprobe.core.reader import TABLE_SUFFIXES, find_file, read_lines, split_cells
from sentprobe.corpus.files import SUFFIXES, detect_format
from sentprobe.data.dataset import MANIFEST_FILE, ROWS_FILE
from sentprobe.data.layouts import LAYOUTS, layouts_in
from sentprobe.data.tables import split_of
from sentprobe.errors import DataError, UsageError
from sentprobe.lab.training.request import TrainingRequest

LABEL, DOCUMENT, TREE, TEXT = "label", "document", "tree", "text"
NOT_TEXT = (LABEL, DOCUMENT, TREE)
"""The fields that are not text; the words of a tree are in the texts of its row."""
ALIASES = {
    "text": ("sentence",),
    "text1": ("sentence1", "premise"),
    "text2": ("sentence2", "hypothesis", "hypo"),
    "label": ("gold_label",),
    "document": ("doc",),
}
"""Other names of columns: those of SNLI, MultiNLI, XNLI, GLUE and their copies."""
TRANSFER_SETS = tuple(name for name, layout in LAYOUTS.items() if layout.labels and layout.parts)
"""Sets with classes, whose files do not depend on a language."""
TRAIN, DEV = "train", "dev"
_SPLITS = {TRAIN: "tr", DEV: "va"}
_SUFFIXES = {**TABLE_SUFFIXES, ".json": "json", **SUFFIXES}
_NO_DATA = re.compile(r"\.|(readme|licen[cs]e|copying|changelog|stats)\b", re.IGNORECASE)
_PROBING_SET = re.compile(r"(tr|va|te)\t[^\t]+\t")
DIGEST_BYTES = 16


class DataPart(NamedTuple):
    """Files that are read together, and how."""

    kind: str
    """``tsv``, ``csv``, ``json``, ``parquet``, ``conllu``, ``brackets``, ``lines``, ``aligned``, ``senteval`` (probing
    set), ``set`` (transfer set)."""
    paths: tuple[str, ...]
    """One, or one for each field; for a ``set``, its folder."""
    split: str = ""
    """Which rows of a file that has those of several splits: ``tr``, ``va``; empty for all."""
    name: str = ""
    """Which of SentEval's transfer sets it is."""

    def __str__(self) -> str:
        return ",".join(self.paths)


def find_parts(source: str, fields: Sequence[str], role: str = TRAIN, columns: Sequence[str] = ()) -> list[DataPart]:
    """The parts of a source that are for training, or for dev; at least one.

    A folder is one of SentEval's sets, or all data files below it, sorted. Of files that are named after splits, such
    as ``snli_1.0_train.jsonl``, those of the role are read, and never those of another.
    """
    if source == "-":
        raise UsageError("Training data are read several times, and standard input only once: save them to a file.")
    path = Path(source)
    if path.is_dir():
        return _in_folder(path, fields, role, columns)
    if path.exists():
        return [_of_file(source, fields, role, columns)]
    if "," in source:
        return _aligned(source, fields)
    return [_of_file(file, fields, role, columns) for file in _expand(source)]


def find_parts_named_dev(source: str, fields: Sequence[str], columns: Sequence[str] = ()) -> list[DataPart]:
    """The parts of a training source that say that they are dev: files of a folder, rows of a probing set."""
    path = Path(source)
    if not path.is_dir():
        if not path.is_file():
            return []
        part = _of_file(source, fields, DEV, columns)
        return [part] if part.split else []
    if name := _transfer_set(path):
        return _set_parts(path, name, fields, DEV) if "va" in _splits_of(name) else []
    files = [file for file in _data_files(path) if split_of(file) == "va"]
    return [_of_file(file, fields, DEV, columns) for file in files]


def _aligned(source: str, fields: Sequence[str]) -> list[DataPart]:
    pieces = [piece.strip() for piece in source.split(",")]
    if len(pieces) != len(fields) or not all(pieces):
        what = f"one for each of {', '.join(fields)}" if len(fields) > 1 else "a single one"
        raise UsageError(
            f"{source} is {len(pieces)} aligned files; expected {what}. "
            "Files that follow each other are named one by one."
        )
    files = [_expand(piece) for piece in pieces]
    if len({len(matches) for matches in files}) > 1:
        counts = ", ".join(f"{len(matches)} match {piece}" for piece, matches in zip(pieces, files, strict=True))
        raise UsageError(f"{source}: {counts}; expected as many files on each side.")
    return [DataPart("aligned", paths) for paths in zip(*files, strict=True)]


def _expand(path: str) -> list[str]:
    """A file, or the files that match a glob, sorted."""
    if Path(path).is_file():
        return [path]
    if glob.has_magic(path):
        matches = glob.glob(path, recursive=True)  # noqa: PTH207 - pathlib's takes no absolute pattern
        if files := sorted(match for match in matches if Path(match).is_file()):
            return files
        raise UsageError(f"No file matches {path!r}; the current folder is {str(Path.cwd())!r}.")
    if Path(path).is_dir():
        raise UsageError(f"{path} is a folder; expected a file for each side.")
    raise UsageError(f"There is no file or folder {path!r}{nearest(path) or '.'}")


def _in_folder(folder: Path, fields: Sequence[str], role: str, columns: Sequence[str]) -> list[DataPart]:
    if name := _transfer_set(folder):
        return _set_parts(folder, name, fields, role)
    files = _data_files(folder)
    splits = {file: split_of(file) for file in files}
    chosen = [file for file in files if splits[file] == _SPLITS[role]]
    if not chosen and (role == TRAIN or not any(splits.values())):
        chosen = [file for file in files if splits[file] is None]
    if not chosen:
        raise UsageError(
            f"{folder} has no file that is named as {role}: it has {', '.join(Path(f).name for f in files[:5])}"
            f"{', …' if len(files) > 5 else ''}. Name the files themselves."
        )
    return [_of_file(file, fields, role, columns) for file in chosen]


def _data_files(folder: Path) -> list[str]:
    """The data files below a folder, all of one kind, sorted; .txt files only if there are no others."""
    by_suffix: dict[str, list[str]] = {}
    for root, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        manifest_files = {MANIFEST_FILE, ROWS_FILE} if MANIFEST_FILE in names else set()
        for name in names:
            if not _NO_DATA.match(name) and name not in manifest_files and (suffix := _suffix(name)):
                by_suffix.setdefault(_SUFFIXES[suffix], []).append(str(Path(root, name)))
    texts = by_suffix.pop("text", [])
    if len(by_suffix) > 1:
        raise UsageError(
            f"{folder} has data of several kinds ({', '.join(sorted(by_suffix))}), which may be the same data twice: "
            f"name the files that are meant, or a glob such as {folder / '*.tsv'}."
        )
    if files := next(iter(by_suffix.values()), texts):
        return sorted(files)
    raise UsageError(f"{folder} has no data file; known suffixes: {' '.join(_SUFFIXES)} (also compressed).")


def _transfer_set(folder: Path) -> str:
    """The name of SentEval's transfer set in a folder; empty if there is none."""
    return next((name for name in layouts_in(folder) if name in TRANSFER_SETS), "")


def _splits_of(name: str) -> set[str]:
    return {part.split for part in LAYOUTS[name].parts}


def _set_parts(folder: Path, name: str, fields: Sequence[str], role: str) -> list[DataPart]:
    splits = _splits_of(name)
    split = _SPLITS[role]
    if split not in splits:
        if role == DEV or "tr" in splits:
            raise UsageError(f"{folder} ({name}) has no {role} part; hold out training rows with --held-out N.")
        split = ""  # a set without parts of its own
    parts = [part for part in LAYOUTS[name].parts if part.split == split]
    if LAYOUTS[name].read == "sentence|sentence|label" and len(fields) == 3:  # the largest set, which is streamed
        return [DataPart("aligned", tuple(str(find_file(folder / file) or folder / file) for file in parts[0].files))]
    return [DataPart("set", (str(folder),), split, name)]


def _of_file(path: str, fields: Sequence[str], role: str, columns: Sequence[str]) -> DataPart:
    kind = _SUFFIXES[suffix] if (suffix := _suffix(path)) else ""
    if kind not in ("", "text"):
        return DataPart(kind, (path,))
    first = next((line for _, line in read_lines(path) if line and not line.isspace()), "")
    if not first:
        raise DataError(f"{path} is empty; expected rows of {', '.join(fields)}.")
    cells = split_cells(path, 1, first)
    if first.startswith('{"'):
        return DataPart("json", (path,))
    if not columns and _PROBING_SET.match(first) and set(fields) <= {TEXT, LABEL}:
        return DataPart("senteval", (path,), _SPLITS[role])
    if not kind:
        with suppress(UsageError):  # the content tells no more
            return DataPart(detect_format(path), (path,))
    if TREE in fields and first.lstrip().startswith("("):
        return DataPart("brackets", (path,))
    if columns or has_header([cell.strip() for cell in cells], fields):
        return DataPart("tsv", (path,))
    if set(fields) <= {TEXT, DOCUMENT}:
        if len(cells) > 1:
            raise UsageError(
                f"{path} looks like a table, with {len(cells)} columns in its first line: name those of "
                f"{', '.join(fields)} with --columns, by name or number."
            )
        return DataPart("lines", (path,))
    if len(cells) > 1:
        return DataPart("tsv", (path,))
    if TREE in fields:
        raise UsageError(f"{path} begins with {first[:40]!r}; expected bracketed trees, such as (S (NP I) (VP left)).")
    aligned = ",".join(f"{name.upper()}-FILE" for name in fields)
    raise UsageError(
        f"{path} has one column: {first[:40]!r}; expected {', '.join(fields)}, as a table with tabs, as JSON lines or "
        f"Parquet, or as aligned files: {aligned}."
    )


def _suffix(path: str) -> str:
    """The longest known suffix of a file's name, without that of its compression."""
    name = plain_name(path).lower()
    return max((suffix for suffix in _SUFFIXES if name.endswith(suffix)), key=len, default="")


def has_header(cells: Sequence[str], fields: Sequence[str]) -> bool:
    """Whether cells are the names of columns, among them all fields."""
    return all(name_of(field, cells) for field in fields)


def name_of(field: str, names: Sequence[str]) -> str | None:
    """The name that a field has among those of a table's columns."""
    return next((name for name in (field, *ALIASES.get(field, ())) if name in names), None)


@dataclass(frozen=True)
class DataSources:
    """The parts that are read for each role."""

    train: tuple[DataPart, ...]
    dev: tuple[DataPart, ...]
    """None if training rows are held out, or if there is no dev data."""

    @property
    def same(self) -> bool:
        """Whether dev is what is trained on."""
        return set(map(_resolved, self.train)) == set(map(_resolved, self.dev))


def find_sources(request: TrainingRequest, fields: Sequence[str]) -> DataSources:
    """What a request names; dev is also what is named so in a training folder, unless rows are held out.

    The same file may be for both, to see whether an encoder can learn it by heart; rows that are in both are counted.
    """
    columns = request.columns
    if not request.train:
        from sentprobe.lab.training import OBJECTIVES

        raise UsageError(f"Name training data: --train, with {OBJECTIVES.get(request.objective).data}.")
    train = [part for source in request.train for part in find_parts(source, fields, TRAIN, columns)]
    _check_distinct(train, "twice in --train")
    if request.held_out:
        dev = []
    elif request.dev:
        dev = [part for source in request.dev for part in find_parts(source, fields, DEV, columns)]
        _check_distinct(dev, "twice in --dev")
    else:
        dev = [part for source in request.train for part in find_parts_named_dev(source, fields, columns)]
    return DataSources(tuple(train), tuple(dev))


def _check_distinct(parts: Iterable[DataPart], where: str) -> None:
    """Refuse files that are named again, whichever way."""
    seen: set[DataPart] = set()
    for part in parts:
        if _resolved(part) in seen:
            raise UsageError(f"{part} is named {where}; name it once.")
        seen.add(_resolved(part))


def _resolved(part: DataPart) -> DataPart:
    return part._replace(paths=tuple(str(Path(path).resolve()) for path in part.paths))


def describe_sources(sources: Iterable[str]) -> list[dict[str, Any]]:
    """Name, bytes and digest of each file of the sources; only the name of one that is not a file."""
    descriptions: list[dict[str, Any]] = []
    for source in sources:
        files = list(source_files(source))
        descriptions += [_describe(file) for file in files] or [{"name": Path(source).name or source}]
    return descriptions


def source_files(source: str) -> Iterator[Path]:
    """The files of a source: a file, all of a folder, those that match a pattern, or several with commas between."""
    path = Path(source).expanduser()
    if path.is_dir():
        yield from sorted(p for p in path.rglob("*") if p.is_file() and not p.name.startswith("."))
    elif path.is_file():
        yield path
    elif "*" in path.name:
        yield from sorted(file for file in path.parent.glob(path.name) if file.is_file())
    elif "," in source:
        for part in source.split(","):
            yield from source_files(part) if part else ()


def _describe(file: Path) -> dict[str, Any]:
    try:
        with file.open("rb") as opened:
            digest = hashlib.file_digest(opened, lambda: hashlib.blake2b(digest_size=DIGEST_BYTES)).hexdigest()
            return {"name": file.name, "bytes": opened.tell(), "blake2b": digest}
    except OSError as e:
        raise DataError(f"{file} cannot be read: {e.strerror}.") from None
