"""Sets in other formats: SentEval's files, X-Probe's folders, and tables with columns of any name."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from sentprobe.corpus.files import stem
from sentprobe.data.dataset import Dataset, check_against_manifest
from sentprobe.data.file_names import SPLIT_NAMES, find_file, only_file_split, split_of, table_name
from sentprobe.data.random_split import split_rows
from sentprobe.data.records import Columns, records, tsv_lines
from sentprobe.data.rows import Interned, build_dataset, empty_splits, example
from sentprobe.errors import CorpusError, UsageError
from sentprobe.task import SPLITS, Example


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
    path, rows, known = str(path), empty_splits(), Interned()
    check_against_manifest(Path(path))
    for number, cells in tsv_lines(path, "partition, label and sentence"):
        if len(cells) < 3:
            raise CorpusError(path, number, f"{len(cells)} columns", "partition, label and sentence, tab-separated")
        split, label, *more, sentence = cells
        if split not in rows:
            raise CorpusError(path, number, f"the partition {split[:20]!r}", "tr, va or te in the first column")
        extra = tuple((f"column{i}", value) for i, value in enumerate(more, 3))
        rows[split].append(example(path, number, label, sentence, known, extra=extra))
    return build_dataset(stem(path), rows, path)


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


def read_parts(paths: Iterable[str], name: str, place: str) -> Dataset:
    """Read some of the three files of an X-Probe folder; the first two letters of a name are the split."""
    rows, known = empty_splits(), Interned()
    for path in paths:
        split = rows[Path(path).name[:2]]
        for number, cells in tsv_lines(path, "sentence and label"):
            if len(cells) != 2:
                raise CorpusError(path, number, f"{len(cells)} columns", "sentence and label, tab-separated")
            split.append(example(path, number, cells[1], cells[0], known))
    return build_dataset(name, rows, place)


def read_table(paths: str | Path | Sequence[str | Path], columns: Columns, name: str | None = None) -> Dataset:
    """Read the files of one set: TSV, CSV, JSON lines or Parquet by suffix, compressed or not.

    Without a split column, the file names say the split; a single file whose name does not is test. With
    ``columns.random``, rows are split by a hash, whatever the names say.
    """
    files = [str(path) for path in ([paths] if isinstance(paths, str | Path) else paths)]
    if not files or not columns.text:
        raise UsageError("A table needs at least one file and one text column (--text).")
    rows, known, n, inputs = empty_splits(), Interned(), len(columns.text), columns.inputs
    unsplit: list[tuple[Example, str]] = []
    for path in files:
        split = "" if columns.split or columns.random else split_of(path) or only_file_split(path, files)
        for number, cells in records(path, columns):
            label, *rest = cells[n:]
            group = rest.pop() if columns.random and columns.random.group else ""
            if columns.split:
                split = _split(path, number, columns.split, rest[0])
            target = rest[-1] if columns.target else group
            extra = tuple(zip(inputs, cells[1:n], strict=True))
            row = example(path, number, label, cells[0], known, known[target] if target else None, extra)
            if columns.random:
                unsplit.append((row, group))
            else:
                rows[split].append(row)
    if columns.random is None:
        return build_dataset(name or table_name(files), rows, files[0], inputs)
    if unsplit:
        rows = split_rows(unsplit, columns.random, files[0])
    found = build_dataset(name or table_name(files), rows, files[0], inputs)
    return replace(found, manifest={**found.manifest, "split": columns.random.record(keyed=not columns.target)})


def _split(path: str, number: int, column: str, value: str) -> str:
    if found := SPLIT_NAMES.get(value.strip().lower()):
        return found
    got = f"{value[:20]!r} in the column {column}"
    raise CorpusError(path, number, got, f"the name of a split: {', '.join(SPLIT_NAMES)}")
