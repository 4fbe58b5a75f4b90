"""Policies for small corpora: what keeps a set from being made, and in what order ``--relax`` changes settings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import msgspec

from sentprobe.core.formatting import count_of
from sentprobe.data.dataset import Dataset
from sentprobe.make.filters import LENGTH_REASON
from sentprobe.make.job import SkippedTask
from sentprobe.tasks import LENGTH_BINS, OUTSIDE_BAND, Policy, Task, effective_fields

MIN_CLASS = 12
"""The fewest examples of a class under ``--relax``: below, a test split would have one or two."""
MIN_CLASSES = 3
WIDE = (3, 60)
"""The lengths under ``--relax``."""


@dataclass(frozen=True)
class Relaxation:
    """A change of a policy that lets more sentences be used."""

    field: str
    value: Any

    @property
    def setting(self) -> str:
        """As ``--set`` takes it."""
        value = self.value if isinstance(self.value, str) else msgspec.json.encode(self.value).decode()
        return f"{self.field}={value}"


def relaxations(task: Task, policy: Policy, reading: str = "") -> Iterator[Relaxation]:
    """The changes that may help, in the order in which ``--relax`` makes them, each on top of those before.

    First what only makes the set smaller, then which target forms may occur, then lengths and their balance.
    """
    effective = effective_fields(task, policy, {reading} if reading else task.readings)
    if policy.min_class > MIN_CLASS:
        yield Relaxation("min_class", MIN_CLASS)
    for field in ("trim", "band", "cap"):
        if field in effective and getattr(policy, field) is not None:
            yield Relaxation(field, None)
    if not isinstance(task.labels, tuple) and policy.min_classes > MIN_CLASSES:
        yield Relaxation("min_classes", MIN_CLASSES)
    if policy.strata == "exact":
        yield Relaxation("strata", LENGTH_BINS)
    if "bins" not in effective and (policy.length[0] > WIDE[0] or policy.length[1] < WIDE[1]):
        yield Relaxation("length", (min(WIDE[0], policy.length[0]), max(WIDE[1], policy.length[1])))


class RelaxedPolicy(NamedTuple):
    """A wider policy."""

    policy: Policy
    settings: tuple[str, ...]
    """All changes so far, as ``--set`` takes them."""


def relaxed(task: Task, policy: Policy) -> Iterator[RelaxedPolicy]:
    """Wider and wider policies."""
    settings: tuple[str, ...] = ()
    for change in relaxations(task, policy):
        policy = replace(policy, **{change.field: change.value})
        settings = (*settings, change.setting)
        yield RelaxedPolicy(policy, settings)


def make_relaxed(
    requests: Sequence[tuple[str, Task, Policy]], make: Callable[..., Iterator[Dataset | SkippedTask]]
) -> Iterator[Dataset | SkippedTask]:
    """Make what can be made; what cannot, with wider and wider policies."""
    steps = {f"{suite}/{task.name}": relaxed(task, policy) for suite, task, policy in requests}
    changes: dict[str, tuple[str, ...]] = {}
    pending = list(requests)
    while pending:
        wider = []
        by_name = {f"{suite}/{task.name}": (suite, task) for suite, task, _ in pending}
        for result in make(pending):
            if isinstance(result, Dataset):
                note = {"relaxed": list(changes[result.name])} if result.name in changes else {}
                yield replace(result, manifest={**result.manifest, **note})
            elif result.kind == "too few" and (step := next(steps[result.name], None)):
                changes[result.name] = step.settings
                wider.append((*by_name[result.name], step.policy))
            else:
                yield result
        pending = wider


def advice(task: Task, policy: Policy, reading: str, rejected: Counter[str]) -> str:
    """What sentprobe's own filters left out, how many sentences each, and the options that let them in."""
    changes = {change.field: change for change in relaxations(task, policy, reading)}

    def option(field: str) -> str:
        return f"--set {task.name}.{changes[field].setting}"

    parts = []
    forms = [option(field) for field in ("trim", "band") if field in changes]
    if (n := rejected[OUTSIDE_BAND]) and forms:
        parts.append(f"{count_of(n, 'sentence')} whose target form is too rare or too frequent ({' '.join(forms)})")
    if (n := rejected[LENGTH_REASON]) and "length" in changes:
        low, high = policy.length
        parts.append(f"{count_of(n, 'sentence')} outside {low} to {high} tokens ({option('length')})")
    smaller = [option(field) for field in ("min_class", "min_classes", "cap", "strata") if field in changes]
    reasons = [(r, n) for r, n in rejected.most_common() if r not in (OUTSIDE_BAND, LENGTH_REASON)][:3]
    text = f" Left out were {', and '.join(parts)}." if parts else ""
    if reasons:
        text += f" The task itself rejected {', '.join(f'{n:,} ({r})' for r, n in reasons)}."
    if smaller:
        text += f" Smaller sets: {' '.join(smaller)}."
    return f"{text} --relax tries all of these in turn." if changes else text
