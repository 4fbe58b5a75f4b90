"""Names in words, as a paper has them: of sets, tasks and encoders; a small file changes them.

    caption = "Accuracy of probes on English sentences."      # of `sentprobe show --paper`, as is the label
    label = "tab:probes"

    [tasks]
    past_present = "Tense"
    [sets]
    "universal2019/tree_depth" = "Depth (UD)"
    [encoders]
    "st:all-MiniLM-L6-v2" = "MiniLM"
    nb-uni = "NB"
    [blocks]
    "Word vectors" = ["static:", "words"]

Sets and encoders go by any of their names in `sentprobe show`. What is not in the file has a name in words that follows
from its task or scheme, in figures, on the page and in tables for papers; other tables have what one types.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePath
from typing import Any

from sentprobe.core.arguments import StrOrPath, did_you_mean
from sentprobe.core.table import plain
from sentprobe.encoders.scheme import SCHEMES
from sentprobe.errors import SentProbeError, UsageError
from sentprobe.report.filters import column_names, set_keys
from sentprobe.report.languages import with_titles
from sentprobe.report.names import model_name, set_names
from sentprobe.report.types import CellSummary, Column, SetSummary, Summary
from sentprobe.tasks import PARAMETRIC_TASKS, TASKS, load_task

TABLES = ("tasks", "sets", "encoders", "blocks")
TEXTS = ("caption", "label")
_ENCODER = re.compile(r"([a-z][a-z0-9]*):([^?@]*)(@[^?]*)?(\?.*)?", re.DOTALL)
_SUFFIXES = re.compile(r"(\.(npy|npz|vec|bin|txt|gz|zst|magnitude|toml|pt|pkl|safetensors))+$", re.IGNORECASE)
_UNSAID = frozenset({"texts", "version", "tokens", "index"})
"""Options that say where vectors are read from, and nothing about the encoder."""


@dataclass(frozen=True)
class Names:
    """What a file calls sets, tasks and encoders."""

    path: str = ""
    tasks: Mapping[str, str] = field(default_factory=dict)
    sets: Mapping[str, str] = field(default_factory=dict)
    encoders: Mapping[str, str] = field(default_factory=dict)
    blocks: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The encoders of each block of rows, in order."""
    caption: str = ""
    label: str = ""

    @classmethod
    def read(cls, path: StrOrPath) -> Names:
        """Read a file of names. UsageError if it has anything else."""
        path = Path(path)
        try:
            content = tomllib.loads(path.read_text("utf-8"))
        except OSError as e:
            raise UsageError(f"{path} cannot be read: {e.strerror or e}. Expected a TOML file of names.") from e
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as e:
            raise UsageError(f"{path}: expected TOML, got an error: {e}.") from e
        for key, value in content.items():
            _check_entry(path, key, value)
        blocks = {title: tuple(names) for title, names in content.pop("blocks", {}).items()}
        return cls(str(path), blocks=blocks, **content)


def _check_entry(path: Path, key: str, value: Any) -> None:
    if key not in (*TABLES, *TEXTS):
        hint = did_you_mean(key, (*TABLES, *TEXTS))
        raise UsageError(f"{path}: {key!r} is not known.{hint} Expected {', '.join((*TABLES, *TEXTS))}.")
    if key in TEXTS:
        if not isinstance(value, str):
            raise UsageError(f"{path}: {key} must be a text, got {value!r:.60}.")
        return
    if not isinstance(value, dict):
        raise UsageError(f"{path}: {key} must be a table, [{key}], got {value!r:.60}.")
    for name, entry in value.items():
        if key == "blocks":
            if not isinstance(entry, list) or not all(isinstance(encoder, str) for encoder in entry):
                raise UsageError(f"{path}: the block {name!r} must be a list of encoders, got {entry!r:.60}.")
        elif not isinstance(entry, str) or not plain(entry):
            raise UsageError(f'{path}: expected {name} = "a name", got {entry!r:.60}.')


def renamed(summary: Summary, names: Names | StrOrPath | None) -> Summary:
    """The summary with the names of a file; numbers and everything that a command selects by stay as they are."""
    if names is None:
        return summary
    if not isinstance(names, Names):
        names = Names.read(names)
    brief = set_names(summary.sets)
    titles = [
        next((names.sets[key] for key in (s.label, s.name, name) if key in names.sets), names.tasks.get(s.task))
        for s, name in zip(summary.sets, brief, strict=True)
    ]
    columns = [
        next((names.encoders[key] for key in keys if key in names.encoders), None) for keys in _column_keys(summary)
    ]
    baselines = {column.encoder: names.encoders.get(column.encoder) for column in summary.baselines}
    return _titled(summary, titles, columns, {name: title for name, title in baselines.items() if title})


def unused_names(summary: Summary, names: Names) -> list[str]:
    """A line for each name in the file that names nothing in the run: it may be misspelled."""
    sets = {key for keys in set_keys(summary) for key in keys[:3]}
    encoders = {key for keys in _column_keys(summary) for key in keys} | {c.encoder for c in summary.baselines}
    keys_by_table = {"sets": sets, "tasks": {s.task for s in summary.sets}, "encoders": encoders}
    lines = [
        f"{names.path}: {name!r} in [{table}] is not in this run.{did_you_mean(name, keys)}"
        for table, keys in keys_by_table.items()
        for name in getattr(names, table)
        if name not in keys
    ]
    lines += [
        f"{names.path}: {name!r} in the block {title!r} is not in this run.{did_you_mean(name, encoders)}"
        for title, members in names.blocks.items()
        for name in members
        if name not in encoders
    ]
    return lines


def in_words(summary: Summary) -> Summary:
    """The summary with names in words, except where it has names of a file."""
    titles = [s.title for s in sets_in_words(summary.sets)]
    return _titled(summary, titles, [c.label[0] for c in columns_in_words(summary.columns)], {})


def sets_in_words(sets: Sequence[SetSummary]) -> list[SetSummary]:
    """Sets with titles in words: of those that are called by their task, and have none yet."""
    return [s if s.title or s.task != s.name.rsplit("/", 1)[-1] else replace(s, title=task_title(s.task)) for s in sets]


def columns_in_words(columns: Sequence[Column]) -> list[Column]:
    """Columns with the names of their encoders in words, unless they have an alias."""
    words = encoder_titles(list(dict.fromkeys(c.encoder for c in columns if c.label[0] == c.encoder)))
    return [_labelled(c, words.get(c.encoder) if c.label[0] == c.encoder else None) for c in columns]


# In words


def task_title(name: str) -> str | None:
    """A task in words, such as ``Subject number``; None for one that is not known, whose name is its user's."""
    title = ""
    with suppress(SentProbeError):  # a task of another package that cannot be loaded
        if name in TASKS or name.partition(".")[0] in PARAMETRIC_TASKS:
            title = load_task(name).title or name.replace("_", " ")
    return f"{title[:1].upper()}{title[1:]}" or None


def encoder_titles(labels: Sequence[str]) -> dict[str, str]:
    """Encoders in words, no two alike: those of a scheme without its options, where that tells them apart."""
    ways = [_encoder_ways(label) for label in labels]
    titles = [way[0] for way in ways]
    for level in (1, 2, 3):
        clashing = {title for title in titles if titles.count(title) > 1}
        titles = [way[level] if title in clashing else title for way, title in zip(ways, titles, strict=True)]
    return dict(zip(labels, titles, strict=True)) if len(set(titles)) == len(titles) else {}


def _encoder_ways(label: str) -> tuple[str, str, str, str]:
    """Ways to name an encoder, from short to full; only its name if it has no scheme."""
    match = _ENCODER.fullmatch(plain(label))
    if match is None or match[1] not in SCHEMES:
        return label, label, label, label
    scheme, name, revision, query = (part or "" for part in match.groups())
    title = scheme
    with suppress(SentProbeError):  # a scheme whose package is not installed
        title = SCHEMES.get(scheme).titles.get(name, title if not name else "")
    body = title or _SUFFIXES.sub("", model_name(name))
    pairs = [option.partition("=")[::2] for option in query.removeprefix("?").split("&") if option]
    settings = [
        "untrained" if key == "random" else f"{key} {PurePath(value).name}"
        for key, value in pairs
        if key not in _UNSAID and (key, value) != ("layer", "*")
    ]
    full_name = ", ".join([body, *([revision.removeprefix("@")] if revision else []), *settings])
    return body, full_name, f"{full_name} ({scheme})", label


# In the summary


def _column_keys(summary: Summary) -> list[tuple[str, ...]]:
    """By what names an encoder goes: as it was typed, its alias, a short name, and with what tells columns apart."""
    return [
        (column.name, column.label[0], column.encoder, *names)
        for column, names in zip(summary.columns, column_names(summary), strict=True)
    ]


def _titled(
    summary: Summary, titles: Sequence[str | None], columns: Sequence[str | None], baselines: Mapping[str, str]
) -> Summary:
    """The summary with these titles of sets, of columns, and of baselines; None: as it is."""
    sets = [replace(s, title=plain(title) if title else s.title) for s, title in zip(summary.sets, titles, strict=True)]
    sets = [
        replace(
            s,
            label=name if s.title else s.label,
            cells=tuple(_against(cell, baselines) for cell in s.cells),
        )
        for s, name in zip(sets, set_names(sets), strict=True)
    ]
    renamed_columns = [_labelled(column, title) for column, title in zip(summary.columns, columns, strict=True)]
    layers = [
        replace(table, cells=tuple(tuple(_against(cell, baselines) for cell in row) for row in table.cells))
        for table in summary.layers
    ]
    correlations = summary.correlations and replace(
        summary.correlations,
        rows=tuple(replace(ref, label=sets[ref.set].label) for ref in summary.correlations.rows),
        columns=tuple(replace(ref, label=sets[ref.set].label) for ref in summary.correlations.columns),
    )
    words = {c.name: new.name for c, new in zip(summary.columns, renamed_columns, strict=True)}
    curves = summary.curves
    # a series of one encoder has its name, the others are in words of their own
    unnamed = dict.fromkeys(p.series for p in (*curves.dimension, *curves.epoch) if p.series not in words)
    series = words | encoder_titles(list(unnamed))
    return replace(
        summary,
        sets=tuple(sets),
        columns=tuple(renamed_columns),
        baselines=tuple(_labelled(column, baselines.get(column.encoder)) for column in summary.baselines),
        layers=tuple(layers),
        correlations=correlations,
        languages=summary.languages and with_titles(summary.languages, sets),
        curves=replace(
            curves,
            dimension=tuple(replace(p, series=series.get(p.series, p.series)) for p in curves.dimension),
            epoch=tuple(replace(p, series=series.get(p.series, p.series)) for p in curves.epoch),
        ),
    )


def _labelled(column: Column, title: str | None) -> Column:
    return column if title is None else replace(column, label=(plain(title), *column.label[1:]))


def _against(cell: CellSummary | None, baselines: Mapping[str, str]) -> CellSummary | None:
    """A cell that names the baseline as its column does."""
    if cell is None or cell.against is None or cell.against.baseline not in baselines:
        return cell
    return replace(cell, against=replace(cell.against, baseline=baselines[cell.against.baseline]))
