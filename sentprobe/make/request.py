"""From names and options to what ``make_sets`` takes."""

from __future__ import annotations

import difflib
import os
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from functools import partial
from pathlib import Path
from typing import Any, get_type_hints

import msgspec

from sentprobe.core.arguments import StringsOrPaths, as_strings
from sentprobe.core.reader import read_lines
from sentprobe.core.words import mark_class
from sentprobe.corpus.corpus import Corpus
from sentprobe.data.expected import sentences_of
from sentprobe.data.sources import find_sets
from sentprobe.errors import SentProbeError, UsageError
from sentprobe.make.exclusion import ExcludedSentences
from sentprobe.make.survey import supported_tasks
from sentprobe.tasks import (
    FIELD_REQUIREMENTS,
    SUITES,
    TASK_SPECIFIC_FIELDS,
    TASKS,
    Policy,
    Task,
    effective_fields,
    load_task,
    parametric_suites,
    suite_tasks,
)

DEFAULT_SUITE = "universal2019"


def select_tasks(
    suites: StringsOrPaths = (),
    tasks: StringsOrPaths = (),
    *,
    sizes: str = "",
    length: str = "",
    settings: StringsOrPaths = (),
    as_published: bool = False,
    corpus: Corpus | None = None,
    jobs: int = 1,
    skip_bad: bool = False,
) -> list[tuple[str, Task, Policy]]:
    """Select tasks by name, each with its policy and your changes to it, for `make_sets`.

    Parameters
    ----------
    suites
        Names of suites; ``universal2019`` if neither suites nor tasks are given.
    tasks
        Names or files of tasks. Together with suites, only these tasks of the suites are selected; alone, a task comes
        under the first policy it has.
    sizes
        Rows in train, validation and test, such as ``10000/1000/1000``; by default those of the paper.
    length
        The minimum and maximum number of tokens in a sentence, such as ``5-28``.
    settings
        Changes to the policies: ``field=value``, or ``task.field=value`` for one task only.
    as_published
        Where policies differ from what their papers say, or released, follow the papers. ``settings`` come after it.
    corpus
        For the suites ``morphology`` and ``relations``, whose tasks depend on it; it is read once more.
    jobs
        Worker processes that read it.
    skip_bad
        Skip its malformed sentences.

    Returns
    -------
    list of (str, Task, Policy)
        The suite, the task and the policy of each set to make.

    Raises
    ------
    UsageError
        If a name, an option or a setting is wrong, or a setting would have no effect.

    Examples
    --------
    >>> import sentprobe
    >>> ((suite, task, policy),) = sentprobe.select_tasks("conneau2018", "bigram_shift", sizes="100/20/20")
    >>> suite, task.name, policy
    ('conneau2018', 'bigram_shift', Policy(sizes=(100, 20, 20)))
    >>> len(sentprobe.select_tasks("universal2019"))
    9
    """
    expand = partial(_supported, corpus=corpus, jobs=jobs, skip_bad=skip_bad)
    found = _named(as_strings(suites, "the name of a suite"), as_strings(tasks, "the name or file of a task"), expand)
    if as_published:
        if not any(task.as_published.get(name) for name, task, _ in found):
            raise UsageError("--as-published: it would have no effect on these tasks, which follow their papers.")
        found = [(name, task, replace(policy, **task.as_published.get(name, {}))) for name, task, policy in found]
    for name, task, _ in found:
        if not all(re.fullmatch(rf"\w[\w.{mark_class()}-]*", part) for part in (name, task.name)):
            raise UsageError(f"Suites and tasks need plain names, which become folders; got {name!r}, {task.name!r}.")
    twice = Counter(f"{name}/{task.name}" for name, task, _ in found).most_common(1)
    if twice and twice[0][1] > 1:
        raise UsageError(f"{twice[0][0]} was requested twice; one set would overwrite the other.")
    changes = [_setting(text) for text in as_strings(settings, "a setting")]
    for only, _, _ in changes:
        if only is not None and only not in {t.name for _, t, _ in found}:
            raise UsageError(f"--set {only}.…: {only} is not among the tasks to make.")
    common: dict[str, Any] = {}
    if sizes:
        common["sizes"] = parse_sizes(sizes)
    if length:
        common["length"] = parse_length(length)
    out = []
    used: set[str] = set()
    for name, task, policy in found:
        mine = {field: value for only, field, value in changes if only in (None, task.name)}
        changed = replace(policy, **(common | mine))
        known = effective_fields(task, changed, changed.readings or task.readings)
        for only, field, _ in changes:
            if only == task.name and field not in known:
                raise _no_effect(field, [task])
        # a setting for all tasks goes to those that use it, and the manifests of the others do not mention it
        changed = replace(policy, **{field: value for field, value in (common | mine).items() if field in known})
        used |= known
        if unknown := [r for r in changed.readings if r not in task.readings]:
            raise UsageError(f"{task.name} has no reading {unknown[0]!r}; it has {', '.join(task.readings)}.")
        out.append((name, task, changed))
    for _, field, _ in changes:
        if field not in used:
            raise _no_effect(field, [task for _, task, _ in found])
    return out


def _no_effect(field: str, tasks: Sequence[Task]) -> UsageError:
    """The error for a setting that changes no set, with the tasks that use it."""
    using = [
        f"{t.name} ({' and '.join(r)} reading)" if r else t.name
        for t in map(load_task, TASKS)
        if (r := _readings_using(t, field)) is not None
    ]
    where = f" {field} is used by {', '.join(using)}." if field in TASK_SPECIFIC_FIELDS and using else ""
    needs = f" It needs {FIELD_REQUIREMENTS[field]}." if field in FIELD_REQUIREMENTS else ""
    return UsageError(f"--set {field}: it would have no effect on {', '.join(t.name for t in tasks)}.{where}{needs}")


def _readings_using(task: Task, field: str) -> list[str] | None:
    """The readings of a task that use a field, none if all do; None if the task does not use it."""
    if task.settings is None or field in task.settings:
        return []
    return [r for r in task.readings if f"{r}.{field}" in task.settings] or None


def _supported(suite_name: str, corpus: Corpus | None, jobs: int, skip_bad: bool) -> list[Task]:
    """The tasks of a suite; those of a parametric one depend on the corpus."""
    part = parametric_suites().get(suite_name)
    if part is None:
        return [load_task(name) for name in suite_tasks(suite_name)]
    if corpus is None:
        raise UsageError(
            f"The tasks of the suite {suite_name} depend on the corpus: give it as `corpus`, or name tasks, such as "
            f"{part.name}:{part.example}."
        )
    return supported_tasks(part, corpus, jobs, skip_bad)


def _named(
    suites: Sequence[str], tasks: Sequence[str], expand: Callable[[str], list[Task]]
) -> list[tuple[str, Task, Policy]]:
    """What the names mean: suites, tasks of suites, or tasks alone."""
    requested = [load_task(name) for name in tasks]
    found: list[tuple[str, Task, Policy]] = []
    for name in suites or (() if tasks else (DEFAULT_SUITE,)):
        members = expand(name)
        wanted = {t.name for t in requested}
        found += [(name, t, t.policies[name]) for t in members if not tasks or t.name in wanted]
    for task in requested:
        if task.name in [t.name for _, t, _ in found]:
            continue
        first = next(iter(task.policies))
        if suites and (first in SUITES or first in parametric_suites()):
            raise UsageError(
                f"The task {task.name} is not in {' or '.join(suites)}; it is in {', '.join(task.policies)}."
            )
        found.append((first, task, task.policies[first]))
    return found


def parse_sizes(text: str) -> tuple[int, int, int]:
    """``10000/1000/1000`` → three positive numbers."""
    parts = re.split(r"[/,:]", text.replace("_", ""))
    if len(parts) != 3 or not all(p.strip().isdecimal() and int(p) > 0 for p in parts):
        raise UsageError(f"--sizes {text}: expected three positive numbers such as 10000/1000/1000.")
    return int(parts[0]), int(parts[1]), int(parts[2])


def parse_length(text: str) -> tuple[int, int]:
    """``5-28`` → (5, 28)."""
    match = re.fullmatch(r"(\d+)-(\d+)", text)
    if not match or not 1 <= int(match[1]) <= int(match[2]):
        raise UsageError(f"--length {text}: expected the minimum and maximum number of tokens, such as 5-28.")
    return int(match[1]), int(match[2])


def check_writable(folder: Path | str) -> None:
    """Refuse a folder that cannot be written to, before any work is done; nothing is created yet."""
    folder = Path(folder)
    there = next(p for p in (folder, *folder.absolute().parents) if p.exists())
    if not there.is_dir() or not os.access(there, os.W_OK):
        raise UsageError(
            f"--out {folder}: {there} is {'not writable' if there.is_dir() else 'a file'}; name another folder."
        )


def read_excluded(path: Path | str) -> ExcludedSentences:
    """The sentences of a file, one per line, or of sets, and those that they were made from."""
    path = os.fspath(path)
    try:
        sources = find_sets(path)
    except SentProbeError:
        if Path(path).is_dir():
            raise
        sources = []  # a plain list of sentences, or an error below
    if not sources:
        return ExcludedSentences.of(line for _, line in read_lines(path) if line.strip())
    return ExcludedSentences.of(text for source in sources for text in sentences_of(source.load()))


def _setting(text: str) -> tuple[str | None, str, Any]:
    """``[task.]field=value`` → (task or None, field, value of the field's type)."""
    left, equals, value = text.partition("=")
    only, dot, field = left.rpartition(".")
    kinds = get_type_hints(Policy)
    if not equals or field not in kinds:
        near = difflib.get_close_matches(field, kinds, n=1)
        hint = f" Did you mean {near[0]}?" if near else f" The fields are {', '.join(f.name for f in fields(Policy))}."
        raise UsageError(f"--set {text}: expected [task.]field=value with a field of the policy.{hint}")
    for raw in (value, f'"{value}"'):
        try:
            return only if dot else None, field, msgspec.json.decode(raw, type=kinds[field])
        except (msgspec.ValidationError, msgspec.DecodeError) as e:
            problem = e
    raise UsageError(f"--set {text}: {problem}. Lists are written as in JSON, such as [5,28].")
