"""Sets in other formats: SentEval's files, X-Probe's folders, and tables with columns of any name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from sentprobe.core.reader import TABLE_SUFFIXES, find_file, read_rows, read_tsv, without_compression_suffix
from sentprobe.core.words import mark_class
from sentprobe.corpus.files import stem
from sentprobe.data.dataset import Dataset, check_against_manifest
from sentprobe.data.rows import SPLIT_NAMES, Columns, Interned, RowBuilder, RowsBySplit, TableRows, empty_splits
from sentprobe.errors import CorpusError, DataError, UsageError
from sentprobe.tasks import SPLITS

_SPLIT_WORD = re.compile(
    rf"(?:^|(?<=[\W_]))({'|'.join(w for w in SPLIT_NAMES if len(w) > 2)})(?=$|[\W_])", re.IGNORECASE
)
_SHARD = re.compile(r"\d+-of-\d+")


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
    Dataset('past_present', 2 labels, train 2, dev 0, test 1)
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
    Dataset('tense', 2 labels, train 0, dev 0, test 2)
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
    rows = TableRows(columns)
    for path in files:
        split = "" if columns.split or columns.random else split_of(path) or only_file_split(path, files)
        rows.add(path, read_rows(path, columns.requested, columns.header), split)
    dataset = build_dataset(name or table_name(files), rows.by_split(files[0]), files[0], columns.inputs)
    return replace(dataset, manifest=columns.manifest)


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


def build_dataset(name: str, rows: RowsBySplit, path: str, inputs: Sequence[str] = ()) -> Dataset:
    """The set of these rows; ``inputs`` are extra columns that the probe is given besides the sentence."""
    labels = tuple(sorted({row.label for split in rows.values() for row in split}))
    if not labels:
        raise DataError(f"{path} has no rows; expected labelled sentences. Is it the right file?")
    return Dataset(name, name, 0, None, labels, rows, {"inputs": list(inputs)} if inputs else {})
