"""Which sets are meant by the paths a user gave, and how to read each."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sentprobe.core.arguments import StringsOrPaths, StrOrPath, as_list, as_strings, did_you_mean, listed_names
from sentprobe.core.files import nearest, reject_special_file
from sentprobe.core.reader import read_rows
from sentprobe.data.dataset import MANIFEST_FILE, ROWS_FILE, Dataset
from sentprobe.data.expectations import expectations_for
from sentprobe.data.hf_datasets import is_hub_name, read_hf_dataset
from sentprobe.data.layouts import LAYOUTS, read_layout
from sentprobe.data.lookalike_labels import merge_labels
from sentprobe.data.rows import Columns, parse_columns
from sentprobe.data.search import (
    FoundSet,
    distinct,
    hub_set,
    is_made,
    is_plain_file,
    sets_below,
    sets_in_files,
    table_sets,
    with_guessed_columns,
)
from sentprobe.data.tables import read_parts, read_senteval, read_table
from sentprobe.errors import DataError, SentProbeError, UsageError
from sentprobe.tasks import load_task

_PATH_COLUMNS = re.compile(r"(?P<path>.+?):(?P<columns>(?:text|label|split|target|group)=.+)", re.DOTALL)
_NEXT_COLUMN = re.compile(r",(?=(?:text|label|split|target|group)=)")


@dataclass(frozen=True, slots=True)
class Source:
    """A set that was found and has not been read yet; `load` reads it.

    Parameters
    ----------
    name
        The name of the set: as much of its path as makes it unique.
    kind
        ``made`` (by sentprobe), ``senteval``, ``xprobe``, ``table``, ``hf-dataset``, or the name of a transfer set.
    paths
        Its folder, its files, or the name of a dataset of Hugging Face.
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
    merge_labels
        Whether labels that look alike are made one.
    """

    name: str
    kind: str
    paths: tuple[str, ...]
    language: str | None
    task: str
    columns: Columns | None = None
    part: str | None = None
    train: str | None = None
    merge_labels: bool = False

    def load(self) -> Dataset:
        """Read the set, and give it the name, task and language that were found or requested."""
        dataset = self._read()
        if self.merge_labels:
            expectations = expectations_for(replace(dataset, task=self.task))
            dataset = merge_labels(dataset, expectations.labels or ()) if expectations.classes else dataset
        if (dataset.name, dataset.task, dataset.language) == (self.name, self.task, self.language):
            return dataset  # which has computed its digest
        return replace(dataset, name=self.name, task=self.task, language=self.language)

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
            case "hf-dataset":
                return read_hf_dataset(self.paths[0], self.columns)
            case "table":
                return read_table(self.paths, self.columns or Columns())
        if self.kind not in LAYOUTS:
            raise DataError(
                f"{self.name} is a set of the kind {self.kind!r}; expected made, senteval, xprobe, table, "
                f"hf-dataset or a transfer set: {listed_names(LAYOUTS)}."
            )
        return read_layout(self.kind, Path(self.paths[0]), language=self.part, train=self.train)


def find_sets(
    paths: StringsOrPaths,
    columns: Columns | None = None,
    *,
    name: str | None = None,
    task: StringsOrPaths = (),
    language: StringsOrPaths = (),
    as_task: str | None = None,
    as_language: str | None = None,
    train: StrOrPath | None = None,
    merge_labels: bool = False,
    guess: Callable[[str], None] | None = None,
) -> list[Source]:
    """Find the sets in files and folders, and in the folders below them, without reading them.

    Parameters
    ----------
    paths
        Files, folders and globs, or one of them: folders that `sentprobe make` wrote, SentEval's and X-Probe's sets,
        SentEval's transfer sets, tables, and datasets that Hugging Face's library saved; also ``hf-dataset:NAME``,
        which it loads. A path may have columns of its own: ``reviews.csv:text=review,label=mood``.
    columns
        Read every file as a table with these columns; sets made by sentprobe are still recognised.
    name
        Another name, for a single set.
    task, language
        Only the sets of these tasks, and in these languages. A task may also be a path or a module that has one.
    as_task, as_language
        What files are of that do not say it themselves: SentEval's, X-Probe's and tables. What the manifest of a set
        says, or that it is a certain transfer set, is not overridden.
    train
        A file of English pairs to train XNLI on.
    merge_labels
        Make labels that look alike one (Yes and yes, 1 and 1.0), when a set is read.
    guess
        Guess the columns of tables that are named without any, if there is no doubt, and call this with a line that
        says what was guessed.

    Returns
    -------
    list of Source
        The sets, sorted within each folder; ``source.load()`` reads one.

    Raises
    ------
    UsageError
        If there is no such path, no set of such a task or language, or if a set says that it is of another one than
        ``as_task`` or ``as_language``; or if no table has the columns that are named.
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
    files: dict[Columns | None, list[str]] = {}
    for typed in as_strings(paths, "a path"):
        pattern, path_columns = split_columns(typed, columns)
        if is_hub_name(pattern):
            candidates.append(hub_set(pattern, path_columns))
            continue
        for path in _expand(pattern):
            existing = _existing(path)
            if existing.name in (MANIFEST_FILE, ROWS_FILE) and is_made(existing.parent):
                existing = existing.parent
            if existing.is_dir():
                candidates += sets_below(existing, path_columns)
            else:
                files.setdefault(path_columns, []).append(path)
    for file_columns, group in files.items():
        candidates += table_sets(group, file_columns, typed=True) if file_columns else sets_in_files(group, guess)
    if guess:
        candidates = [with_guessed_columns(candidate, guess) for candidate in candidates]
    candidates = distinct(candidates)
    if not candidates:
        raise UsageError("No set was given; name a file or a folder.")
    if train is not None and not any(m.kind == "XNLI" for m in candidates):
        raise UsageError(f"--train {os.fspath(train)} is for XNLI only, and none of the sets is XNLI; leave it out.")
    if name and len(candidates) > 1:
        raise UsageError(
            f"One name cannot be given to {len(candidates)} sets: {', '.join(m.name for m in candidates[:3])}, …"
        )
    sources = [
        Source(
            name or m.name,
            m.kind,
            m.paths,
            _stated(m, "language", m.language, as_language),
            _stated(m, "task", m.task, as_task) or m.task,
            columns=m.columns,
            part=m.language if m.kind == "XNLI" else None,
            train=os.fspath(train) if train is not None and m.kind == "XNLI" else None,
            merge_labels=merge_labels,
        )
        for m in candidates
    ]
    _check_columns(sources)
    tasks, languages = as_strings(task, "the name of a task"), as_strings(language, "a language code")
    return _of_languages(_of_tasks(sources, tasks), languages)


def _check_columns(sources: Sequence[Source]) -> None:
    """Raise UsageError if no table has the columns that were named; one without them among others is a failure."""
    wrong: list[UsageError] = []
    for source in sources:
        try:
            if source.columns is not None and source.kind == "table":
                next(read_rows(source.paths[0], source.columns.requested, source.columns.header), None)
        except UsageError as e:
            wrong.append(e)
        except DataError:  # a malformed table is a failure of its set
            pass
    if wrong and len(wrong) == len(sources):
        raise wrong[0]


def _stated(candidate: FoundSet, what: str, stated: str | None, typed: str | None) -> str | None:
    """The task or language of a set: what it says itself, or what the user says of files that do not say it."""
    if typed is None or typed == stated:
        return stated
    if stated is not None and (candidate.kind == "made" or candidate.kind in LAYOUTS):
        who = "The manifest of" if candidate.kind == "made" else "The layout of"
        raise UsageError(
            f"--as-{what} {typed}: {who} {candidate.name} says that its {what} is {stated}, and is not overridden. "
            f"Leave it out; --{what} {typed} selects the sets whose {what} that is."
        )
    return typed


def _of_tasks(sources: list[Source], tasks: Sequence[str]) -> list[Source]:
    """The sets of these tasks, by name, or by the path or module of the task; all if none are named."""
    names = list(dict.fromkeys(source.task for source in sources))
    wanted = set()
    for text in tasks:
        task = text if text in names else task_name(text)
        if task not in names:
            hint = did_you_mean(text, names)
            raise UsageError(
                f"--task {text}: no set is of this task.{hint} Expected one of {listed_names(names)}. To name the task "
                f"of files without a manifest, use --as-task {text}."
            )
        wanted.add(task)
    return [source for source in sources if not tasks or source.task in wanted]


def task_name(text: str) -> str:
    """The name of a task that was typed as a name, a path or a module; the text itself if there is no such task."""
    try:
        return load_task(text).name
    except SentProbeError:
        return text


def _of_languages(sources: list[Source], languages: Sequence[str]) -> list[Source]:
    """The sets in these languages; all if none are named."""
    codes = list(dict.fromkeys(source.language for source in sources))
    for code in languages:
        if code not in codes:
            have = listed_names(code or "unknown" for code in codes)
            raise UsageError(
                f"--language {code}: no set is in this language; they are in: {have}. To name the language of files "
                f"without a manifest, use --as-language {code}."
            )
    return [source for source in sources if not languages or source.language in languages]


def filter_by_suite(sources: Source | Iterable[Source], suites: StringsOrPaths) -> list[Source]:
    """The sets of these suites: transfer sets are of ``transfer``, others have the suite in their name."""
    sources, suites = as_list(sources, Source, "a set"), as_strings(suites, "the name of a suite")
    suite_of = ["transfer" if s.kind in LAYOUTS else s.name.split("/")[0] for s in sources]
    for suite in suites:
        if suite not in suite_of:
            raise UsageError(
                f"No set belongs to the suite {suite}; expected one of {listed_names(dict.fromkeys(suite_of))}."
            )
    return [s for s, suite in zip(sources, suite_of, strict=True) if suite in suites]


def split_columns(typed: str, columns: Columns | None = None) -> tuple[str, Columns | None]:
    """A path, and the columns that are named after it: ``reviews.csv:text=review,label=mood``; otherwise ``columns``.

    >>> split_columns("C:/data/reviews.csv:text=review,label=mood,split=80/10/10")[0]
    'C:/data/reviews.csv'
    >>> split_columns("C:/data/reviews.csv")
    ('C:/data/reviews.csv', None)
    """
    match = _PATH_COLUMNS.fullmatch(typed)
    if match is None or Path(typed).exists():
        return typed, columns
    options: dict[str, Any] = {}
    texts: list[str] = []
    for pair in _NEXT_COLUMN.split(match["columns"]):
        name, _, value = pair.partition("=")
        if name == "text":
            texts.append(value)
        elif options.setdefault(name, value) != value:
            raise UsageError(f"{typed}: {name} is named twice.")
    try:
        return match["path"], parse_columns(tuple(texts), **options)
    except UsageError as e:
        example = f"{match['path']}:text=COLUMN,label=COLUMN,split=80/10/10"
        raise UsageError(f"{typed}: expected columns after the path, as in {example}. {e}") from None


def _expand(typed: str) -> list[str]:
    if typed == "-":
        raise UsageError("A set cannot be read from standard input; save it to a file first.")
    if glob.has_magic(typed) and not Path(typed).exists():
        return sorted(glob.glob(typed, recursive=True)) or [typed]  # noqa: PTH207 - pathlib's takes no absolute pattern
    return [typed]


def _existing(path: str) -> Path:
    file = Path(path)
    try:
        if file.is_dir() or is_plain_file(file):
            return file
        special = file.exists()
    except (OSError, ValueError):
        special = False
    if not special:
        hint = nearest(path) or "; expected probing sets, or tables of sentences and labels."
        raise DataError(f"There is no file or folder {path!r}{hint}")
    raise UsageError(f"{path} is neither a file nor a folder; save its content to a file first.")


def _size_bytes(path: Path) -> int:
    with suppress(OSError):
        files = path.rglob("*") if path.is_dir() else (path,)
        return sum(file.stat().st_size for file in files if file.is_file())
    return 0
