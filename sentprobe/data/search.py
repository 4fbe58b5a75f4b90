"""The sets in files and folders: made here, SentEval's, X-Probe's, transfer sets, or tables."""

from __future__ import annotations

import os
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from sentprobe.core.arguments import listed_names
from sentprobe.core.files import open_bytes
from sentprobe.core.reader import TABLE_SUFFIXES, without_compression_suffix
from sentprobe.data.column_guess import described_guess, guess_columns, has_header_names
from sentprobe.data.dataset import MANIFEST_FILE, ROWS_FILE, read_manifest
from sentprobe.data.hf_datasets import guess_columns_of, hub_trail, is_saved
from sentprobe.data.layouts import LAYOUTS, languages_of, layouts_in
from sentprobe.data.rows import SPLIT_NAMES, Columns
from sentprobe.data.tables import common_name, only_file_split, split_of, xprobe_parts
from sentprobe.errors import DataError, SentProbeError, UsageError
from sentprobe.tasks import SPLITS

_XPROBE_FILES = tuple(f"{split}.txt" for split in SPLITS)
_SENTEVAL = re.compile(rf"({'|'.join(SPLITS)})\t[^\t]+\t")
_SNIFFED_LINES, _SHOWN_CHARACTERS = 10, 60
_LANGUAGE_CODE = re.compile(r"[a-z]{2,3}")
_NO_CODE = re.compile(r"all|bin|csv|dev|in|lib|mnt|my|new|old|opt|out|raw|run|set|src|tmp|tsv|txt|usr|val|var")
_PSEUDO = (Path("/proc"), Path("/sys"), Path("/dev"))
"""File systems of the kernel: they hold no sets, and reading some of their files never ends."""
_MEMORY = Path("/dev/shm")  # noqa: S108 - nothing is written there
"""The exception: people keep data there."""
_NO_DATA = re.compile(r"\.|(readme|licen[cs]e|copying|changelog)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class FoundSet:
    """A set that has no name yet: its path from the root of the disk, and how many parts of that the name shows."""

    kind: str
    paths: tuple[str, ...]
    trail: tuple[str, ...]
    task: str
    language: str | None = None
    name_parts: int = 1
    columns: Columns | None = None
    """Of a table."""

    @property
    def name(self) -> str:
        """The last parts of its path."""
        return "/".join(self.trail[-self.name_parts :])


def sets_below(root: Path, columns: Columns | None) -> list[FoundSet]:
    """The sets in and below a folder. A set is not searched for others.

    A link to a folder is followed if its target is outside ``root`` and not above it; no folder is searched twice.
    """
    if _is_pseudo(root):
        raise UsageError(f"{root} belongs to the kernel and is not searched for sets; name a folder that holds some.")
    top = root.resolve().parts
    candidates: list[FoundSet] = []
    refused: list[OSError] = []
    first_file: str | None = None
    searched: set[str] = set()
    for folder, folders, names in os.walk(root, onerror=refused.append, followlinks=True):
        if (target := os.path.realpath(folder)) in searched:
            folders.clear()
            continue
        searched.add(target)
        trail = (*top, *Path(folder).relative_to(root).parts)
        files = [
            str(Path(folder, n)) for n in sorted(names) if not _NO_DATA.match(n) and is_plain_file(Path(folder, n))
        ]
        try:
            sets = list(_inside(Path(folder), trail, files, columns))
        except OSError as e:  # a folder whose files may be listed but not read
            refused.append(e)
            sets = []
        complete = any(m.kind not in ("senteval", "table", "xprobe") for m in sets)  # such as the splits of a dataset
        folders[:] = [] if complete else sorted(f for f in folders if _is_searched(Path(folder, f), root))
        candidates += sets
        first_file = first_file or next(iter(files), None)
    if not candidates:
        raise unrecognised(str(root), first_file, columns, refused)
    return sorted((replace(m, name_parts=max(1, len(m.trail) - len(top))) for m in candidates), key=lambda m: m.trail)


def _is_searched(folder: Path, root: Path) -> bool:
    """Whether a folder below ``root`` is searched for sets."""
    if folder.name.startswith(".") or _is_pseudo(folder):
        return False
    if not folder.is_symlink():
        return True
    target, top = folder.resolve(), root.resolve()
    # one is found under its own path; the other would be a cycle
    return not target.is_relative_to(top) and not top.is_relative_to(target)


def hub_set(typed: str, columns: Columns | None) -> FoundSet:
    """The set that ``hf-dataset:NAME`` names."""
    trail = hub_trail(typed)
    return FoundSet("hf-dataset", (typed,), trail, trail[-1], name_parts=1 + ("?config=" in typed), columns=columns)


def with_guessed_columns(candidate: FoundSet, guess: Callable[[str], None]) -> FoundSet:
    """A dataset of Hugging Face with the columns that it seems to have, which are said."""
    if candidate.kind != "hf-dataset" or candidate.columns is not None:
        return candidate
    try:
        columns = guess_columns_of(candidate.paths[0])
    except SentProbeError:  # raised again when the set is read, so that others are not lost
        return candidate
    guess(described_guess(candidate.paths, columns))
    return replace(candidate, columns=columns)


def sets_in_files(files: list[str], guess: Callable[[str], None] | None = None) -> Iterator[FoundSet]:
    """The sets in these files, which are SentEval's, parts of X-Probe's, or tables whose columns are guessed."""
    parts: defaultdict[Path, list[str]] = defaultdict(list)
    tables: list[str] = []
    for path in files:
        lines = _peek(path)
        has_header = bool(lines) and has_header_names(lines[0])
        if _is_senteval(lines) and not (guess and has_header):  # its columns may be in SentEval's order
            yield _senteval(path, Path(path).parent.resolve().parts)
        elif without_compression_suffix(path).name in _XPROBE_FILES:
            parts[Path(path).parent].append(path)
        elif guess and lines and (_has_table_suffix(path) or has_header):
            tables.append(path)
        else:
            raise unrecognised(path, path, None)
    for folder, files_of_set in parts.items():
        yield _xprobe(files_of_set, folder.resolve().parts)
    for path_group, columns in _guessed_tables(tables):
        for table in table_sets(path_group, columns, typed=False):
            if guess:
                guess(described_guess(table.paths, columns))
            yield table


def _guessed_tables(files: Sequence[str]) -> Iterator[tuple[list[str], Columns]]:
    """Tables by the columns that they seem to have."""
    by_columns: defaultdict[Columns, list[str]] = defaultdict(list)
    for path in files:
        by_columns[guess_columns(path, from_names=split_of(path) is not None)].append(path)
    for columns, paths in by_columns.items():
        yield paths, columns


def _has_table_suffix(path: str) -> bool:
    return without_compression_suffix(path).suffix.lower() in TABLE_SUFFIXES


def table_sets(
    files: Sequence[str], columns: Columns, *, typed: bool, trail: tuple[str, ...] | None = None
) -> Iterator[FoundSet]:
    """Files whose names say different splits are one set, others are one each.

    Where two files have the same split, the rest of the name groups them: ``dev-en``, ``dev-fr``, ``test-en``.
    ``trail`` is the path of their folder, where links were followed to it.
    """
    if columns.random:
        _check_unsplit(files)
        yield from (_table([path], columns, trail) for path in files)
        return
    named = [] if columns.split else [path for path in files if split_of(path)]
    unnamed = [path for path in files if path not in named]
    if typed and named and unnamed:
        only_file_split(unnamed[0], files)
    groups: defaultdict[tuple[Path, str], list[str]] = defaultdict(list)
    twice = len({split_of(path) for path in named}) < len(named)
    for path in named:
        groups[(Path(path).parent, common_name(path)) if twice else (Path(), "")].append(path)
    for group in (*groups.values(), *([path] for path in unnamed)):
        table = _table(group, columns, trail)
        yield replace(table, language=_code(table.trail) if twice and group[0] in named else None)


def _table(group: Sequence[str], columns: Columns, trail: tuple[str, ...] | None) -> FoundSet:
    """The set in these files, named as they are, or as their folder is."""
    above = trail or Path(group[0]).parent.resolve().parts
    stems = {common_name(path) for path in group} - {""}
    whole = (*above, *stems) if len(stems) == 1 else above
    return FoundSet("table", tuple(group), whole, whole[-1], columns=columns)


def _check_unsplit(files: Sequence[str]) -> None:
    """Files of one set that has splits are not split again."""
    folders: defaultdict[tuple[Path, str], dict[str, str]] = defaultdict(dict)
    for path in files:
        if split := split_of(path):
            folders[Path(path).parent, common_name(path)][split] = path
    for paths in folders.values():
        if len(paths) > 1:
            raise UsageError(
                f"The names of {' and '.join(paths.values())} say their split: leave out the shares of --split, or "
                "name one file."
            )


def _inside(folder: Path, trail: tuple[str, ...], files: list[str], columns: Columns | None) -> Iterator[FoundSet]:
    """The sets whose files are directly in this folder."""
    if is_made(folder):
        try:
            manifest = read_manifest(folder)
        except DataError:  # reported when the set is loaded; the others can still be read
            manifest = {}
        language = manifest.get("language")
        language_code = language if isinstance(language, str) else None
        yield FoundSet("made", (str(folder),), trail, str(manifest.get("task", trail[-1])), language_code)
        return
    if is_saved(folder):
        yield FoundSet("hf-dataset", (str(folder),), trail, trail[-1], columns=columns)
        return
    if columns:
        yield from table_sets(_table_files(files), columns, typed=False, trail=trail)
        return
    parts, layouts = xprobe_parts(folder), layouts_in(folder)
    if parts:
        yield _xprobe(parts, trail)
    for name in layouts:
        yield from _layout(name, folder, trail)
    if not parts and not layouts:
        for path in files:
            with suppress(SentProbeError):  # a folder may hold files that are not sets
                if _is_senteval(_peek(path)):
                    yield _senteval(path, trail)


def is_made(folder: Path) -> bool:
    """Whether `sentprobe make` wrote this folder."""
    if not is_plain_file(folder / MANIFEST_FILE):
        return False
    try:
        return is_plain_file(folder / ROWS_FILE) or bool(read_manifest(folder))
    except DataError:
        return False  # other programs write files of this name, too


def is_plain_file(path: Path) -> bool:
    """Whether a path, or what it links to, is a regular file that may be read."""
    try:
        return path.is_file() and not _is_pseudo(path)
    except OSError:
        return False


def _is_pseudo(folder: Path) -> bool:
    path = folder.resolve()
    return any(path.is_relative_to(root) for root in _PSEUDO) and not path.is_relative_to(_MEMORY)


def _senteval(path: str, above: tuple[str, ...]) -> FoundSet:
    file = without_compression_suffix(path)
    task = file.name.removesuffix(".txt").removesuffix(".tsv")
    return FoundSet("senteval", (path,), (*above, task), task)


def _xprobe(parts: Sequence[str], trail: tuple[str, ...]) -> FoundSet:
    return FoundSet("xprobe", tuple(parts), trail, trail[-1], _code(trail[:-1]))


def _layout(name: str, folder: Path, trail: tuple[str, ...]) -> Iterator[FoundSet]:
    """A transfer set, once per language; its name replaces its folder."""
    home = tuple(LAYOUTS[name].home.split("/"))
    above = trail[: -len(home)] if trail[-len(home) :] == home else trail
    for language in languages_of(name, folder):
        if LAYOUTS[name].read == "nli":
            yield FoundSet(name, (str(folder),), (*above, language or "", name), name, language)
        else:
            yield FoundSet(name, (str(folder),), (*above, name), name, language or _code(above))


def _table_files(files: Iterable[str]) -> list[str]:
    """The tables among the files of a folder, by suffix; text files only if there is nothing better."""
    suffixes = {path: without_compression_suffix(path).suffix.lower() for path in files}
    return [path for path, suffix in suffixes.items() if suffix in TABLE_SUFFIXES] or [
        path
        for path, suffix in suffixes.items()
        if suffix == ".txt" or (split_of(path) and (suffix == "" or suffix[1:] in SPLIT_NAMES))
    ]


def _peek(path: str) -> list[str]:
    """The first lines of a file that are not empty."""
    start = next(open_bytes(path), b"")[: 1 << 14]
    return [line for line in start.decode(errors="replace").split("\n") if line][:_SNIFFED_LINES]


def _is_senteval(lines: Sequence[str]) -> bool:
    return 2 * sum(_SENTEVAL.match(line) is not None for line in lines) > len(lines)


def distinct(candidates: Iterable[FoundSet]) -> list[FoundSet]:
    """Each set once, with enough of its path shown that no two have the same name."""
    once: dict[tuple[object, ...], FoundSet] = {}
    for m in candidates:
        key = (m.kind, *m.trail, *(Path(p).resolve().name for p in m.paths), m.columns)
        once[key] = max(once.get(key, m), m, key=lambda candidate: candidate.name_parts)
    files = Counter((m.trail, m.paths) for m in once.values())
    sets = [_named_by_label(m) if files[m.trail, m.paths] > 1 else m for m in once.values()]
    trails = Counter(m.trail for m in sets)
    named = [replace(m, trail=(*m.trail[:-1], Path(m.paths[0]).name)) if trails[m.trail] > 1 else m for m in sets]
    while max((names := Counter(m.name for m in named)).values(), default=1) > 1:
        longer = [replace(m, name_parts=min(m.name_parts + 1, len(m.trail))) if names[m.name] > 1 else m for m in named]
        if longer == named:
            return [replace(m, trail=(*m.trail[:-1], f"{m.trail[-1]}#{i}")) for i, m in enumerate(named, 1)]
        named = longer
    return named


def _named_by_label(table: FoundSet) -> FoundSet:
    """A table that is several sets, with other columns each: as a set it is named after its label, too."""
    if table.columns is None:
        return table
    name = f"{table.trail[-1]}-{table.columns.label}"
    return replace(table, trail=(*table.trail[:-1], name), task=name)


def _code(trail: Sequence[str]) -> str | None:
    """The last folder, if it may be a language code."""
    return trail[-1] if trail and _LANGUAGE_CODE.fullmatch(trail[-1]) and not _NO_CODE.fullmatch(trail[-1]) else None


def unrecognised(path: str, file: str | None, columns: Columns | None, refused: Sequence[OSError] = ()) -> DataError:
    """The error for a path that holds no set; ``file`` is one that was found instead."""
    seen = "no file"
    if file is not None:
        try:
            first = next(iter(_peek(file)), "")
            seen = f"{file}, which begins with {first[:_SHOWN_CHARACTERS]!r}" if first else f"{file}, which is empty"
        except SentProbeError as error:
            seen = str(error)
    elif refused:
        seen = f"{refused[0].filename}, which may not be read: {refused[0].strerror}"
    if columns:
        suffixes = " ".join((*TABLE_SUFFIXES, ".txt"))
        return DataError(
            f"{path} holds no table: expected a file with one of the suffixes {suffixes}, compressed or not; "
            f"got {seen}."
        )
    hint = "name its columns with --text and --label, or give their numbers with --no-header"
    if file is not None and _has_table_suffix(file):
        begin = f"got {seen}. If it is a table, {hint}. Otherwise expected"
        end = "."
    else:
        begin, end = "expected", f"; got {seen}. If it is a table, {hint}."
    return DataError(
        f"{path} holds no set in a known format: {begin} folders that `sentprobe make` wrote, SentEval's probing files "
        "(tr, va or te, label, sentence, tab-separated), X-Probe's folders (tr.txt, va.txt, te.txt) or SentEval's "
        f"transfer folders ({listed_names(LAYOUTS)}){end}"
    )
