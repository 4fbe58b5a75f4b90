"""From what the user typed to what ``make`` takes."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, get_type_hints

import msgspec

from sonde.corpus.files import open_text
from sonde.errors import UsageError
from sonde.sketch import near_key
from sonde.task import Policy, Task
from sonde.tasks import load, suite

DEFAULT_SUITE = "universal2019"
NAME = re.compile(r"\w[\w.-]*")


def wanted(
    suites: Sequence[str],
    tasks: Sequence[str],
    *,
    sizes: str = "",
    length: str = "",
    settings: Sequence[str] = (),
) -> list[tuple[str, Task, Policy]]:
    """(suite, task, policy) for every suite and task named, each under its own policy with the user's changes.

    A task named together with suites is taken out of those suites; alone it comes under the first policy it has.
    """
    found: list[tuple[str, Task, Policy]] = []
    for name in suites or (() if tasks else (DEFAULT_SUITE,)):
        members = [load(t) for t in suite(name)]
        found += [(name, t, t.policies[name]) for t in members if not tasks or t.name in tasks]
    taken = {t.name for _, t, _ in found}
    for name in tasks:
        task = load(name)
        if task.name not in taken:
            first = next(iter(task.policies))
            found.append((first, task, task.policies[first]))
    for name, task, _ in found:
        if not (NAME.fullmatch(name) and NAME.fullmatch(task.name)):
            raise UsageError(
                f"A suite and a task need plain names, which become folders; met {name!r} and {task.name!r}."
            )
    changes = [_setting(text) for text in settings]
    for only, _, _ in changes:
        if only is not None and only not in {t.name for _, t, _ in found}:
            raise UsageError(f"--set {only}.…: {only} is not among the tasks to make.")
    common: dict[str, Any] = {}
    if sizes:
        common["sizes"] = parse_sizes(sizes)
    if length:
        common["length"] = parse_length(length)
    return [
        (name, t, replace(p, **common, **{field: value for only, field, value in changes if only in (None, t.name)}))
        for name, t, p in found
    ]


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
        raise UsageError(f"--length {text}: expected the fewest and the most tokens, such as 5-28.")
    return int(match[1]), int(match[2])


def check_jobs(jobs: int) -> int:
    """A usable number of worker processes; 0 and below mean all cores."""
    return jobs if jobs > 0 else os.cpu_count() or 1


def near_keys(path: Path) -> frozenset[int]:
    """The near-duplicate keys of the sentences in a file, one a line."""
    return frozenset(near_key(line) for line in open_text(str(path)) if line.strip())


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
