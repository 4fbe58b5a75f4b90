"""What keeps a set from being made, and which settings make it wider; in what order ``--relax`` changes them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import msgspec

from sentprobe.make.filters import LENGTH_REASON
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
    known = effective_fields(task, policy, {reading} if reading else task.readings)
    if policy.min_class > MIN_CLASS:
        yield Relaxation("min_class", MIN_CLASS)
    if "trim" in known and policy.trim is not None:
        yield Relaxation("trim", None)
    if "band" in known and policy.band is not None:
        yield Relaxation("band", None)
    if "cap" in known and policy.cap is not None:
        yield Relaxation("cap", None)
    fixed = isinstance(task.labels, tuple)
    if not fixed and policy.min_classes > MIN_CLASSES:
        yield Relaxation("min_classes", MIN_CLASSES)
    if policy.strata == "exact":
        yield Relaxation("strata", LENGTH_BINS)
    if "bins" not in known and (policy.length[0] > WIDE[0] or policy.length[1] < WIDE[1]):
        yield Relaxation("length", (min(WIDE[0], policy.length[0]), max(WIDE[1], policy.length[1])))


class Relaxed(NamedTuple):
    """A wider policy."""

    policy: Policy
    settings: tuple[str, ...]
    """All changes so far, as ``--set`` takes them."""


def relaxed(task: Task, policy: Policy) -> Iterator[Relaxed]:
    """Wider and wider policies."""
    made: tuple[str, ...] = ()
    for change in relaxations(task, policy):
        policy = replace(policy, **{change.field: change.value})
        made = (*made, change.setting)
        yield Relaxed(policy, made)


def advice(task: Task, policy: Policy, reading: str, rejected: Counter[str]) -> str:
    """What sentprobe's own filters left out, how many sentences each, and the options that let them in."""
    changes = {change.field: change for change in relaxations(task, policy, reading)}

    def option(field: str) -> str:
        return f"--set {task.name}.{changes[field].setting}"

    parts = []
    forms = [option(field) for field in ("trim", "band") if field in changes]
    if (n := rejected[OUTSIDE_BAND]) and forms:
        parts.append(f"{n:,} sentences whose target form is too rare or too frequent ({' '.join(forms)})")
    if (n := rejected[LENGTH_REASON]) and "length" in changes:
        low, high = policy.length
        parts.append(f"{n:,} sentences outside {low} to {high} tokens ({option('length')})")
    others = [option(field) for field in ("min_class", "min_classes", "cap", "strata") if field in changes]
    reasons = [(r, n) for r, n in rejected.most_common() if r not in (OUTSIDE_BAND, LENGTH_REASON)][:3]
    text = f" Left out were {', and '.join(parts)}." if parts else ""
    if reasons:
        text += f" The task itself rejected {', '.join(f'{n:,} ({r})' for r, n in reasons)}."
    if others:
        text += f" Smaller sets: {' '.join(others)}."
    return f"{text} --relax tries all of these in turn." if changes else text
