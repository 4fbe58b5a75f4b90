"""Which sets and encoders of a run are shown: by name, or those that are significantly above the best baseline.

A filter changes what is shown and no number: letters and p-values stay adjusted over all encoders of the run.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import TypeVar

from sentprobe.errors import UsageError
from sentprobe.report.names import set_names, short_names
from sentprobe.report.result_grid import identity_digest, missing_notes
from sentprobe.report.types import HumanResult, MissingCells, PairDifference, SetSummary, Summary
from sentprobe.report.verdict import verdict_of
from sentprobe.results.metric import metric_named
from sentprobe.results.result import Cell

T = TypeVar("T")


@dataclass(frozen=True)
class Filter:
    """What to show: nothing given means everything."""

    encoders: tuple[str, ...] = ()
    sets: tuple[str, ...] = ()
    above: bool = False
    """Only sets on which an encoder is significantly better than the best baseline, and encoders that are so on one."""
    tasks: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        """Whether anything is left out."""
        return bool(self.encoders or self.sets or self.tasks or self.languages or self.above)


def find_sets_of(summary: Summary, texts: Sequence[str]) -> tuple[int, ...]:
    """The numbers of the sets with these names."""
    return find_named("set", texts, set_keys(summary))


def set_keys(summary: Summary) -> list[tuple[str, ...]]:
    """Names of each set: a short one, the label, the full one, and the task."""
    names = set_names(summary.sets)
    return [(name, s.label, s.name, s.task) for name, s in zip(names, summary.sets, strict=True)]


def column_names(summary: Summary) -> list[tuple[str, ...]]:
    """Names of each encoder: a short one, the full one, and what was typed."""
    full = [column.name for column in summary.columns]
    typed = [column.encoder for column in summary.columns]
    return list(zip(short_names(full), full, typed, strict=True))


def find_named(what: str, texts: Sequence[str], names: Sequence[tuple[str, ...]]) -> tuple[int, ...]:
    """The numbers of everything that has one of these names, or else contains it in its name, or matches it as a glob.

    Case counts for whole names only.
    """
    selected: dict[int, None] = {}
    for text in texts:
        near = [i for i, aliases in enumerate(names) if text in aliases]
        near = near or [i for i, aliases in enumerate(names) if text and any(_matches(name, text) for name in aliases)]
        if not near:
            hint = f" Did you mean {close}?" if (close := _closest(text, names)) else ""
            available = ", ".join(aliases[0] for aliases in names) or "none"
            raise UsageError(f"There is no {what} {text!r} in the run.{hint} It has {available}.")
        selected.update(dict.fromkeys(near))
    return tuple(selected)


def _closest(text: str, names: Sequence[tuple[str, ...]]) -> str | None:
    """The name that was probably meant: one that is similar, or has a similar word in it."""
    words = {
        word: aliases[0]
        for aliases in reversed(names)
        for name in aliases
        for word in re.split(r"[\W_]+", name.lower())
    }
    by_word = words | {name.lower(): name for aliases in names for name in aliases}
    return next((by_word[word] for word in difflib.get_close_matches(text.lower(), list(by_word), n=1)), None)


def _matches(name: str, text: str) -> bool:
    name, text = name.lower(), text.lower()
    return text in name or fnmatchcase(name, text)


def apply(summary: Summary, wanted: Filter) -> Summary:
    """The summary of what is wanted, with a note on what is left out.

    Raises
    ------
    UsageError
        If the run has no set or encoder of a given name.
    """
    if not wanted:
        return summary
    columns = sorted(find_named("encoder", wanted.encoders, column_names(summary))) or range(len(summary.columns))
    sets: Sequence[int] = sorted(find_sets_of(summary, wanted.sets)) or range(len(summary.sets))
    sets = _that_are(sets, "task", wanted.tasks, [s.task for s in summary.sets])
    sets = _that_are(sets, "language", wanted.languages, [s.language for s in summary.sets])
    cells = [cell for i in sets for j in columns if (cell := summary.sets[i].cells[j]) is not None]
    tested = any(cell.against is not None and cell.against.p is not None for cell in cells)
    if wanted.above:
        above = {(i, j) for i in sets for j in columns if verdict_of(summary.sets[i].cells[j]) == "above"}
        sets = sorted({i for i, _ in above})
        columns = sorted({j for _, j in above})
    return _restricted(summary, list(columns), list(sets), _note(summary, columns, sets, wanted.above, tested))


def restricted(summary: Summary, columns: Sequence[int], sets: Sequence[int]) -> Summary:
    """The summary of these encoders and sets, in this order, with a note if it is not all of them."""
    if list(columns) == [*range(len(summary.columns))] and list(sets) == [*range(len(summary.sets))]:
        return summary
    everything = len(set(columns)) == len(summary.columns) and len(set(sets)) == len(summary.sets)
    note = "" if everything else _note(summary, columns, sets, above=False, tested=True)
    return _restricted(summary, columns, sets, note)


def _that_are(sets: Sequence[int], what: str, wanted: Sequence[str], values: Sequence[str | None]) -> Sequence[int]:
    """The sets whose task or language is wanted; all if none is named."""
    for text in wanted:
        if text not in values:
            available = ", ".join(dict.fromkeys(value or "unknown" for value in values)) or "none"
            raise UsageError(f"--{what} {text}: no set of the run has this {what}; they have {available}.")
    return [i for i in sets if values[i] in wanted] if wanted else sets


def keeps(summary: Summary, cell: Cell) -> bool:
    """Whether a result is of what is shown: of its sets, and of its encoders or baselines."""
    if cell.data not in {s.data for s in summary.sets}:
        return False
    plain = cell.variant is None  # controls and measures may have other probes, and other weights
    return any(
        cell.encoder in c.encoders
        and c.limit == cell.limit
        and (
            not plain
            or (cell.probe in (c.probe, None) and (c.trainings or identity_digest(cell.identity) == c.identity))
        )
        for c in (*summary.columns, *summary.baselines)
    )


def _note(summary: Summary, columns: Sequence[int], sets: Sequence[int], above: bool, tested: bool) -> str:
    if above and not tested:
        return f"Nothing is shown by --above: no {_metric_name(summary)} of these sets was tested against a baseline."
    if above and not sets:
        return "No encoder is significantly better than the best baseline on any of these sets."
    which = " (--above: those with a result significantly better than the best baseline)" if above else ""
    return (
        f"Shown: {len(columns)} of {len(summary.columns)} encoders, {len(sets)} of {len(summary.sets)} sets{which}; "
        "tests are adjusted over all encoders of the run."
    )


def _metric_name(summary: Summary) -> str:
    return "score" if summary.by_set_metric else metric_named(summary.metric).title.removeprefix("mean ")


def _restricted(summary: Summary, columns: Sequence[int], sets: Sequence[int], note: str) -> Summary:
    names = {name for i in columns for name in (summary.columns[i].encoder, *summary.columns[i].trainings)}
    names |= {c.encoder for c in summary.baselines}
    labels = {summary.sets[i].name for i in sets}
    new_index = {old: new for new, old in enumerate(columns)}
    variants = {v.of for i in sets for j in columns for v in _of(summary.sets[i].variants, [j], ())[0]}
    missing = tuple(_missing(summary, names, labels))
    return replace(
        summary,
        hidden_columns=summary.hidden_columns + len(summary.columns) - len(columns),
        hidden_sets=summary.hidden_sets + len(summary.sets) - len(sets),
        columns=tuple(summary.columns[i] for i in columns),
        sets=tuple(_columns_of(summary.sets[i], columns) for i in sets),
        transfer=tuple(summary.transfer[i] for i in columns),
        training=tuple(summary.training[i] for i in columns) if summary.training else (),
        layers=tuple(
            replace(
                table, column=new_index[table.column], cells=tuple(tuple(row[i] for i in sets) for row in table.cells)
            )
            for table in summary.layers
            if table.column in new_index and sets
        ),
        interpretations={name: text for name, text in summary.interpretations.items() if name in variants},
        diagnoses=tuple(d for d in summary.diagnoses if d.name in names),
        failures=tuple(
            f
            for f in summary.failures
            if (f.encoder is None or f.encoder in names) and (f.dataset is None or f.dataset in labels)
        ),
        notes=(*([note] if note else []), *_notes(summary, missing, labels)),
        missing=missing,
    )


def _missing(summary: Summary, names: Set[str], sets: Set[str]) -> Iterator[MissingCells]:
    """What is missing of what is shown."""
    for missing in summary.missing:
        missing_sets = tuple(name for name in missing.sets if name in sets)
        if missing.encoder in names and missing_sets:
            yield replace(missing, sets=missing_sets, requested=min(missing.requested, len(sets)))


def _notes(summary: Summary, missing: Sequence[MissingCells], sets: Set[str]) -> list[str]:
    """The notes, with only what is missing of what is shown."""
    old = set(missing_notes(summary.missing, [s.name for s in summary.sets]))
    return [*(note for note in summary.notes if note not in old), *missing_notes(missing, sorted(sets))]


def _columns_of(s: SetSummary, columns: Sequence[int]) -> SetSummary:
    failed: Mapping[int, str] = {new: s.failed[old] for new, old in enumerate(columns) if old in s.failed}
    return replace(
        s,
        cells=tuple(_of(s.cells, columns, None)),
        variants=tuple(_of(s.variants, columns, ())),
        failed=failed,
        meanings=tuple(_of(s.meanings, columns, None)) if s.meanings else (),
        people=s.people and _people_of(s.people, columns),
        pair=s.pair and _pair_of(s.pair, columns),
    )


def _pair_of(pair: PairDifference, columns: Sequence[int]) -> PairDifference | None:
    """The difference of two columns by their new numbers; None if one of them is left out."""
    if not {pair.first, pair.second} <= {*columns}:
        return None
    return replace(pair, first=columns.index(pair.first), second=columns.index(pair.second))


def _people_of(people: HumanResult, columns: Sequence[int]) -> HumanResult:
    answers = tuple(replace(a, columns=tuple(_of(a.columns, columns, None))) for a in people.answers)
    return replace(people, columns=tuple(_of(people.columns, columns, None)), answers=answers)


def _of(values: Sequence[T], columns: Sequence[int], missing: T) -> list[T]:
    """The values of these columns; a set without any has none."""
    return [values[i] if values else missing for i in columns]
