"""Names in tables and sentences: short ones that are not confused, lists, and failures."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from sentprobe import errors
from sentprobe.core.table import plain
from sentprobe.report.types import SetSummary

MAX_UNCUT_LENGTH = 24
"""Labels of up to this many characters are shown as they were typed."""
MAX_NAME_LENGTH = 40
"""Characters of a truncated name, unless it takes more to tell it from another."""
_SCHEME = re.compile(r"(?:[a-z]+:)?")
_TAIL = re.compile(r"[?,@].*", re.DOTALL)
_PARTIAL = re.compile(r", partial, ([\d,]+) rows a split")
_UNINFORMATIVE = re.compile(
    r"(?:models?|weights|snapshots?|checkpoints?|final|best|last|latest|out|output|main)"
    r"|(?:checkpoint|step|epoch)s?[-_=. ]*[\d*]*|\d+|[0-9a-f]{7,}",
    re.IGNORECASE,
)
"""Folder names that models are saved under by convention: the folder above has the name."""


def short_names(labels: Sequence[str]) -> list[str]:
    """A name for each label, in order, no two alike: of a path, its last informative part, or more of it.

    ``st:/home/me/models/minilm/model`` becomes ``st:minilm``, or ``st:minilm/model`` if there is an
    ``st:minilm/other``.
    Characters that cannot be printed are shown by their code.
    """
    lines = [plain(label) for label in labels]
    return _apart(lines, [_ways(line) for line in lines])


def truncate_names(texts: Sequence[str]) -> list[str]:
    """Each text as it can be drawn, in order, no two alike: on one line, and truncated in the middle if it is long."""
    lines = [plain(text) for text in texts]
    return _apart(lines, [[_cut(line), line] for line in lines])


def set_names(sets: Sequence[SetSummary]) -> list[str]:
    """A name for each set of a summary, no two alike, and all with the same parts.

    The task, with the language or the corpus if needed to tell sets apart; then with the suite; then the label.
    """
    for head in (_task_of, _full_name):
        for keys in ((), ("language",), ("corpus",), ("language", "corpus")):
            names = [plain(_with(head(s), [getattr(s, key) for key in keys])) for s in sets]
            if len(set(names)) == len(names):
                return truncate_names(names)
    return truncate_names([s.label for s in sets])


def _task_of(s: SetSummary) -> str:
    """What a set is called without its suite."""
    return s.title or s.name.rsplit("/", 1)[-1]


def _full_name(s: SetSummary) -> str:
    suite = s.name.rpartition("/")[0]
    return s.name if s.title is None else _with(s.title, [suite])


def brief_set_names(sets: Sequence[SetSummary]) -> list[str]:
    """A name for each set in a sentence, no two alike: the task alone where no other set has it, else more."""
    ways = []
    for s in sets:
        task, name = (_in_sentence(text) if s.title else text for text in (_task_of(s), _full_name(s)))
        names = [task, _with(task, [s.language]), name, _with(name, [s.language]), s.label]
        ways.append(list(dict.fromkeys(map(plain, names))))
    return _apart([plain(f"{s.label} {s.data}") for s in sets], ways)


def _in_sentence(title: str) -> str:
    """A title as it is written inside a sentence: ``subject number``, but ``SST2``."""
    return title[:1].lower() + title[1:] if title[1:2].islower() else title


def _apart(lines: Sequence[str], ways: Sequence[Sequence[str]]) -> list[str]:
    """The first way to write each line that is not the name of another line as well."""
    # only names that clash are made longer: one long path must not make all others long
    level = [0] * len(lines)
    while True:
        names = [way[i] for way, i in zip(ways, level, strict=True)]
        meant: dict[str, set[str]] = {}
        for line, name in zip(lines, names, strict=True):
            meant.setdefault(name, set()).add(line)
        clash = [i for i, name in enumerate(names) if len(meant[name]) > 1 and level[i] + 1 < len(ways[i])]
        if not clash:
            return _counted(names)
        for i in clash:
            level[i] += 1


def _with(name: str, qualifiers: Sequence[str | None]) -> str:
    added = ", ".join(word for word in qualifiers if word)
    return f"{name} ({added})" if added else name


def _ways(label: str) -> list[str]:
    """Ways to write a label, from short to full."""
    if len(label) <= MAX_UNCUT_LENGTH:
        return [label]
    full, label = label, _PARTIAL.sub(r", \1 rows", label)
    scheme = _SCHEME.match(label)[0]  # type: ignore[index]
    body = label[len(scheme) :]
    match = _TAIL.search(body)
    tail = match[0] if match else ""
    parts, last = _path_parts(body.removesuffix(tail))
    paths = [parts[last], *("/".join(parts[i:]) for i in range(last, -1, -1))] if parts else []
    # that all layers were run is not what tells an encoder from others
    short = re.sub(r"\?layer=\*(?:&|(?=,|$))|&layer=\*(?=[&,]|$)", lambda m: "?" if m[0].endswith("&") else "", tail)
    # of two files of word vectors, as of one, the names
    bare = re.sub(r",[^,?@ ]*/", ",", short)
    names = [scheme + path + end for path in paths for end in (bare, short, tail)]
    cut = [_cut(name) for name in names or [label]]
    return list(dict.fromkeys([*cut, *names, label, full]))


def model_name(path: str) -> str:
    """Of the path of a model, the last part that says what it is."""
    parts, last = _path_parts(path)
    return parts[last] if parts else path


def _path_parts(path: str) -> tuple[list[str], int]:
    """The parts of a path, and the number of the last informative one."""
    # the cache of the Hugging Face hub has the name of a model in that of its folder
    parts = [
        part.rpartition("--")[2] if part.startswith("models--") else part for part in re.split(r"[/\\]", path) if part
    ]
    return parts, next((i for i in range(len(parts) - 1, 0, -1) if not _UNINFORMATIVE.fullmatch(parts[i])), 0)


def _cut(name: str) -> str:
    if len(name) <= MAX_NAME_LENGTH:
        return name
    half = (MAX_NAME_LENGTH - 1) // 2
    return f"{name[: MAX_NAME_LENGTH - 1 - half]}…{name[-half:]}"


def _counted(names: Sequence[str]) -> list[str]:
    """The same names, numbered where one occurs twice."""
    total, taken, numbered = Counter(names), set(names), []
    seen: Counter[str] = Counter()
    for name in names:
        seen[name] += 1
        unique = name
        if total[name] > 1 and seen[name] > 1:
            while unique in taken:
                seen[name] += unique != name
                unique = f"{name} ({seen[name]})"
        taken.add(unique)
        numbered.append(unique)
    return numbered


# In sentences


def listed(names: Sequence[str], *, most: int | None = None, remainder: str = "more") -> str:
    """``a, b and c``; of more than ``most``, the first ones and how many others there are."""
    parts = list(names)
    if most is not None and len(parts) > most:
        parts = [*parts[: most - 1], f"{len(parts) - most + 1} {remainder}"]
    if not parts:
        return ""
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def failure_text(where: str, encoder: str | None, kind: str, error: str) -> str:
    """A failure after what it is about: errors of ours without their class, and none with the encoder once more."""
    ours = getattr(errors, kind, None)
    if isinstance(ours, type) and issubclass(ours, errors.SentProbeError):
        if encoder and error.startswith(f"{encoder}: "):
            error = error[len(encoder) + 2 :]
        elif encoder and error.startswith(f"{encoder} "):
            error = f"it{error[len(encoder) :]}"
    else:
        error = f"{kind}: {error}"
    return f"{where.removesuffix(':')}: {error}"
