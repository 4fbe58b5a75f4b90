"""Encoders in one language and in another: profiles over tasks, and how well languages agree."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from sentprobe.published import TRANSFER, published
from sentprobe.report.cells import value_of
from sentprobe.report.correlations import MIN_ENCODERS, comparable_columns
from sentprobe.report.names import listed
from sentprobe.report.types import LanguageComparison, LanguageCorrelation, ProfilePoint, SetSummary, Summary
from sentprobe.run.info import Diagnosis
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


def languages(summary: Summary) -> LanguageComparison | None:
    """Tasks that exist in two languages or more, and correlations between these; None if there are none.

    Correlations are by encoder over tasks and by task over encoders, of which it takes three. Of several sets of one
    task and language all are in the profiles, and the first that an encoder has a number for is correlated.
    """
    sets_by_task: dict[Task, dict[str, list[int]]] = {}
    for i, s in enumerate(summary.sets):
        language = language_of(s)
        if language is not None:
            sets_by_task.setdefault(task_of(s), {}).setdefault(language, []).append(i)
    shared = {task: by_language for task, by_language in sets_by_task.items() if len(by_language) > 1}
    if not shared:
        return None
    names = named_tasks(list(shared))
    codes = tuple(dict.fromkeys(language for by_language in shared.values() for language in by_language))
    tables = {
        i: {task: _values(summary, i, by_language) for task, by_language in shared.items()}
        for i in range(len(summary.columns))
    }
    return LanguageComparison(
        languages=codes,
        tasks=tuple(names.values()),
        profiles=_profiles(summary.sets, shared, names),
        by_encoder=tuple(
            replace(correlation, column=i)
            for i, table in tables.items()
            for correlation in _correlated(list(table.values()), codes)
        ),
        by_task=tuple(
            replace(correlation, task=names[task])
            for task in shared
            for correlation in _correlated([tables[i][task] for i in comparable_columns(summary.columns)], codes)
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


def task_means(comparison: LanguageComparison, sets: Sequence[SetSummary]) -> list[TaskMean]:
    """The mean of each task over encoders and languages, one set of each task, language and encoder."""
    classes: dict[str, set[int]] = {}
    values: dict[str, dict[tuple[str, int], float]] = {}
    for point in comparison.profiles:
        values.setdefault(point.task, {}).setdefault((point.language, point.column), point.value)
        classes.setdefault(point.task, set()).add(sets[point.set].classes)
    rows = []
    for task, scores in values.items():
        every = np.array(list(scores.values()))
        means = [
            [value for (code, _), value in scores.items() if code == language] for language in comparison.languages
        ]
        by_language = tuple(float(np.mean(language_scores)) if language_scores else None for language_scores in means)
        mean, spread = (float(every.mean()), float(every.std())) if len(classes[task]) == 1 else (None, None)
        rows.append(TaskMean(task, mean, spread, len(every), by_language))
    return rows


def class_note(sets: Iterable[SetSummary]) -> str:
    """Which tasks have sets with different numbers of classes, as after ``sentprobe make --relax``; empty if none."""
    classes: dict[Task, dict[str, dict[int, None]]] = {}
    for s in sets:
        classes.setdefault(task_of(s), {}).setdefault(language_of(s) or "an unknown language", {})[s.classes] = None
    differing = {
        task: by_language
        for task, by_language in classes.items()
        if len({n for numbers in by_language.values() for n in numbers}) > 1
    }
    tasks = []
    for task, name in named_tasks(list(differing)).items():
        counts = [f"{' or '.join(map(str, numbers))} classes in {code}" for code, numbers in differing[task].items()]
        tasks.append(f"{name} has {listed(counts)}")
    return f"{'; '.join(tasks)}. {CHANCE_DIFFERS}" if tasks else ""


def language_notes(diagnoses: Iterable[Diagnosis], aliases: Mapping[str, str]) -> list[str]:
    """Which encoders were not made for the language of a set."""
    notes = []
    for diagnosis in diagnoses:
        title = aliases.get(diagnosis.name, diagnosis.name.removesuffix(":"))
        messages = [symptom.message for symptom in diagnosis.symptoms if symptom.code == "wrong-language"]
        notes += [f"{title}: {message[:1].lower()}{message[1:]}" for message in messages]
    return notes


def class_notes(summary: Summary, rows: Iterable[Mapping[str, Any]]) -> list[str]:
    """Which sets among those that a chart draws have different numbers of classes; for ``Chart.notes``."""
    note = class_note(summary.sets[i] for i in dict.fromkeys(row["set"] for row in rows))
    return [note] if note else []


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


def named_tasks(tasks: Sequence[Task], titles: Mapping[Task, str] | None = None) -> dict[Task, str]:
    """The name of each task, or its title: with its suite only where two suites have a task of that name."""
    names = [name for _, name in tasks]
    brief = {task for task in tasks if names.count(task[1]) == 1 or not task[0]}
    return {task: _task_name(task, (titles or {}).get(task), brief=task in brief) for task in tasks}


def _task_name(task: Task, title: str | None, *, brief: bool) -> str:
    suite, name = task
    if brief:
        return title or name
    return f"{title} ({suite})" if title else f"{suite}/{name}"


def titles_of(sets: Iterable[SetSummary]) -> dict[Task, str]:
    """Tasks in words, as far as sets have such names."""
    return {task_of(s): s.title for s in sets if s.title}


def with_titles(languages: LanguageComparison, sets: Sequence[SetSummary]) -> LanguageComparison:
    """A comparison of languages with the names that tasks have in words."""
    tasks = list(dict.fromkeys(map(task_of, sets)))
    names = named_tasks(tasks, titles_of(sets))
    title_of = {_task_name(task, None, brief=brief): names[task] for brief in (False, True) for task in tasks}
    return replace(
        languages,
        tasks=tuple(title_of.get(task, task) for task in languages.tasks),
        profiles=tuple(replace(point, task=title_of.get(point.task, point.task)) for point in languages.profiles),
        by_task=tuple(replace(c, task=title_of.get(c.task or "", c.task)) for c in languages.by_task),
    )


def _profiles(
    sets: Sequence[SetSummary], shared: Mapping[Task, Mapping[str, Sequence[int]]], names: Mapping[Task, str]
) -> tuple[ProfilePoint, ...]:
    return tuple(
        ProfilePoint(
            language=language, task=names[task], set=i, column=j, value=value, low=cell.score.low, high=cell.score.high
        )
        for task, by_language in shared.items()
        for language, numbers in by_language.items()
        for i in numbers
        for j, cell in enumerate(sets[i].cells)
        if cell is not None and (value := value_of(cell)) is not None
    )


def _values(summary: Summary, column: int, by_language: Mapping[str, Sequence[int]]) -> dict[str, float]:
    """The number of a column on a task, by language."""
    values = {
        language: [v for i in numbers if (v := value_of(summary.sets[i].cells[column])) is not None]
        for language, numbers in by_language.items()
    }
    return {language: numbers[0] for language, numbers in values.items() if numbers}


def _correlated(rows: Sequence[Mapping[str, float]], codes: Sequence[str]) -> list[LanguageCorrelation]:
    """Every two languages over rows with a number in both; none where one language has the same number throughout.

    No interval is shown, so ``correlate``, which would resample for one, is not used.
    """
    correlations = []
    for first, second in combinations(codes, 2):
        pairs = np.array([(row[first], row[second]) for row in rows if first in row and second in row]).T
        if pairs.size >= 2 * MIN_ENCODERS and (np.ptp(pairs, axis=1) > 0).all():
            spearman, pearson = (float(np.corrcoef(x, y).clip(-1.0, 1.0)[0, 1]) for x, y in (ranks(pairs), pairs))
            correlations.append(
                LanguageCorrelation(one=first, two=second, spearman=spearman, pearson=pearson, n=pairs.shape[1])
            )
    return correlations
