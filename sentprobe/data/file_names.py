"""What the names of files say: which split, which set, compressed or not."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from sentprobe.core.files import COMPRESSED
from sentprobe.errors import DataError

TABLE_SUFFIXES = {".tsv": "tsv", ".csv": "csv", ".jsonl": "json", ".ndjson": "json", ".parquet": "parquet"}
"""Formats of tables by suffix, without the compression suffix; a file with any other suffix is read as TSV."""
SPLIT_NAMES = {
    **dict.fromkeys(("tr", "train", "training"), "tr"),
    **dict.fromkeys(("va", "dev", "val", "valid", "validation", "trial"), "va"),
    **dict.fromkeys(("te", "test", "testing"), "te"),
}
"""Common names of the three splits."""
_SPLIT_WORD = re.compile(
    rf"(?:^|(?<=[\W_]))({'|'.join(w for w in SPLIT_NAMES if len(w) > 2)})(?=$|[\W_])", re.IGNORECASE
)
_SHARD = re.compile(r"\d+-of-\d+")


def find_file(path: Path) -> Path | None:
    """The file itself, or else a compressed version of it, if there is one."""
    tried = (path, *(path.with_name(path.name + suffix) for suffix in COMPRESSED))
    return next((path for path in tried if path.is_file()), None)


def without_compression_suffix(path: str) -> Path:
    """The path without a compression suffix."""
    found = Path(path)
    return found.with_suffix("") if found.suffix.lower() in COMPRESSED else found


def split_of(path: str) -> str | None:
    """The split that a word in a file's name stands for: ``sentiment-train``, ``data.dev.csv``, ``te.txt``.

    Two letters must be the whole name: ``dev-tr.tsv`` is Turkish. A name with words for two splits has none.
    """
    name = without_compression_suffix(path).name.lower()
    found = {SPLIT_NAMES[word] for word in _SPLIT_WORD.findall(name)}
    return found.pop() if len(found) == 1 else None if found else SPLIT_NAMES.get(name.partition(".")[0])


def common_name(path: str) -> str:
    """What the files of one set have in common: the name without suffixes, split and shard numbers."""
    file = without_compression_suffix(path)
    name = file.stem if file.suffix.lower() in (*TABLE_SUFFIXES, ".txt", ".json") else file.name
    if name.lower() in SPLIT_NAMES:
        return ""
    return re.sub(r"([\W_])[\W_]+", r"\1", _SPLIT_WORD.sub("", _SHARD.sub("", name))).strip("-_. ")


def table_name(paths: Sequence[str]) -> str:
    """A short name for the set in these files: what their names have in common, or else the folder."""
    stems = {common_name(path) for path in paths} - {""}
    return stems.pop() if len(stems) == 1 else Path(paths[0]).parent.resolve().name or "table"


def only_file_split(path: str, files: Sequence[str]) -> str:
    """The split of a file whose name does not say it: test if it is the only file, otherwise an error."""
    if len(files) == 1:
        return "te"
    raise DataError(
        f"The name of {path} does not say which split it is: expected a word such as train, dev or test in it. "
        "Rename it, name the column that holds the split with --split, or have rows split with --split 80/10/10."
    )
