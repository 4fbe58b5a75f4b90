"""Which sets are meant by the paths a user typed: made here, SentEval's, X-Probe's, or tables."""

from __future__ import annotations

import glob
import os
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from sonde.core.arguments import StringsOrPaths, StrOrPath, as_list, as_strings
from sonde.core.files import open_bytes, reject_special_file
from sonde.data.dataset import MANIFEST_FILE, ROWS_FILE, Dataset, read_manifest
from sonde.data.layouts import LAYOUTS, languages_of, layouts_in, read_layout
from sonde.data.tables import (
    SPLIT_NAMES,
    TABLE_SUFFIXES,
    Columns,
    common_name,
    only_file_split,
    read_parts,
    read_senteval,
    read_table,
    split_of,
    without_compression_suffix,
    xprobe_parts,
)
from sonde.errors import DataError, SondeError, UsageError
from sonde.task import SPLITS

_XPROBE_FILES = tuple(f"{split}.txt" for split in SPLITS)
_SENTEVAL = re.compile(rf"({'|'.join(SPLITS)})\t[^\t]+\t")
_SNIFFED_LINES, _SHOWN_CHARACTERS = 10, 60
_LANGUAGE_CODE = re.compile(r"[a-z]{2,3}")
_NO_CODE = re.compile(r"all|bin|csv|dev|in|lib|mnt|my|new|old|opt|out|raw|run|set|src|tmp|tsv|txt|usr|val|var")
_PSEUDO = (Path("/proc"), Path("/sys"), Path("/dev"))
"""File systems of the kernel: they hold no sets, and to read some of their files takes for ever."""
_MEMORY = Path("/dev/shm")  # noqa: S108 - nothing is written there
"""But here people keep data."""
_NO_DATA = re.compile(r"\.|(readme|licen[cs]e|copying|changelog)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Source:
    """One set that was found and is not read yet."""

    name: str
    kind: str
    """``made``, ``senteval``, ``xprobe``, ``table``, or the name of a transfer set."""
    paths: tuple[str, ...]
    language: str | None
    task: str
    columns: Columns | None = None
    part: str | None = None
    """Which of the languages in a folder of XNLI is meant."""
    train: str | None = None
    """The English pairs that XNLI is trained on."""

    def load(self) -> Dataset:
        """Read the set, and give it the name, task and language that were found or asked for."""
        return replace(self._read(), name=self.name, task=self.task, language=self.language)

    def _read(self) -> Dataset:
        match self.kind:
            case "made":
                with suppress(FileNotFoundError):  # which is told better below
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


@dataclass(frozen=True, slots=True)
class _FoundSet:
    """A set on the way to its name: where it stands, from the root of the disk, and how much of that is shown."""

    kind: str
    paths: tuple[str, ...]
    trail: tuple[str, ...]
    task: str
    language: str | None = None
    shown: int = 1

    @property
    def name(self) -> str:
        return "/".join(self.trail[-self.shown :])


def find_sets(
    paths: StringsOrPaths,
    columns: Columns | None = None,
    *,
    name: str | None = None,
    task: str | None = None,
    language: str | None = None,
    train: StrOrPath | None = None,
) -> list[Source]:
    """The sets in these files and folders, or this one, and below them, sorted within each folder that was typed.

    With ``columns`` every file is a table; only sets made here are still known as such. ``train`` is a file of English
    pairs for XNLI to be trained on.
    """
    candidates: list[_FoundSet] = []
    files: list[str] = []
    for path in (found for typed in as_strings(paths, "a path") for found in _expand(typed)):
        place = _existing(path)
        if place.name in (MANIFEST_FILE, ROWS_FILE) and _is_made(place.parent):
            place = place.parent
        if place.is_dir():
            candidates += _below(place, columns)
        else:
            files.append(path)
    candidates = _distinct([*candidates, *(_tables(files, columns, typed=True) if columns else _files(files))])
    if not candidates:
        raise UsageError("No set was given; name a file or a folder.")
    if train is not None and not any(m.kind == "XNLI" for m in candidates):
        raise UsageError(f"--train {os.fspath(train)} is for XNLI, and none of the sets is XNLI: leave it out.")
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
    """The sets of these suites: SentEval's transfer tasks are ``transfer``, others have the suite in their name."""
    sources, suites = as_list(sources, Source, "a set"), as_strings(suites, "the name of a suite")
    suite_of = ["transfer" if s.kind in LAYOUTS else s.name.split("/")[0] for s in sources]
    for suite in suites:
        if suite not in suite_of:
            raise UsageError(f"No set is of the suite {suite}; there is {', '.join(dict.fromkeys(suite_of))}.")
    return [s for s, suite in zip(sources, suite_of, strict=True) if suite in suites]


def _expand(typed: str) -> list[str]:
    if typed == "-":
        raise UsageError("A set is not read from standard input; write it into a file first.")
    if glob.has_magic(typed) and not Path(typed).exists():
        return sorted(glob.glob(typed, recursive=True)) or [typed]  # noqa: PTH207 - pathlib's takes no absolute pattern
    return [typed]


def _existing(path: str) -> Path:
    place = Path(path)
    try:
        if place.is_dir() or _is_file(place):
            return place
        special = place.exists()
    except (OSError, ValueError):
        special = False
    if not special:
        next(open_bytes(path), None)  # says what is wrong, and proposes the nearest name
    raise UsageError(f"{path} is neither a file nor a folder; write what comes from it into a file first.")


def _below(root: Path, columns: Columns | None) -> list[_FoundSet]:
    """The sets in and below a folder. A set is not searched for others; links to folders are not followed."""
    if _is_pseudo(root):
        raise UsageError(f"{root} belongs to the kernel and is not searched for sets; name a folder that holds some.")
    top = root.resolve().parts
    candidates: list[_FoundSet] = []
    refused: list[OSError] = []
    other: str | None = None
    for folder, folders, names in os.walk(root, onerror=refused.append):
        trail = (*top, *Path(folder).relative_to(root).parts)
        files = [str(Path(folder, n)) for n in sorted(names) if not _NO_DATA.match(n) and _is_file(Path(folder, n))]
        try:
            found = list(_inside(Path(folder), trail, files, columns))
        except OSError as e:  # a folder whose files may be listed and not looked at
            refused.append(e)
            found = []
        whole = any(m.kind not in ("senteval", "table", "xprobe") for m in found)
        folders[:] = [] if whole else sorted(f for f in folders if f[0] != "." and not _is_pseudo(Path(folder, f)))
        candidates += found
        other = other or next(iter(files), None)
    if not candidates:
        raise _unrecognised(str(root), other, columns, refused)
    return sorted((replace(m, shown=max(1, len(m.trail) - len(top))) for m in candidates), key=lambda m: m.trail)


def _is_pseudo(folder: Path) -> bool:
    place = folder.resolve()
    return any(place.is_relative_to(each) for each in _PSEUDO) and not place.is_relative_to(_MEMORY)


def _is_file(path: Path) -> bool:
    """Whether a path, or what it links to, is a plain file; one that may not be looked at is none."""
    try:
        return path.is_file() and not _is_pseudo(path)
    except OSError:
        return False


def _inside(folder: Path, trail: tuple[str, ...], files: list[str], columns: Columns | None) -> Iterator[_FoundSet]:
    """The sets whose files stand in this very folder."""
    if _is_made(folder):
        try:
            manifest = read_manifest(folder)
        except DataError:  # it is said when the set is loaded, and does not keep others from being read
            manifest = {}
        language = manifest.get("language")
        known = language if isinstance(language, str) else None
        yield _FoundSet("made", (str(folder),), trail, str(manifest.get("task", trail[-1])), known)
        return
    if columns:
        yield from _tables(_table_files(files), columns, typed=False)
        return
    parts, layouts = xprobe_parts(folder), layouts_in(folder)
    if parts:
        yield _xprobe(parts)
    for name in layouts:
        yield from _layout(name, folder, trail)
    if not parts and not layouts:
        for path in files:
            with suppress(SondeError):  # not everything in a folder is ours to read
                if _is_senteval(_peek(path)):
                    yield _senteval(path)


def _files(files: list[str]) -> Iterator[_FoundSet]:
    """The sets in files that were typed, which are SentEval's or parts of X-Probe's."""
    parts: defaultdict[Path, list[str]] = defaultdict(list)
    for path in files:
        if _is_senteval(_peek(path)):
            yield _senteval(path)
        elif without_compression_suffix(path).name in _XPROBE_FILES:
            parts[Path(path).parent].append(path)
        else:
            raise _unrecognised(path, path, None)
    yield from map(_xprobe, parts.values())


def _is_made(folder: Path) -> bool:
    if not _is_file(folder / MANIFEST_FILE):
        return False
    try:
        return _is_file(folder / ROWS_FILE) or bool(read_manifest(folder))
    except DataError:
        return False  # others write files of this name, too


def _senteval(path: str) -> _FoundSet:
    file = without_compression_suffix(path)
    task = file.name.removesuffix(".txt").removesuffix(".tsv")
    return _FoundSet("senteval", (path,), (*Path(path).parent.resolve().parts, task), task)


def _xprobe(parts: Sequence[str]) -> _FoundSet:
    trail = Path(parts[0]).parent.resolve().parts
    return _FoundSet("xprobe", tuple(parts), trail, trail[-1], _code(trail[:-1]))


def _layout(name: str, folder: Path, trail: tuple[str, ...]) -> Iterator[_FoundSet]:
    """A transfer set, in each language that is there; its name stands for its folder."""
    home = tuple(LAYOUTS[name].home.split("/"))
    above = trail[: -len(home)] if trail[-len(home) :] == home else trail
    for language in languages_of(name, folder):
        if LAYOUTS[name].read == "nli":
            yield _FoundSet(name, (str(folder),), (*above, language or "", name), name, language)
        else:
            yield _FoundSet(name, (str(folder),), (*above, name), name, language or _code(above))


def _tables(files: Sequence[str], columns: Columns, *, typed: bool) -> Iterator[_FoundSet]:
    """Files whose names tell different splits are one set, others are one each.

    Where a split is told twice, the rest of the names says what belongs together: ``dev-en``, ``dev-fr``, ``test-en``.
    """
    told = [] if columns.split else [path for path in files if split_of(path)]
    silent = [path for path in files if path not in told]
    if typed and told and silent:
        only_file_split(silent[0], files)
    groups: defaultdict[tuple[Path, str], list[str]] = defaultdict(list)
    twice = len({split_of(path) for path in told}) < len(told)
    for path in told:
        groups[(Path(path).parent, common_name(path)) if twice else (Path(), "")].append(path)
    for group in (*groups.values(), *([path] for path in silent)):
        above = Path(group[0]).parent.resolve().parts
        families = {common_name(path) for path in group} - {""}
        trail = (*above, *families) if len(families) == 1 else above
        yield _FoundSet("table", tuple(group), trail, trail[-1], _code(trail) if twice and group[0] in told else None)


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


def _code(trail: Sequence[str]) -> str | None:
    """The last folder, if it may be a language code."""
    return trail[-1] if trail and _LANGUAGE_CODE.fullmatch(trail[-1]) and not _NO_CODE.fullmatch(trail[-1]) else None


def _distinct(candidates: Iterable[_FoundSet]) -> list[_FoundSet]:
    """Each set once, with so much of its path shown that no two have the same name."""
    once: dict[tuple[str, ...], _FoundSet] = {}
    for m in candidates:
        key = (m.kind, *m.trail, *(Path(p).resolve().name for p in m.paths))
        once[key] = max(once.get(key, m), m, key=lambda each: each.shown)
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


def _unrecognised(path: str, other: str | None, columns: Columns | None, refused: Sequence[OSError] = ()) -> DataError:
    seen = "no file at all"
    if other is not None:
        try:
            first = next(iter(_peek(other)), "")
            seen = f"{other}, which begins with {first[:_SHOWN_CHARACTERS]!r}" if first else f"{other}, which is empty"
        except SondeError as error:
            seen = str(error)
    elif refused:
        seen = f"{refused[0].filename}, which may not be read: {refused[0].strerror}"
    if columns:
        known = " ".join((*TABLE_SUFFIXES, ".txt"))
        return DataError(f"{path} holds no table: met {seen}; looked for {known}, compressed or not.")
    return DataError(
        f"{path} holds no set of a known form: met {seen}. Looked for folders that `sonde make` wrote, SentEval's "
        "probing files (tr, va or te, label, sentence, set off by tabs), X-Probe's folders (tr.txt, va.txt, te.txt), "
        f"SentEval's transfer folders ({', '.join(LAYOUTS)}). If it is a table, name its columns: --text and "
        "--label, by numbers with --no-header."
    )
