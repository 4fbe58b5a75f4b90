"""A transfer set: which folder holds one, and its rows, one by one or as a ``Dataset``."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from sentprobe.core.arguments import listed_names
from sentprobe.core.files import COMPRESSED
from sentprobe.core.reader import (
    OnBad,
    find_file,
    read_all_lines,
    read_first_line,
    split_cells,
    unequal_files,
    without_compression_suffix,
)
from sentprobe.data.dataset import Dataset
from sentprobe.data.layouts.captions import features_path, scan_captions
from sentprobe.data.layouts.catalogue import LAYOUTS, LayoutPart, LineFormat, TransferLayout
from sentprobe.data.layouts.xnli import (
    NO_GOLD,
    is_nli,
    nli_files,
    nli_languages,
    nli_rows,
    no_language,
    train_language,
)
from sentprobe.data.rows import Columns, Interned, RowBuilder, empty_splits
from sentprobe.data.tables import build_dataset
from sentprobe.errors import CorpusError, DataError, SentProbeError, UsageError
from sentprobe.tasks import Example

PICKLES = frozenset({"train.pkl", "valid.pkl", "test.pkl"})
"""The files of SentEval's own copy of the COCO captions, which must be converted first."""


def layouts_in(folder: Path) -> tuple[str, ...]:
    """The names of the transfer sets of which at least one file is directly in this folder."""
    try:
        names = {path.name for path in folder.iterdir() if path.is_file()}
    except OSError:
        return ()
    names |= {name.removesuffix(suffix) for name in names for suffix in COMPRESSED if name.endswith(suffix)}
    return tuple(name for name, layout in LAYOUTS.items() if _matches(layout, folder, names))


def languages_of(name: str, folder: Path) -> tuple[str | None, ...]:
    """The languages of a set in a folder; None for one whose files do not say."""
    return nli_languages(folder) if LAYOUTS[name].read == "nli" else (LAYOUTS[name].language,)


def locate(name: str, data: Path) -> Path:
    """The folder of a set below SentEval's ``data``, below ``downstream``, or the set's own folder.

    Folders of 2017, which have no ``downstream``, are found as well.
    """
    if name not in LAYOUTS:
        raise UsageError(f"There is no transfer set {name!r}; expected one of {listed_names(LAYOUTS)}.")
    home = LAYOUTS[name].home
    tried = (data / "downstream" / home, data / home, data / Path(home).name, data, data / Path(home).parts[0])
    for folder in tried:
        if name in layouts_in(folder):
            return folder
    raise DataError(
        f"{name} was not found: looked for {', '.join(LAYOUTS[name].files[:3]) or 'its files'} in {tried[0]}, "
        f"{tried[1]} and {data}. `sentprobe data get {name} -o {data}` downloads it, or says where to get it."
    )


def _matches(layout: TransferLayout, folder: Path, names: set[str]) -> bool:
    if layout.read == "nli":
        return is_nli(folder, names)
    folder_name = folder.resolve().name
    if layout.read == "captions" and folder_name == layout.home and names >= PICKLES:
        return True
    file = next((file for file in layout.files if file in names), None)
    if file is None:
        return False
    if layout.folder and layout.marker_file not in names and not re.search(layout.folder, folder_name):
        return False
    return not layout.first or _begins_with(layout.first, folder / file)


def _begins_with(pattern: str, file: Path) -> bool:
    path = find_file(file)
    try:
        return path is not None and re.match(pattern, read_first_line(path)) is not None
    except SentProbeError:
        return False


# Rows


def read_layout(name: str, folder: Path, *, language: str | None = None, train: str | None = None) -> Dataset:
    """Read the set ``name`` from the folder that holds its files. Labels are as in the files.

    ``language`` is which of XNLI's sets is meant, and ``train`` the file of pairs that it is trained on: English ones,
    or translated ones in a file such as ``train-fr.tsv``.
    """
    rows = empty_splits()
    for split, _, row in scan(name, folder, language=language, train=train):
        rows[split].append(row)
    dataset = build_dataset(name, rows, str(folder))
    manifest = _manifest(name, folder)
    if LAYOUTS[name].read == "nli" and (files := nli_files(folder, language, train)).get("tr"):
        manifest["train_language"] = train_language(files["tr"])
    return replace(dataset, language=language or LAYOUTS[name].language, manifest=manifest)


def scan(
    name: str,
    folder: Path,
    *,
    language: str | None = None,
    train: str | None = None,
    broken: OnBad | None = None,
    split: str = "",
) -> Iterator[tuple[str, str, Example]]:
    """Yield split, file and row, in file order, of one split or of all whose files are known beforehand.

    The first broken line is an error, unless ``broken`` is given.
    """
    if name not in LAYOUTS:
        raise UsageError(f"There is no transfer set {name!r}; expected one of {listed_names(LAYOUTS)}.")
    layout, strings, complain = LAYOUTS[name], Interned(), broken or _raise
    if layout.read == "nli":
        yield from _nli(layout, folder, language, train, strings, complain)
    elif layout.read == "captions":
        for part in layout.parts:
            path = _needed(name, folder, part.files[0])
            for row in scan_captions(path, strings):
                yield part.split, path, row
    else:
        for part in layout.parts if not split else [part for part in layout.parts if part.split == split]:
            yield from _part(name, layout, part, folder, strings, complain)


def _nli(
    layout: TransferLayout, folder: Path, language: str | None, train: str | None, strings: Interned, complain: OnBad
) -> Iterator[tuple[str, str, Example]]:
    held_out = False
    for split, path in nli_files(folder, language, train).items():
        build = RowBuilder(path, strings, (layout.second,))
        for row in nli_rows(build, None if split == "tr" else language or "", complain):
            held_out = held_out or split != "tr"
            yield split, path, row
    if not held_out:
        raise no_language(folder, language)


def _part(
    name: str, layout: TransferLayout, part: LayoutPart, folder: Path, strings: Interned, complain: OnBad
) -> Iterator[tuple[str, str, Example]]:
    paths = [_needed(name, folder, file) for file in part.files]
    columns = [read_all_lines(path, layout.latin1_fallback) for path in paths]
    if len({len(lines) for lines in columns}) > 1:
        raise unequal_files(paths, [len(lines) for lines in columns])
    if not columns[0]:
        return
    parse = parser(layout.read, paths, columns[0][0], RowBuilder(paths[-1], strings, layout.inputs))
    for number, lines in enumerate(zip(*columns, strict=True), 1):
        if number == 1 and isinstance(layout.read, Columns):
            continue  # the header
        try:
            row = parse(number, lines)
            if row is None:
                continue
            if layout.scale:
                check_score(paths[-1], number, row.label)
        except CorpusError as error:
            complain(error)
            continue
        yield part.split, paths[-1], row._replace(stratum=part.stratum) if part.stratum else row


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
    listed = ", ".join(expected if len(expected) < 10 else (*expected[:8], "…"))
    raise DataError(
        f"{name} lacks the file {file}: looked for it in {folder}, compressed or not; expected {listed}. "
        f"`sentprobe data get {name}` downloads it, or says where to get it."
    )


def _raise(error: CorpusError) -> None:
    raise error


# From the lines of a set's files to labels and sentences


Parse = Callable[[int, Sequence[str]], Example | None]
"""From a line number, and that line of every file of a part, to the row; None where there is none."""


def parser(form: Columns | LineFormat, paths: Sequence[str], header: str, build: RowBuilder) -> Parse:
    """The function that reads a line of these files, the first of which begins with the line ``header``."""
    path = paths[0]
    if isinstance(form, Columns):
        return _table(form, path, header, build)
    match form:
        case "sentence":
            suffix = without_compression_suffix(path).suffix[1:]
            # also if the line is empty: the published sizes count them
            return lambda number, lines: build(number, suffix, lines[0])
        case "seven columns":
            return lambda number, lines: _seven(build, path, number, lines[0])
        case "sentence|sentence|label":
            return lambda number, lines: (
                None if lines[2].strip() == NO_GOLD else build(number, lines[2], lines[0], lines[1])
            )
        case "sentence<TAB>sentence|score":
            return lambda number, lines: _scored(build, paths, number, *lines)
    return lambda number, lines: _labelled(build, form, path, number, lines[0])


def _labelled(build: RowBuilder, form: LineFormat, path: str, number: int, line: str) -> Example | None:
    """Label and sentence of a line that has both."""
    if not line:
        return None
    if form == "sentence<TAB>label":
        text, label = split_cells(path, number, line, "sentence and label, tab-separated", least=2, most=2)
        return build(number, label, text)
    label, _, text = line.partition(" ")
    if form == "COARSE:fine sentence":
        label, colon, _ = label.partition(":")
        if not colon:
            raise CorpusError(path, number, f"{line[:20]!r}", "a line such as `NUM:date When … ?`")
    return build(number, label, text)


def _table(columns: Columns, path: str, header: str, build: RowBuilder) -> Parse:
    """A table with a header; every line has as many columns as that."""
    names = [name.strip() for name in split_cells(path, 1, header)]
    for name in (*columns.text, columns.label):
        if name not in names:
            listed = ", ".join(map(repr, names[:8]))
            raise DataError(f"{path} has no column {name!r}; it has {listed}. Is it the right file?")
    first, second, label = (names.index(name) for name in (*columns.text, columns.label))

    def parse(number: int, lines: Sequence[str]) -> Example | None:
        if not lines[0]:
            return None
        width = len(names)
        cells = split_cells(path, number, lines[0], f"{width}, as in the first line", least=width, most=width)
        return build(number, cells[label], cells[first], cells[second])

    return parse


def _seven(build: RowBuilder, path: str, number: int, line: str) -> Example | None:
    """A pair of the STS benchmark, which may have its sources in extra columns."""
    if not line:
        return None
    expected = "genre, file, year, number, score and two sentences, tab-separated"
    cells = split_cells(path, number, line, expected, least=7)
    return build(number, cells[4], cells[5], cells[6])


def _scored(build: RowBuilder, paths: Sequence[str], number: int, pair: str, score: str) -> Example | None:
    """A pair of SemEval's tasks, unless it was never scored; extra columns are sources."""
    if not score.strip():
        return None
    cells = split_cells(paths[0], number, pair, "two sentences, tab-separated", least=2)
    return build(number, score, cells[0], cells[1])


def check_score(path: str, number: int, score: str) -> None:
    """Refuse a score that is not a number."""
    try:
        sound = math.isfinite(float(score))
    except ValueError:
        sound = False
    if not sound:
        raise CorpusError(path, number, f"the score {score[:20]!r}", "a number")
