"""Sets in other formats: SentEval's files, X-Probe's folders, and tables with columns of any name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from sentprobe.core.reader import TABLE_SUFFIXES, find_file, read_rows, read_tsv, without_compression_suffix
from sentprobe.core.words import mark_class
from sentprobe.corpus.files import stem
from sentprobe.data.dataset import Dataset, check_against_manifest
from sentprobe.data.random_split import RandomSplit, is_random_split, parse_random_split, split_rows
from sentprobe.errors import CorpusError, DataError, UsageError
from sentprobe.tasks import SPLITS, Example

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


@dataclass(frozen=True, slots=True)
class Columns:
    """Which columns hold the parts of a row: names in a header, keys of JSON objects, or numbers counted from 1.

    A second ``text`` makes it a set of sentence pairs; ``target`` is the form that splits must not share.
    """

    text: tuple[str, ...] = ("text",)
    label: str = "label"
    split: str | None = None
    target: str | None = None
    header: bool = True
    random: RandomSplit | None = None
    """How to split rows that have no split; its groups, without ``target``, are the target forms."""

    @property
    def inputs(self) -> tuple[str, ...]:
        """The names that the texts after the first have in the rows."""
        return tuple(f"column{name}" if name.isdecimal() else name for name in self.text[1:])

    @property
    def has_targets(self) -> bool | None:
        """True if splits must not share a target form or a group; None if that is not said."""
        return bool(self.target or (self.random and self.random.group)) or None

    @property
    def requested(self) -> list[tuple[str, str]]:
        """The columns to read, each with the option that names it: texts, label, split, target, group."""
        group = self.random.group if self.random else None
        single = (("--label", self.label), ("--split", self.split), ("--target", self.target), ("--group", group))
        return [*(("--text", name) for name in self.text), *((flag, name) for flag, name in single if name is not None)]


def parse_columns(
    text: tuple[str, ...] = (),
    label: str | None = None,
    split: str | None = None,
    target: str | None = None,
    no_header: bool = False,
    group: str | None = None,
    split_seed: int | None = None,
) -> Columns | None:
    """The columns of a table that the options name, if any, and how it is split if ``split`` names shares."""
    needs_table = {"--split": split, "--group": group, "--split-seed": split_seed is not None, "--target": target}
    if (unused := [option for option, value in needs_table.items() if value] + ["--no-header"] * no_header) and not (
        text and label
    ):
        raise UsageError(f"{unused[0]} is for tables: add --text and --label.")
    if bool(text) != bool(label):
        raise UsageError("A table needs both --text and --label.")
    random = parse_random_split(split, group, split_seed) if split and is_random_split(split) else None
    if random is None and (group or split_seed is not None):
        option = "--group" if group else "--split-seed"
        raise UsageError(f"{option} is for rows that are split here: add their shares, such as --split 80/10/10.")
    column = None if random else split
    return Columns(text, label, column, target, not no_header, random) if text and label else None


def read_senteval(path: str | Path) -> Dataset:
    """Read a set in SentEval's format: lines of ``tr|va|te<TAB>label<TAB>[extra columns]<TAB>sentence``.

    Parameters
    ----------
    path
        The file, compressed (``.gz``, ``.bz2``, ``.xz``, ``.zst``) or not.

    Returns
    -------
    Dataset
        Named after the file. Extra columns are called ``column3``, ``column4``, …

    Raises
    ------
    CorpusError
        If a line is malformed; the message names the file and the line.

    Examples
    --------
    >>> import tempfile, pathlib, sentprobe
    >>> path = pathlib.Path(tempfile.mkdtemp(), "past_present.txt")
    >>> _ = path.write_text("tr\\tPAST\\tShe left .\\ntr\\tPRES\\tShe leaves .\\nte\\tPAST\\tHe slept .\\n")
    >>> sentprobe.read_senteval(path)
    Dataset('past_present', 2 labels, tr 2, va 0, te 1)
    """
    path, rows = str(path), empty_splits()
    check_against_manifest(Path(path))
    build = RowBuilder(path, Interned())
    for number, split, label, further, sentence in senteval_rows(path):
        row = build(number, label, sentence)
        extra = tuple((f"column{i}", value) for i, value in enumerate(further, 3))
        rows[split].append(row._replace(extra=extra) if extra else row)
    return build_dataset(stem(path), rows, path)


def senteval_rows(path: str) -> Iterator[tuple[int, str, str, list[str], str]]:
    """Yield line number, split, label, extra columns and sentence of SentEval's probing files, of all splits."""
    expected = "partition, label and sentence, tab-separated"
    for number, (split, label, *further, sentence) in read_tsv(path, expected, least=3):
        if split not in SPLITS:
            raise CorpusError(path, number, f"the partition {split[:20]!r}", "tr, va or te in the first column")
        yield number, split, label, further, sentence


def read_xprobe(folder: str | Path) -> Dataset:
    """Read a set in X-Probe's format: a folder with tr.txt, va.txt and te.txt, lines of ``sentence<TAB>label``.

    Parameters
    ----------
    folder
        The folder. Any of the three files may be absent or compressed.

    Returns
    -------
    Dataset
        Named after the folder.

    Raises
    ------
    CorpusError
        If a line is malformed; the message names the file and the line.

    Examples
    --------
    >>> import tempfile, pathlib, sentprobe
    >>> folder = pathlib.Path(tempfile.mkdtemp(), "tense")
    >>> folder.mkdir()
    >>> _ = (folder / "te.txt").write_text("She left .\\tPAST\\nShe leaves .\\tPRES\\n")
    >>> sentprobe.read_xprobe(folder)
    Dataset('tense', 2 labels, tr 0, va 0, te 2)
    """
    return read_parts(xprobe_parts(Path(folder)), Path(folder).resolve().name, str(folder))


def xprobe_parts(folder: Path) -> list[str]:
    """The files of an X-Probe folder that exist."""
    return [str(path) for split in SPLITS if (path := find_file(folder / f"{split}.txt"))]


def read_parts(paths: Iterable[str], name: str, folder: str) -> Dataset:
    """Read some of the three files of an X-Probe folder; the first two letters of a name are the split."""
    rows, strings = empty_splits(), Interned()
    for path in paths:
        split, build = rows[Path(path).name[:2]], RowBuilder(path, strings)
        for number, (text, label) in read_tsv(path, "sentence and label, tab-separated", least=2, most=2):
            split.append(build(number, label, text))
    return build_dataset(name, rows, folder)


def read_table(paths: str | Path | Sequence[str | Path], columns: Columns, name: str | None = None) -> Dataset:
    """Read the files of one set: TSV, CSV, JSON lines or Parquet by suffix, compressed or not.

    Without a split column, the file names say the split; a single file whose name does not is test. With
    ``columns.random``, rows are split by a hash, whatever the names say.
    """
    files = [str(path) for path in ([paths] if isinstance(paths, str | Path) else paths)]
    if not files or not columns.text:
        raise UsageError("A table needs at least one file and one text column (--text).")
    rows, strings, n = empty_splits(), Interned(), len(columns.text)
    unsplit: list[tuple[Example, str]] = []
    for path in files:
        split = "" if columns.split or columns.random else split_of(path) or only_file_split(path, files)
        build = RowBuilder(path, strings, columns.inputs)
        for number, cells in read_rows(path, columns.requested, columns.header):
            label, *options = cells[n:]  # split, target and group, as far as they were requested
            group = options.pop() if columns.random and columns.random.group else ""
            if columns.split:
                split = _split(path, number, columns.split, options[0])
            target = options[-1] if columns.target else group
            row = build(number, label, *cells[:n], key=strings[target] if target else None)
            if columns.random:
                unsplit.append((row, group))
            else:
                rows[split].append(row)
    if columns.random is None:
        return build_dataset(name or table_name(files), rows, files[0], columns.inputs)
    if unsplit:
        rows = split_rows(unsplit, columns.random, files[0])
    dataset = build_dataset(name or table_name(files), rows, files[0], columns.inputs)
    return replace(dataset, manifest={**dataset.manifest, "split": columns.random.record(keyed=not columns.target)})


def _split(path: str, number: int, column: str, value: str) -> str:
    if split := SPLIT_NAMES.get(value.strip().lower()):
        return split
    got = f"{value[:20]!r} in the column {column}"
    raise CorpusError(path, number, got, f"the name of a split: {', '.join(SPLIT_NAMES)}")


# What the names of files say


def split_of(path: str) -> str | None:
    """The split that a word in a file's name stands for: ``sentiment-train``, ``data.dev.csv``, ``te.txt``.

    Two letters must be the whole name: ``dev-tr.tsv`` is Turkish. A name with words for two splits has none.
    """
    name = without_compression_suffix(path).name.lower()
    splits = {SPLIT_NAMES[word] for word in _SPLIT_WORD.findall(name)}
    return splits.pop() if len(splits) == 1 else None if splits else SPLIT_NAMES.get(name.partition(".")[0])


def common_name(path: str) -> str:
    """What the files of one set have in common: the name without suffixes, split and shard numbers."""
    file = without_compression_suffix(path)
    name = file.stem if file.suffix.lower() in (*TABLE_SUFFIXES, ".txt", ".json") else file.name
    if name.lower() in SPLIT_NAMES:
        return ""
    border = rf"(?:[^\w{mark_class()}]|_)"
    return re.sub(f"({border}){border}+", r"\1", _SPLIT_WORD.sub("", _SHARD.sub("", name))).strip("-_. ")


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


# From a label and a text to a row, and from rows to a set

RowsBySplit = dict[str, list[Example]]


class Interned(dict[str, str]):
    """Strings mapped to themselves, so that a word is one object however often it is read."""

    def __missing__(self, word: str) -> str:
        return self.setdefault(word, word)


@dataclass(frozen=True, slots=True)
class RowBuilder:
    """Makes rows of what the lines of a file hold."""

    path: str
    strings: Interned
    """Those of all files of the set."""
    inputs: Sequence[str] = ()
    """The names of the columns that follow the text: the second sentence of a pair."""

    def __call__(self, number: int, label: str, text: str, *further: str, key: str | None = None) -> Example:
        """The row at this line; a label is required. A text without words is kept, because an audit must see it."""
        if not (label := label.strip()):
            raise CorpusError(self.path, number, "an empty label", "a label")
        intern = self.strings.__getitem__
        extra = tuple(zip(self.inputs, further, strict=True)) if further else ()
        return Example(intern(label), tuple(map(intern, text.split())), text, f"{number}", key, extra=extra)


def empty_splits() -> RowsBySplit:
    """Three empty splits."""
    return {split: [] for split in SPLITS}


def build_dataset(name: str, rows: RowsBySplit, path: str, inputs: Sequence[str] = ()) -> Dataset:
    """The set of these rows; ``inputs`` are extra columns that the probe is given besides the sentence."""
    labels = tuple(sorted({row.label for split in rows.values() for row in split}))
    if not labels:
        raise DataError(f"{path} has no rows; expected labelled sentences. Is it the right file?")
    return Dataset(name, name, 0, None, labels, rows, {"inputs": list(inputs)} if inputs else {})
