"""What to make: from names of suites and tasks, settings and lists of sentences to what ``make_sets`` takes."""

from __future__ import annotations

import difflib
import os
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from functools import partial
from pathlib import Path
from typing import Any, get_type_hints

import msgspec

from sentprobe.core.arguments import StringsOrPaths, as_strings
from sentprobe.core.reader import read_lines
from sentprobe.core.words import mark_class
from sentprobe.corpus.corpus import Corpus
from sentprobe.data.expectations import sentences_of
from sentprobe.data.sources import find_sets
from sentprobe.errors import SentProbeError, UsageError
from sentprobe.make.filters import ExcludedSentences
from sentprobe.make.passes import count
from sentprobe.sentence import Sentence
from sentprobe.tasks import (
    FIELD_REQUIREMENTS,
    SUITES,
    TASK_SPECIFIC_FIELDS,
    TASKS,
    Context,
    ParametricTask,
    Policy,
    Proposal,
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
    requests = _requests(
        as_strings(suites, "the name of a suite"),
        as_strings(tasks, "the name or file of a task"),
        partial(_suite_tasks, corpus=corpus, jobs=jobs, skip_bad=skip_bad),
    )
    if as_published:
        if not any(task.as_published.get(name) for name, task, _ in requests):
            raise UsageError("--as-published: it would have no effect on these tasks, which follow their papers.")
        requests = [(name, task, replace(policy, **task.as_published.get(name, {}))) for name, task, policy in requests]
    _check_names(requests)
    changes = [parse_setting(text) for text in as_strings(settings, "a setting")]
    for only, _, _ in changes:
        if only is not None and only not in {task.name for _, task, _ in requests}:
            raise UsageError(f"--set {only}.…: {only} is not among the tasks to make.")
    common: dict[str, Any] = {}
    if sizes:
        common["sizes"] = parse_sizes(sizes)
    if length:
        common["length"] = parse_length(length)
    changed = []
    used: set[str] = set()
    for name, task, policy in requests:
        policy, effective = _changed_policy(task, policy, common, changes)
        changed.append((name, task, policy))
        used |= effective
    for _, field, _ in changes:
        if field not in used:
            raise _no_effect(field, [task for _, task, _ in requests])
    return changed


Setting = tuple[str | None, str, Any]
"""The task that a setting is for, None for all; the field of the policy; its value."""


def _check_names(requests: Sequence[tuple[str, Task, Policy]]) -> None:
    """Refuse names that cannot be folders, and two requests for the same folder."""
    for name, task, _ in requests:
        if not all(re.fullmatch(rf"\w[\w.{mark_class()}-]*", part) for part in (name, task.name)):
            raise UsageError(f"Suites and tasks need plain names, which become folders; got {name!r}, {task.name!r}.")
    twice = Counter(f"{name}/{task.name}" for name, task, _ in requests).most_common(1)
    if twice and twice[0][1] > 1:
        raise UsageError(f"{twice[0][0]} was requested twice; one set would overwrite the other.")


def _changed_policy(
    task: Task, policy: Policy, common: Mapping[str, Any], changes: Sequence[Setting]
) -> tuple[Policy, frozenset[str]]:
    """The policy with the settings that have an effect on the task, and the fields that can have one."""
    values = {**common, **{field: value for only, field, value in changes if only in (None, task.name)}}
    changed = replace(policy, **values)
    effective = effective_fields(task, changed, changed.readings or task.readings)
    for only, field, _ in changes:
        if only == task.name and field not in effective:
            raise _no_effect(field, [task])
    # a setting for all tasks goes to those that use it, and the manifests of the others do not mention it
    changed = replace(policy, **{field: value for field, value in values.items() if field in effective})
    if unknown := [r for r in changed.readings if r not in task.readings]:
        raise UsageError(f"{task.name} has no reading {unknown[0]!r}; it has {', '.join(task.readings)}.")
    return changed, effective


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


def _suite_tasks(suite_name: str, corpus: Corpus | None, jobs: int, skip_bad: bool) -> list[Task]:
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


def supported_tasks(part: ParametricTask, corpus: Corpus, jobs: int = 1, skip_bad: bool = False) -> list[Task]:
    """The tasks of a parametric suite for which the corpus has two classes or more with enough sentences.

    One more pass over the corpus counts the values of every parameter. Whether a set can be made is known only when it
    is: sentences may be too long, or have the same target form.
    """
    surveyed = Task(
        name=part.name,
        version=1,
        question=part.summary,
        paper="",
        propose=_propose_nothing,
        labels="",
        count=part.survey,
    )
    counts, _ = count(corpus, [surveyed], jobs, skip_bad, shards=jobs)
    tallies: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for (parameter, value), n in counts.tallies.get(part.name, Counter()).items():
        tallies[parameter][value] += n
    parameters = part.supported(tallies, counts.sentences, Policy().min_class)
    if not parameters:
        raise UsageError(
            f"--suite {part.suite}: the corpus {corpus.name} supports no {part.usage}; expected UD features and heads, "
            f"and at least {Policy().min_class} sentences of each of two classes."
        )
    return [part.build(parameter) for parameter in parameters]


def _propose_nothing(sentence: Sentence, context: Context) -> Proposal:
    return None


def _requests(
    suites: Sequence[str], tasks: Sequence[str], expand: Callable[[str], list[Task]]
) -> list[tuple[str, Task, Policy]]:
    """What the names mean: suites, tasks of suites, or tasks alone."""
    named = [load_task(name) for name in tasks]
    requests: list[tuple[str, Task, Policy]] = []
    for suite in suites or (() if tasks else (DEFAULT_SUITE,)):
        wanted = {t.name for t in named}
        requests += [(suite, t, t.policies[suite]) for t in expand(suite) if not tasks or t.name in wanted]
    for task in named:
        if task.name in [t.name for _, t, _ in requests]:
            continue
        first = next(iter(task.policies))
        if suites and (first in SUITES or first in parametric_suites()):
            raise UsageError(
                f"The task {task.name} is not in {' or '.join(suites)}; it is in {', '.join(task.policies)}."
            )
        requests.append((first, task, task.policies[first]))
    return requests


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


def parse_setting(text: str) -> Setting:
    """``[task.]field=value`` → (task or None, field, value of the field's type)."""
    target, equals, value = text.partition("=")
    only, dot, field = target.rpartition(".")
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


def check_writable(folder: Path | str) -> None:
    """Refuse a folder that cannot be written to, before any work is done; nothing is created yet."""
    folder = Path(folder)
    existing = next(p for p in (folder, *folder.absolute().parents) if p.exists())
    if not existing.is_dir() or not os.access(existing, os.W_OK):
        problem = "not writable" if existing.is_dir() else "a file"
        raise UsageError(f"--out {folder}: {existing} is {problem}; name another folder.")


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
