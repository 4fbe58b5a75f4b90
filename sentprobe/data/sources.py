"""Which sets are meant by the paths a user gave, and how to read each."""

from __future__ import annotations

import glob
import os
from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from sentprobe.core.arguments import StringsOrPaths, StrOrPath, as_list, as_strings
from sentprobe.core.files import open_bytes, reject_special_file
from sentprobe.data.dataset import MANIFEST_FILE, ROWS_FILE, Dataset
from sentprobe.data.layouts import LAYOUTS, read_layout
from sentprobe.data.records import Columns
from sentprobe.data.search import FoundSet, is_made, is_plain_file, sets_below, sets_in_files, table_sets
from sentprobe.data.tables import read_parts, read_senteval, read_table
from sentprobe.errors import DataError, UsageError


@dataclass(frozen=True, slots=True)
class Source:
    """A set that was found and has not been read yet; `load` reads it.

    Parameters
    ----------
    name
        The name of the set: as much of its path as makes it unique.
    kind
        ``made`` (by sentprobe), ``senteval``, ``xprobe``, ``table``, or the name of a transfer set.
    paths
        Its folder, or its files.
    language
        Its language code, if known.
    task
        The name of its task.
    columns
        Which columns of a table hold text, label and so on.
    part
        Which of the languages in a folder of XNLI is meant.
    train
        The English pairs that XNLI is trained on.
    """

    name: str
    kind: str
    paths: tuple[str, ...]
    language: str | None
    task: str
    columns: Columns | None = None
    part: str | None = None
    train: str | None = None

    def load(self) -> Dataset:
        """Read the set, and give it the name, task and language that were found or requested."""
        found = self._read()
        if (found.name, found.task, found.language) == (self.name, self.task, self.language):
            return found  # which has computed its digest
        return replace(found, name=self.name, task=self.task, language=self.language)

    @property
    def size_bytes(self) -> int:
        """The size of its files; what cannot be read has none, and reading it says why."""
        return sum(_size_bytes(Path(path)) for path in self.paths)

    def _read(self) -> Dataset:
        match self.kind:
            case "made":
                with suppress(FileNotFoundError):  # Dataset.load has the better message
                    reject_special_file(Path(self.paths[0], ROWS_FILE))
                return Dataset.load(self.paths[0])
            case "senteval":
                return read_senteval(self.paths[0])
            case "xprobe":
                return read_parts(self.paths, self.name, str(Path(self.paths[0]).parent))
            case "table":
                return read_table(self.paths, self.columns or Columns())
        if self.kind not in LAYOUTS:
            raise DataError(
                f"{self.name} is a set of the kind {self.kind!r}; expected made, senteval, xprobe, table or a transfer "
                f"set: {', '.join(LAYOUTS)}."
            )
        return read_layout(self.kind, Path(self.paths[0]), language=self.part, train=self.train)


def find_sets(
    paths: StringsOrPaths,
    columns: Columns | None = None,
    *,
    name: str | None = None,
    task: str | None = None,
    language: str | None = None,
    train: StrOrPath | None = None,
) -> list[Source]:
    """Find the sets in files and folders, and in the folders below them, without reading them.

    Parameters
    ----------
    paths
        Files, folders and globs, or one of them: folders that `sentprobe make` wrote, SentEval's and X-Probe's sets,
        SentEval's transfer sets, and tables.
    columns
        Read every file as a table with these columns; sets made by sentprobe are still recognised.
    name, task, language
        Override what the files and folders say; a name can be given to a single set only.
    train
        A file of English pairs to train XNLI on.

    Returns
    -------
    list of Source
        The sets, sorted within each folder; ``source.load()`` reads one.

    Raises
    ------
    UsageError
        If there is no such path.
    DataError
        If a file or folder holds no set in a known format.

    Examples
    --------
    >>> import tempfile, pathlib, sentprobe
    >>> (made,) = sentprobe.make_sets(
    ...     sentprobe.Corpus.synthetic(300), sentprobe.select_tasks(tasks="bigram_shift", sizes="60/20/20")
    ... )
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> made.save(folder / made.name)
    >>> [(source.name, source.kind) for source in sentprobe.find_sets(folder)]
    [('conneau2018/bigram_shift', 'made')]
    >>> sentprobe.find_sets(folder)[0].load().digest == made.digest
    True
    """
    candidates: list[FoundSet] = []
    files: list[str] = []
    for path in (found for given in as_strings(paths, "a path") for found in _expand(given)):
        place = _existing(path)
        if place.name in (MANIFEST_FILE, ROWS_FILE) and is_made(place.parent):
            place = place.parent
        if place.is_dir():
            candidates += sets_below(place, columns)
        else:
            files.append(path)
    candidates = _distinct(
        [*candidates, *(table_sets(files, columns, typed=True) if columns else sets_in_files(files))]
    )
    if not candidates:
        raise UsageError("No set was given; name a file or a folder.")
    if train is not None and not any(m.kind == "XNLI" for m in candidates):
        raise UsageError(f"--train {os.fspath(train)} is for XNLI only, and none of the sets is XNLI; leave it out.")
    if name and len(candidates) > 1:
        raise UsageError(
            f"One name cannot be given to {len(candidates)} sets: {', '.join(m.name for m in candidates[:3])}, …"
        )
    return [
        Source(
            name or m.name,
            m.kind,
            m.paths,
            language or m.language,
            task or m.task,
            columns=columns if m.kind == "table" else None,
            part=m.language if m.kind == "XNLI" else None,
            train=os.fspath(train) if train is not None and m.kind == "XNLI" else None,
        )
        for m in candidates
    ]


def filter_by_suite(sources: Source | Iterable[Source], suites: StringsOrPaths) -> list[Source]:
    """The sets of these suites: transfer sets are of ``transfer``, others have the suite in their name."""
    sources, suites = as_list(sources, Source, "a set"), as_strings(suites, "the name of a suite")
    suite_of = ["transfer" if s.kind in LAYOUTS else s.name.split("/")[0] for s in sources]
    for suite in suites:
        if suite not in suite_of:
            raise UsageError(
                f"No set belongs to the suite {suite}; expected one of {', '.join(dict.fromkeys(suite_of))}."
            )
    return [s for s, suite in zip(sources, suite_of, strict=True) if suite in suites]


def _expand(given: str) -> list[str]:
    if given == "-":
        raise UsageError("A set cannot be read from standard input; save it to a file first.")
    if glob.has_magic(given) and not Path(given).exists():
        return sorted(glob.glob(given, recursive=True)) or [given]  # noqa: PTH207 - pathlib's takes no absolute pattern
    return [given]


def _existing(path: str) -> Path:
    place = Path(path)
    try:
        if place.is_dir() or is_plain_file(place):
            return place
        special = place.exists()
    except (OSError, ValueError):
        special = False
    if not special:
        next(open_bytes(path), None)  # raises an error that suggests the nearest name
    raise UsageError(f"{path} is neither a file nor a folder; save its content to a file first.")


def _distinct(candidates: Iterable[FoundSet]) -> list[FoundSet]:
    """Each set once, with enough of its path shown that no two have the same name."""
    once: dict[tuple[str, ...], FoundSet] = {}
    for m in candidates:
        key = (m.kind, *m.trail, *(Path(p).resolve().name for p in m.paths))
        once[key] = max(once.get(key, m), m, key=lambda candidate: candidate.shown)
    trails = Counter(m.trail for m in once.values())
    left = [
        replace(m, trail=(*m.trail[:-1], Path(m.paths[0]).name)) if trails[m.trail] > 1 else m for m in once.values()
    ]
    while max((names := Counter(m.name for m in left)).values(), default=1) > 1:
        longer = [replace(m, shown=min(m.shown + 1, len(m.trail))) if names[m.name] > 1 else m for m in left]
        if longer == left:
            return [replace(m, trail=(*m.trail[:-1], f"{m.trail[-1]}#{i}")) for i, m in enumerate(left, 1)]
        left = longer
    return left


def _size_bytes(path: Path) -> int:
    with suppress(OSError):
        files = path.rglob("*") if path.is_dir() else (path,)
        return sum(file.stat().st_size for file in files if file.is_file())
    return 0
