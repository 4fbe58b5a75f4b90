"""SentEval's transfer sets: which files stand where, and what a line of each holds."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from sonde.corpus.files import open_bytes, undecodable
from sonde.dataset import Dataset
from sonde.errors import CorpusError, DataError, SondeError, UsageError
from sonde.tables import Columns, Interned, example, gather, no_rows, read_table, there, uncompressed


@dataclass(frozen=True, slots=True)
class Layout:
    """The files of one set, in SentEval's order, and how they are read."""

    home: str
    """The set's folder below ``downstream``."""
    files: Mapping[str, str]
    """Each file's split. Rows of a set without splits of its own are test rows."""
    read: Columns | Literal["sentence", "sentence<TAB>label", "label sentence", "COARSE:fine sentence"]
    """A table with these columns, or what a line holds; the label of a bare sentence is the suffix of its file."""
    latin: bool = False
    """Whether SentEval takes the files for Latin-1; here they are, if they are no UTF-8."""
    first: str = ""
    """What the first line looks like, where the names of the files do not tell the set."""


_SENTIMENT = {"sentiment-train": "tr", "sentiment-dev": "va", "sentiment-test": "te"}

LAYOUTS = {
    "MR": Layout("MR", {"rt-polarity.pos": "te", "rt-polarity.neg": "te"}, "sentence", latin=True),
    "CR": Layout("CR", {"custrev.pos": "te", "custrev.neg": "te"}, "sentence", latin=True),
    "SUBJ": Layout("SUBJ", {"subj.objective": "te", "subj.subjective": "te"}, "sentence", latin=True),
    "MPQA": Layout("MPQA", {"mpqa.pos": "te", "mpqa.neg": "te"}, "sentence", latin=True),
    "SST2": Layout("SST/binary", _SENTIMENT, "sentence<TAB>label", first=r"[^\t]*\t\d$"),
    "SST5": Layout("SST/fine", _SENTIMENT, "label sentence", first=r"\d [^\t]*$"),
    "TREC": Layout("TREC", {"train_5500.label": "tr", "TREC_10.label": "te"}, "COARSE:fine sentence", latin=True),
    "SICK-E": Layout(
        "SICK",
        {"SICK_train.txt": "tr", "SICK_trial.txt": "va", "SICK_test_annotated.txt": "te"},
        Columns(("sentence_A", "sentence_B"), "entailment_judgment"),
    ),
    "MRPC": Layout(
        "MRPC",
        {"msr_paraphrase_train.txt": "tr", "msr_paraphrase_test.txt": "te"},
        Columns(("#1 String", "#2 String"), "Quality"),
    ),
}


def layout_of(folder: Path) -> tuple[str, ...]:
    """The names of the transfer sets of which at least one file stands in this very folder."""
    return tuple(name for name, layout in LAYOUTS.items() if _matches(layout, folder))


def read_layout(name: str, folder: Path) -> Dataset:
    """Read the set ``name`` from the folder in which its files stand. Labels are as in the files."""
    if name not in LAYOUTS:
        raise UsageError(f"There is no transfer set {name!r}; there are {', '.join(LAYOUTS)}.")
    layout = LAYOUTS[name]
    paths = {_needed(name, folder, file): split for file, split in layout.files.items()}
    if isinstance(layout.read, Columns):
        return read_table(list(paths), layout.read, name)  # the names of these files tell the same splits
    rows, known = no_rows(), Interned()
    for path, split in paths.items():
        suffix = uncompressed(path).suffix[1:]
        for number, line in enumerate(_lines(path, layout.latin), 1):
            if layout.read == "sentence":  # an empty line is a row: the published sizes count them
                rows[split].append(example(path, number, suffix, line, known))
            elif line:
                label, text = _parsed(layout.read, path, number, line)
                rows[split].append(example(path, number, label, text, known))
    return gather(name, rows, str(folder))


def _parsed(form: str, path: str, number: int, line: str) -> tuple[str, str]:
    """Label and sentence of a line that has both."""
    if form == "sentence<TAB>label":
        text, *labels = line.split("\t")
        if len(labels) != 1:
            raise CorpusError(path, number, f"{1 + len(labels)} columns", "sentence and label, set off by a tab")
        return labels[0], text
    label, _, text = line.partition(" ")
    if form == "COARSE:fine sentence":
        label, colon, _ = label.partition(":")
        if not colon:
            raise CorpusError(path, number, f"{line[:20]!r}", "a line such as `NUM:date When … ?`")
    return label, text


def _matches(layout: Layout, folder: Path) -> bool:
    found = next((path for file in layout.files if (path := there(folder / file))), None)
    if found is None or not layout.first:
        return found is not None
    try:
        first = next(open_bytes(str(found)), b"").partition(b"\n")[0].decode(errors="replace")
    except SondeError:
        return False
    return re.match(layout.first, first) is not None


def _needed(name: str, folder: Path, file: str) -> str:
    if path := there(folder / file):
        return str(path)
    expected = ", ".join(LAYOUTS[name].files)
    raise DataError(f"{name} lacks the file {file}: looked for it in {folder}, compressed or not; expected {expected}.")


def _lines(path: str, latin: bool) -> list[str]:
    """The lines of a file without their ends, which are line feeds only: Latin-1 has a letter that is a line end."""
    content = b"".join(open_bytes(path))
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        if not latin:
            raise undecodable(path, 1, error) from None
        text = content.decode("latin-1")
    if "\0" in text:
        raise CorpusError(path, text.count("\n", 0, text.index("\0")) + 1, "a NUL byte", "text")
    return text.removesuffix("\n").split("\n") if text else []
