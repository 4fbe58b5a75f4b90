"""Probing sets that others wrote: SentEval's files and X-Probe's folders."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from sonde.corpus.files import COMPRESSED, open_text, stem
from sonde.dataset import Dataset
from sonde.errors import CorpusError, DataError
from sonde.task import SPLITS, Example


def read_senteval(path: str | Path) -> Dataset:
    """Read ``tr|va|te<TAB>label<TAB>[further columns]<TAB>sentence`` lines, compressed or not."""
    rows: dict[str, list[Example]] = {split: [] for split in SPLITS}
    for number, cells in _lines(str(path), "partition, label and sentence"):
        if len(cells) < 3:
            raise CorpusError(
                str(path), number, f"{len(cells)} columns", "partition, label and sentence, set off by tabs"
            )
        split, label, *more, sentence = cells
        if split not in rows:
            raise CorpusError(str(path), number, f"the partition {split[:20]!r}", "tr, va or te in the first column")
        extra = tuple((f"column{i}", value) for i, value in enumerate(more, 3))
        rows[split].append(_row(str(path), number, label, sentence, extra))
    return _dataset(stem(str(path)), rows, str(path))


def read_xprobe(folder: str | Path) -> Dataset:
    """Read ``sentence<TAB>label`` lines of the files tr.txt, va.txt and te.txt, any of them absent or compressed."""
    rows: dict[str, list[Example]] = {split: [] for split in SPLITS}
    for split in SPLITS:
        for name in (f"{split}.txt", *(f"{split}.txt{suffix}" for suffix in COMPRESSED)):
            path = Path(folder) / name
            if not path.is_file():
                continue
            for number, cells in _lines(str(path), "sentence and label"):
                if len(cells) != 2:
                    raise CorpusError(
                        str(path), number, f"{len(cells)} columns", "sentence and label, set off by a tab"
                    )
                rows[split].append(_row(str(path), number, cells[1], cells[0], ()))
            break
    return _dataset(Path(folder).name, rows, str(folder))


def _lines(path: str, expected: str) -> Iterator[tuple[int, list[str]]]:
    for number, line in enumerate(open_text(path), 1):
        if "\0" in line:
            raise CorpusError(path, number, "a NUL byte", f"text: {expected}")
        if line := line.rstrip("\r\n"):
            yield number, line.split("\t")


def _row(path: str, number: int, label: str, sentence: str, extra: tuple[tuple[str, str], ...]) -> Example:
    if not label.strip():
        raise CorpusError(path, number, "an empty label", "a label")
    if not (tokens := tuple(sentence.split())):
        raise CorpusError(path, number, "an empty sentence", "a sentence")
    return Example(label.strip(), tokens, sentence, f"{number}", extra=extra)


def _dataset(name: str, rows: dict[str, list[Example]], path: str) -> Dataset:
    labels = tuple(sorted({row.label for split in rows.values() for row in split}))
    if not labels:
        raise DataError(f"{path} holds no rows; expected a probing set in SentEval's or X-Probe's format.")
    return Dataset(name, name, 0, None, labels, rows)
