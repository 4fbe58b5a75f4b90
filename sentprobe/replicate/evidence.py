"""What a finding is evaluated on: scores, from papers or from a run, and how two of them differ."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, Protocol

from sentprobe.stats import level as levels

CAPTURE = re.compile(r"\{(\w+)\}")
"""In the name of a model: any text, the same for both sides of a pair."""


@dataclass(frozen=True)
class Models:
    """The encoders on one side of a claim: what they are called, and what papers call them.

    Parameters
    ----------
    name
        Of the role, as in ``--as "NLI=st:my-model"``.
    models
        As printed, one or several. ``{objective}`` matches any text: two roles that have it are paired by it.
    tasks, languages, table, metric
        Where this side differs from the scope of the statistic.
    without
        Models that the names match, and that are not meant.
    """

    name: str
    models: str | tuple[str, ...] = ()
    tasks: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    table: str = ""
    metric: str = ""
    without: tuple[str, ...] = ()

    @property
    def patterns(self) -> tuple[str, ...]:
        """The names of the models."""
        return (self.models,) if isinstance(self.models, str) else self.models

    @property
    def varied(self) -> bool:
        """Whether the names of its models have parts that vary."""
        return any(map(CAPTURE.search, self.patterns))

    def match(self, model: str) -> Mapping[str, str] | None:
        """What varies in the name of a model, by the first of the names that matches; None if none does."""
        if any(_pattern(name).fullmatch(model) for name in self.without):
            return None
        matches = (_pattern(name).fullmatch(model) for name in self.patterns)
        return next((match.groupdict() for match in matches if match), None)


@cache
def _pattern(model: str) -> re.Pattern[str]:
    parts = CAPTURE.split(model)  # text and names in turn
    return re.compile("".join(f"(?P<{part}>.+?)" if i % 2 else re.escape(part) for i, part in enumerate(parts)))


PARALLEL_TASKS = frozenset({"XNLI"})
"""Tasks whose test rows are translations of each other in all languages: a row that is hard is so in each."""


@dataclass(frozen=True)
class Scope:
    """Which scores a statistic is of; nothing is restricted by what is empty."""

    tasks: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    table: str = ""
    metric: str = ""

    def of(self, role: Models) -> Scope:
        """The scope of one side."""
        return Scope(
            role.tasks or self.tasks,
            role.languages or self.languages,
            role.table or self.table,
            role.metric or self.metric,
        )


@dataclass(frozen=True)
class ClaimScore:
    """The score of an encoder on a set."""

    encoder: str
    varies: Mapping[str, str]
    """What the pattern of its role matched."""
    task: str
    language: str
    test_set: str
    """Scores with the same one are of the same test rows."""
    metric: str
    value: float
    key: str
    """Tells it from others: there is no difference between a score and itself."""
    source: Any = field(repr=False, compare=False)
    """The printed row, or the results of a run."""

    @property
    def same_rows(self) -> str:
        """Differences with the same one are on the same test rows, or on their translations."""
        return f"{self.task}/{self.task}" if self.task in PARALLEL_TASKS else self.test_set


@dataclass(frozen=True)
class Contrast:
    """The difference of two scores, or of a score and a number, and how well it is known."""

    label: str
    test_set: str
    value: float | None
    """None where only a p-value was printed."""
    error: float | None = None
    """The standard error; None if nothing is known about it."""
    rounding: float = 0.0
    """How far printed digits may be from the difference that was measured."""
    p: float | None = None
    """The two-sided p-value of no difference, by a better test than that of the standard error."""
    ends: tuple[float, float] | None = None
    """Its interval, by a better method likewise."""
    tasks: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    """Of both sides."""

    def of(self, *scores: ClaimScore) -> Contrast:
        """The same, with the tasks and languages of its scores."""
        tasks, languages = (dict.fromkeys(names) for names in zip(*((s.task, s.language) for s in scores), strict=True))
        return replace(self, tasks=tuple(tasks), languages=tuple(languages))

    def p_above(self, threshold: float) -> float:
        """One-sided: how likely such a difference is if the true one is not above a threshold."""
        if self.value is None or (self.error is None and self.p is None):
            return 1.0
        if self.p is not None and threshold == 0:
            return self.p / 2 if self.value > 0 else 1 - self.p / 2
        return upper_tail(self.value - threshold - self.rounding, self.error or 0.0)

    def p_below(self, threshold: float) -> float:
        """One-sided, likewise below."""
        if self.value is None:
            return 1.0
        return replace(self, value=-self.value).p_above(-threshold)

    @property
    def p_different(self) -> float:
        """Two-sided."""
        if self.p is not None:
            return self.p
        return min(1.0, 2 * min(self.p_above(0), self.p_below(0)))

    @property
    def interval(self) -> tuple[float, float] | None:
        """With what rounding may have hidden."""
        if self.ends is not None or self.value is None or self.error is None:
            return self.ends
        half = levels.normal_quantile() * self.error + self.rounding
        return self.value - half, self.value + half


def upper_tail(value: float, error: float) -> float:
    """How likely a normal variable with this standard error is at least as large."""
    if error == 0:
        return 0.0 if value > 0 else 1.0
    return math.erfc(value / error / math.sqrt(2)) / 2


class Evidence(Protocol):
    """Printed results, or a run."""

    @property
    def rule(self) -> str:
        """What tests of single differences are."""
        ...

    def scores(self, role: Models, scope: Scope) -> list[ClaimScore]:
        """The scores of a role, within the scope of its statistic."""
        ...

    def contrast(self, first: ClaimScore, second: ClaimScore) -> Contrast:
        """The first score minus the second."""
        ...

    def above(self, score: ClaimScore, threshold: float) -> Contrast:
        """A score minus a number."""
        ...

    def tested_only(self, first: Models, second: Models, scope: Scope) -> Iterator[Contrast]:
        """Differences of which no scores are there, but p-values."""
        ...

    def missing(self, role: Models, scope: Scope) -> str:
        """Why there are no scores of a role, and what to do about it."""
        ...
