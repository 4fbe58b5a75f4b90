"""What encoders show in one language beside another: profiles over tasks, and how far they agree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
from scipy.stats import rankdata

from sonde.published import TRANSFER, published
from sonde.report.correlations import MIN_ENCODERS, comparable_columns
from sonde.report.summary import done, value_of
from sonde.tasks import SUITES

TASK_ALIASES = {
    "SICKEntailment": "Entailment",
    "CDSEntailment": "Entailment",
    "SICKRelatedness": "Relatedness",
    "CDSRelatedness": "Relatedness",
}
"""Sets that ask the same of different languages: table 1 of Krasnowska-Kieraś and Wróblewska (2019)."""

Task = tuple[str, str]
"""A suite, or nothing, and a task of it."""


def languages(summary: Mapping[str, Any]) -> dict[str, Any] | None:
    """Tasks that there are in two languages or more, and correlations between these; None if there are none.

    Correlations are by encoder over tasks and by task over encoders, of which it takes three. Of several sets of one
    task and language all are in the profiles, and the first that an encoder has a number for is correlated.
    """
    places: dict[Task, dict[str, list[int]]] = {}
    for i, set_summary in enumerate(summary["sets"]):
        language = _language(set_summary)
        if language is not None:
            places.setdefault(_task(set_summary), {}).setdefault(language, []).append(i)
    shared = {task: found for task, found in places.items() if len(found) > 1}
    if not shared:
        return None
    names = _named(list(shared))
    spoken = list(dict.fromkeys(language for found in shared.values() for language in found))
    tables = {
        i: {task: _values(summary, i, found) for task, found in shared.items()} for i in range(len(summary["columns"]))
    }
    return {
        "languages": spoken,
        "tasks": list(names.values()),
        "profiles": _profiles(summary["sets"], shared, names),
        "by_encoder": [
            {"column": i, **found} for i, table in tables.items() for found in _correlated(list(table.values()), spoken)
        ],
        "by_task": [
            {"task": names[task], **found}
            for task in shared
            for found in _correlated([tables[i][task] for i in comparable_columns(summary["columns"])], spoken)
        ],
    }


def _language(set_summary: Mapping[str, Any]) -> str | None:
    """The language of a set. Where SentEval's folders do not tell, it is the only one that its task was printed in."""
    known: str | None = set_summary["language"]
    if known is None and set_summary["task"] in TRANSFER:
        printed = {row.language for row in published(set_summary["task"])}
        return printed.pop() if len(printed) == 1 else None
    return known


def _task(set_summary: Mapping[str, Any]) -> Task:
    suite = next((part for part in set_summary["name"].split("/") if part in SUITES), "")
    return suite, TASK_ALIASES.get(set_summary["task"], set_summary["task"])


def _named(tasks: Sequence[Task]) -> dict[Task, str]:
    """What each task is called: with its suite only where two have a task of that name."""
    names = [name for _, name in tasks]
    return {(suite, name): name if names.count(name) == 1 or not suite else f"{suite}/{name}" for suite, name in tasks}


def _profiles(
    sets: Sequence[Mapping[str, Any]], shared: Mapping[Task, Mapping[str, Sequence[int]]], names: Mapping[Task, str]
) -> list[dict[str, Any]]:
    return [
        {"language": language, "task": names[task], "set": i, "column": j}
        | {name: cell["score"][name] for name in ("value", "low", "high")}
        for task, found in shared.items()
        for language, numbers in found.items()
        for i in numbers
        for j, cell in enumerate(sets[i]["cells"])
        if done(cell) and value_of(cell) is not None
    ]


def _values(summary: Mapping[str, Any], column: int, found: Mapping[str, Sequence[int]]) -> dict[str, float]:
    """The number of a column on a task, by language."""
    values = {
        language: [v for i in numbers if (v := value_of(summary["sets"][i]["cells"][column])) is not None]
        for language, numbers in found.items()
    }
    return {language: numbers[0] for language, numbers in values.items() if numbers}


def _correlated(rows: Sequence[Mapping[str, float]], spoken: Sequence[str]) -> list[dict[str, Any]]:
    """Every two languages over rows that have a number in both; none where one of them has the same number always.

    No interval is shown, which ``correlate`` would spend its time on.
    """
    found = []
    for one, two in combinations(spoken, 2):
        pairs = np.array([(row[one], row[two]) for row in rows if one in row and two in row]).T
        if pairs.size >= 2 * MIN_ENCODERS and (np.ptp(pairs, axis=1) > 0).all():
            sides = {"spearman": rankdata(pairs, axis=1), "pearson": pairs}
            values = {kind: float(np.corrcoef(x, y).clip(-1.0, 1.0)[0, 1]) for kind, (x, y) in sides.items()}
            found.append({"one": one, "two": two, **values, "n": pairs.shape[1]})
    return found
