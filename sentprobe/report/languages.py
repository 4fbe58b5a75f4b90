"""Encoders in one language and in another: profiles over tasks, and how well languages agree."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from sentprobe.published import TRANSFER, published
from sentprobe.report.cells import value_of
from sentprobe.report.correlations import MIN_ENCODERS, comparable_columns
from sentprobe.report.names import listed
from sentprobe.report.types import LanguageComparison, LanguageCorrelation, ProfilePoint, SetSummary, Summary
from sentprobe.stats.correlation import ranks
from sentprobe.tasks import SUITES

TASK_ALIASES = {
    "SICKEntailment": "Entailment",
    "CDSEntailment": "Entailment",
    "SICKRelatedness": "Relatedness",
    "CDSRelatedness": "Relatedness",
}
"""Sets with the same task in different languages: table 1 of Krasnowska-Kieraś and Wróblewska (2019)."""

CHANCE_DIFFERS = (
    "Chance levels differ, so that scores are not comparable across these sets, and neither ratios nor means of them "
    "are shown."
)
Task = tuple[str, str]
"""A suite, or nothing, and a task of it."""


class Agreement(NamedTuple):
    """The correlations of two languages."""

    one: str
    two: str
    spearman: float
    pearson: float
    n: int


def languages(summary: Summary) -> LanguageComparison | None:
    """Tasks that exist in two languages or more, and correlations between these; None if there are none.

    Correlations are by encoder over tasks and by task over encoders, of which it takes three. Of several sets of one
    task and language all are in the profiles, and the first that an encoder has a number for is correlated.
    """
    places: dict[Task, dict[str, list[int]]] = {}
    for i, s in enumerate(summary.sets):
        language = language_of(s)
        if language is not None:
            places.setdefault(task_of(s), {}).setdefault(language, []).append(i)
    shared = {task: found for task, found in places.items() if len(found) > 1}
    if not shared:
        return None
    names = named_tasks(list(shared))
    codes = tuple(dict.fromkeys(language for found in shared.values() for language in found))
    tables = {
        i: {task: _values(summary, i, found) for task, found in shared.items()} for i in range(len(summary.columns))
    }
    return LanguageComparison(
        languages=codes,
        tasks=tuple(names.values()),
        profiles=_profiles(summary.sets, shared, names),
        by_encoder=tuple(
            LanguageCorrelation(**found._asdict(), column=i)
            for i, table in tables.items()
            for found in _correlated(list(table.values()), codes)
        ),
        by_task=tuple(
            LanguageCorrelation(**found._asdict(), task=names[task])
            for task in shared
            for found in _correlated([tables[i][task] for i in comparable_columns(summary.columns)], codes)
        ),
    )


class TaskMean(NamedTuple):
    """A task over all encoders and languages, as in table 1 of Ravishankar et al. (2019)."""

    task: str
    mean: float | None
    """None: the task has different numbers of classes, so that there is no mean over languages."""
    spread: float | None
    """The standard deviation over all numbers, as if they were all there are."""
    n: int
    by_language: tuple[float | None, ...]
    """The mean over encoders in each language."""


def task_means(found: LanguageComparison, sets: Sequence[SetSummary]) -> list[TaskMean]:
    """The mean of each task over encoders and languages, one set of each task, language and encoder."""
    classes: dict[str, set[int]] = {}
    values: dict[str, dict[tuple[str, int], float]] = {}
    for point in found.profiles:
        values.setdefault(point.task, {}).setdefault((point.language, point.column), point.value)
        classes.setdefault(point.task, set()).add(sets[point.set].classes)
    rows = []
    for task, own in values.items():
        every = np.array(list(own.values()))
        means = [[value for (code, _), value in own.items() if code == language] for language in found.languages]
        by_language = tuple(float(np.mean(some)) if some else None for some in means)
        mean, spread = (float(every.mean()), float(every.std())) if len(classes[task]) == 1 else (None, None)
        rows.append(TaskMean(task, mean, spread, len(every), by_language))
    return rows


def class_note(sets: Iterable[SetSummary]) -> str:
    """Which tasks have sets with different numbers of classes, as after ``sentprobe make --relax``; empty if none."""
    classes: dict[Task, dict[str, dict[int, None]]] = {}
    for s in sets:
        classes.setdefault(task_of(s), {}).setdefault(language_of(s) or "an unknown language", {})[s.classes] = None
    differing = {task: own for task, own in classes.items() if len({n for some in own.values() for n in some}) > 1}
    tasks = [
        f"{name} has {listed([f'{_either(own)} classes in {code}' for code, own in differing[task].items()])}"
        for task, name in named_tasks(list(differing)).items()
    ]
    return f"{'; '.join(tasks)}. {CHANCE_DIFFERS}" if tasks else ""


def _either(numbers: Iterable[int]) -> str:
    return " or ".join(map(str, numbers))


def language_of(s: SetSummary) -> str | None:
    """The language of a set. Where SentEval's folders do not say, it is the only one that its task was printed in."""
    if s.language is None and s.task in TRANSFER:
        printed = {row.language for row in published(s.task)}
        return printed.pop() if len(printed) == 1 else None
    return s.language


def task_of(s: SetSummary) -> Task:
    """The suite and the task of a set, under one name where languages name it differently."""
    suite = next((part for part in s.name.split("/") if part in SUITES), "")
    return suite, TASK_ALIASES.get(s.task, s.task)


def named_tasks(tasks: Sequence[Task]) -> dict[Task, str]:
    """The name of each task: with its suite only where two suites have a task of that name."""
    names = [name for _, name in tasks]
    return {(suite, name): name if names.count(name) == 1 or not suite else f"{suite}/{name}" for suite, name in tasks}


def _profiles(
    sets: Sequence[SetSummary], shared: Mapping[Task, Mapping[str, Sequence[int]]], names: Mapping[Task, str]
) -> tuple[ProfilePoint, ...]:
    return tuple(
        ProfilePoint(
            language=language, task=names[task], set=i, column=j, value=value, low=cell.score.low, high=cell.score.high
        )
        for task, found in shared.items()
        for language, numbers in found.items()
        for i in numbers
        for j, cell in enumerate(sets[i].cells)
        if cell is not None and (value := value_of(cell)) is not None
    )


def _values(summary: Summary, column: int, found: Mapping[str, Sequence[int]]) -> dict[str, float]:
    """The number of a column on a task, by language."""
    values = {
        language: [v for i in numbers if (v := value_of(summary.sets[i].cells[column])) is not None]
        for language, numbers in found.items()
    }
    return {language: numbers[0] for language, numbers in values.items() if numbers}


def _correlated(rows: Sequence[Mapping[str, float]], codes: Sequence[str]) -> list[Agreement]:
    """Every two languages over rows with a number in both; none where one language has the same number throughout.

    No interval is shown, so ``correlate``, which would resample for one, is not used.
    """
    found = []
    for one, two in combinations(codes, 2):
        pairs = np.array([(row[one], row[two]) for row in rows if one in row and two in row]).T
        if pairs.size >= 2 * MIN_ENCODERS and (np.ptp(pairs, axis=1) > 0).all():
            spearman, pearson = (float(np.corrcoef(x, y).clip(-1.0, 1.0)[0, 1]) for x, y in (ranks(pairs), pairs))
            found.append(Agreement(one, two, spearman, pearson, pairs.shape[1]))
    return found
