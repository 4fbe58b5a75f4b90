"""Rows from SentEval's files: probing sets, and the folders of its transfer sets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from sentprobe.data.file_names import find_file
from sentprobe.data.layouts import LAYOUTS, scan
from sentprobe.data.records import tsv_lines
from sentprobe.errors import CorpusError, UsageError
from sentprobe.task import SPLITS
from sentprobe.training.reading.part import LABEL, TEXT, Row

TRANSFER_SETS = tuple(name for name, layout in LAYOUTS.items() if layout.labels and layout.parts)
"""Sets with classes, whose files do not depend on a language."""


def read_probing_set(path: str, fields: Sequence[str], split: str) -> Iterator[Row]:
    """The rows of one split of lines ``tr|va|te<TAB>label<TAB>…<TAB>sentence``."""
    places = [_place(path, field, {LABEL: 1, TEXT: -1}) for field in fields]
    for number, cells in tsv_lines(path, "partition, label and sentence"):
        if len(cells) < 3 or cells[0] not in SPLITS:
            expected = "tr, va or te, a label and a sentence, tab-separated"
            raise CorpusError(path, number, f"{len(cells)} columns, the first {cells[0][:20]!r}", expected)
        if cells[0] == split:
            yield Row(tuple([cells[place] for place in places]), path, number)


def read_transfer_set(name: str, folder: str, fields: Sequence[str], split: str) -> Iterator[Row]:
    """The rows of one split of a transfer set, or all of a set that has no splits."""
    layout = LAYOUTS[name]
    names = {"text1": 1, "text2": 2, LABEL: 0} if layout.inputs else {TEXT: 1, LABEL: 0}
    places = [_place(f"{folder} ({name})", field, names) for field in fields]
    for _, path, row in scan(name, Path(folder), split=split):
        values = (row.label, row.text, *(value for _, value in row.extra))
        yield Row(tuple([values[place] for place in places]), path, int(row.source))


def transfer_set_files(name: str, folder: str, split: str) -> list[str]:
    """The files of one split of a transfer set, or all of a set that has no splits."""
    names = [file for part in LAYOUTS[name].parts if split in ("", part.split) for file in part.files]
    return [str(find_file(Path(folder, file)) or Path(folder, file)) for file in names]


def _place(what: str, field: str, known: dict[str, int]) -> int:
    if field not in known:
        raise UsageError(f"{what} has no {field}; it has {', '.join(known)}.")
    return known[field]
