"""A transfer set from its folder: row by row, or as a ``Dataset``."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from sentprobe.data.dataset import Dataset
from sentprobe.data.file_names import find_file
from sentprobe.data.layouts.captions import features_path, scan_captions
from sentprobe.data.layouts.catalogue import LAYOUTS
from sentprobe.data.layouts.layout import Layout, Part
from sentprobe.data.layouts.parsing import BuildRow, check_score, lines_of, parser
from sentprobe.data.layouts.xnli import nli_files, nli_rows, no_language, train_language
from sentprobe.data.records import Columns
from sentprobe.data.rows import Interned, build_dataset, empty_splits, example
from sentprobe.errors import CorpusError, DataError, UsageError
from sentprobe.task import Example

OnBrokenLine = Callable[[CorpusError], None]
"""What to do about a line that cannot be read."""


def read_layout(name: str, folder: Path, *, language: str | None = None, train: str | None = None) -> Dataset:
    """Read the set ``name`` from the folder that holds its files. Labels are as in the files.

    ``language`` is which of XNLI's sets is meant, and ``train`` the file of pairs that it is trained on: English ones,
    or translated ones in a file such as ``train-fr.tsv``.
    """
    rows = empty_splits()
    for split, _, row in scan(name, folder, language=language, train=train):
        rows[split].append(row)
    found = build_dataset(name, rows, str(folder))
    manifest = _manifest(name, folder)
    if LAYOUTS[name].read == "nli" and (files := nli_files(folder, language, train)).get("tr"):
        manifest["train_language"] = train_language(files["tr"])
    return replace(found, language=language or LAYOUTS[name].language, manifest=manifest)


def scan(
    name: str,
    folder: Path,
    *,
    language: str | None = None,
    train: str | None = None,
    broken: OnBrokenLine | None = None,
    split: str = "",
) -> Iterator[tuple[str, str, Example]]:
    """Yield split, file and row, in file order, of one split or of all whose files are known beforehand.

    The first broken line is an error, unless ``broken`` is given.
    """
    if name not in LAYOUTS:
        raise UsageError(f"There is no transfer set {name!r}; expected one of {', '.join(LAYOUTS)}.")
    layout, known, complain = LAYOUTS[name], Interned(), broken or _raise
    if layout.read == "nli":
        yield from _nli(layout, folder, language, train, known, complain)
    elif layout.read == "captions":
        for part in layout.parts:
            path = _needed(name, folder, part.files[0])
            for row in scan_captions(path, known):
                yield part.split, path, row
    else:
        for part in layout.parts if not split else [part for part in layout.parts if part.split == split]:
            yield from _part(name, layout, part, folder, known, complain)


def _nli(
    layout: Layout, folder: Path, language: str | None, train: str | None, known: Interned, complain: OnBrokenLine
) -> Iterator[tuple[str, str, Example]]:
    held_out = False
    for split, path in nli_files(folder, language, train).items():
        row = _row_builder(path, (layout.second,), known)
        for found in nli_rows(path, None if split == "tr" else language or "", row, complain):
            held_out = held_out or split != "tr"
            yield split, path, found
    if not held_out:
        raise no_language(folder, language)


def _part(
    name: str, layout: Layout, part: Part, folder: Path, known: Interned, complain: OnBrokenLine
) -> Iterator[tuple[str, str, Example]]:
    paths = [_needed(name, folder, file) for file in part.files]
    columns = [lines_of(path, layout.latin1_fallback) for path in paths]
    if len({len(lines) for lines in columns}) > 1:
        counts = ", ".join(f"{len(lines):,} in {path}" for path, lines in zip(paths, columns, strict=True))
        raise DataError(f"{name}: files that belong together differ in their number of lines: {counts}.")
    if not columns[0]:
        return
    parse = parser(layout.read, paths, columns[0][0], _row_builder(paths[-1], layout.inputs, known))
    for number, lines in enumerate(zip(*columns, strict=True), 1):
        if number == 1 and isinstance(layout.read, Columns):
            continue  # the header
        try:
            found = parse(number, lines)
            if found is None:
                continue
            if layout.scale:
                check_score(paths[-1], number, found.label)
        except CorpusError as error:
            complain(error)
            continue
        yield part.split, paths[-1], found._replace(stratum=part.stratum) if part.stratum else found


def _row_builder(path: str, inputs: Sequence[str], known: Interned) -> BuildRow:
    def row(number: int, label: str, text: str, second: str = "") -> Example:
        return example(path, number, label, text, known, extra=tuple((column, second) for column in inputs))

    return row


def _manifest(name: str, folder: Path) -> dict[str, Any]:
    """What the run must know: how the set is scored, and what the probe is given."""
    layout = LAYOUTS[name]
    manifest: dict[str, Any] = {"suite": "transfer", "protocol": layout.protocol, "inputs": list(layout.inputs)}
    if layout.scale:
        manifest["scale"] = list(layout.scale)
    if layout.read == "captions":
        manifest["images"] = {part.split: features_path(_needed(name, folder, part.files[0])) for part in layout.parts}
    return manifest


def _needed(name: str, folder: Path, file: str) -> str:
    if path := find_file(folder / file):
        return str(path)
    if LAYOUTS[name].read == "captions" and (folder / "train.pkl").is_file():
        raise DataError(
            f"{folder} has SentEval's pickles, which must be converted once: "
            f"cd {folder} && sentprobe data convert-coco train.pkl valid.pkl test.pkl -o ."
        )
    expected = LAYOUTS[name].files
    shown = ", ".join(expected if len(expected) < 10 else (*expected[:8], "…"))
    raise DataError(
        f"{name} lacks the file {file}: looked for it in {folder}, compressed or not; expected {shown}. "
        f"`sentprobe data get {name}` downloads it, or says where to get it."
    )


def _raise(error: CorpusError) -> None:
    raise error
