"""A run as evidence: paired tests on the rows it was tested on, with the seeds, folds and retrained probes it has."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from sentprobe.core.arguments import did_you_mean
from sentprobe.errors import UsageError
from sentprobe.replicate.claim import Claim
from sentprobe.replicate.evidence import CAPTURE, Contrast, Role, Scope, ScoredCell
from sentprobe.results.compare import compare_results, tested_metric
from sentprobe.results.metric import DEFAULT_METRIC, METRICS
from sentprobe.results.records import read_aliases
from sentprobe.results.result import Result
from sentprobe.results.run import Run
from sentprobe.results.sides import non_baseline_encoders, select_side
from sentprobe.stats import level as levels


@dataclass(frozen=True)
class RunEvidence:
    """A run, and which of its encoders are in which role.

    Parameters
    ----------
    run
        The run, or several joined by ``join_runs``.
    roles
        The encoders of each role, as ``compare`` takes them: by a name, or an unambiguous part of it.
    """

    run: Run
    roles: Mapping[str, Sequence[str]]
    _sides: dict[tuple[str, str], dict[str, list[Result]]] = field(default_factory=dict, init=False, repr=False)

    rule = "paired tests"

    def scores(self, role: Role, scope: Scope) -> list[ScoredCell]:
        """The scores of the encoders in a role, which are paired with those of another role by their order."""
        scope = scope.of(role)
        metric = scope.metric if scope.metric in METRICS else DEFAULT_METRIC
        encoders = self.roles.get(role.name, ())
        captures = dict.fromkeys(name for pattern in role.patterns for name in CAPTURE.findall(pattern))
        scores = []
        for i, encoder in enumerate(encoders):
            varies = dict.fromkeys(captures, str(i)) if len(encoders) > 1 else {}
            if "encoder" in captures:
                varies["encoder"] = encoder
            for test_set, results in self._results(encoder, metric).items():
                cell, language = results[0].cell, results[0].language or ""
                if (not scope.tasks or cell.task in scope.tasks) and (
                    not scope.languages or language in scope.languages
                ):
                    value = float(np.mean([result.score for result in results]))
                    scores.append(ScoredCell(encoder, varies, cell.task, language, test_set, metric, value, results))
        return scores

    def _results(self, encoder: str, metric: str) -> dict[str, list[Result]]:
        key = encoder, metric
        if key not in self._sides:
            self._sides[key] = select_side(self.run, encoder, metric).results
        return self._sides[key]

    def contrast(self, first: ScoredCell, second: ScoredCell) -> Contrast:
        """By the paired test of `sentprobe compare`; of scores on two sets, by their intervals."""
        if first.test_set != second.test_set:
            errors = [_error(score.source) for score in (first, second)]
            label = f"{first.encoder}, {_set_name(first)} – {second.encoder}, {_set_name(second)}"
            by_task = f"{first.task}/{first.task}/"
            return Contrast(label, by_task, first.value - second.value, math.hypot(*errors))
        comparison = compare_results(self.run, first.source, second.source, tested_metric(first.metric))
        return Contrast(
            f"{first.encoder} – {second.encoder}, {_set_name(first)}",
            first.test_set,
            comparison.difference,
            (comparison.high - comparison.low) / 2 / levels.normal_quantile(),
            p=comparison.p,
            ends=(comparison.low, comparison.high),
        )

    def above(self, score: ScoredCell, threshold: float) -> Contrast:
        """By the interval of the score."""
        label = f"{score.encoder}, {_set_name(score)}"
        return Contrast(label, score.test_set, score.value - threshold, _error(score.source))

    def tested_only(self, first: Role, second: Role, scope: Scope) -> Iterator[Contrast]:  # noqa: ARG002
        """A run has scores wherever it has tests."""
        return iter(())

    def missing(self, role: Role) -> str:
        """Which encoder, or which results, a run needs."""
        encoders = self.roles.get(role.name, ())
        if not encoders:
            return f'an encoder as {role.name}: --as "{role.name}=ENCODER"'
        return f"results of {', '.join(encoders)} ({role.name})"

    @cached_property
    def tasks(self) -> set[str]:
        """The tasks that it has results of."""
        return {result.cell.task for result in self.run.results}


def _set_name(score: ScoredCell) -> str:
    return str(score.source[0].cell.dataset)


def _error(results: Sequence[Result]) -> float:
    """The standard error of the mean over seeds: that of the test rows, and that of the seeds."""
    widths = [high - low for low, high in (result.encoder_interval or result.range for result in results)]
    of_rows = float(np.mean(widths)) / 2 / levels.normal_quantile()
    scores = [result.score for result in results]
    return math.hypot(of_rows, float(np.std(scores, ddof=1)) / math.sqrt(len(scores)) if len(scores) > 1 else 0.0)


def parse_roles(texts: Iterable[str], claims: Sequence[Claim]) -> dict[str, list[str]]:
    """What ``--as`` says: the encoders of each role, in the order they were named."""
    names = dict.fromkeys(name for claim in claims for name in claim.role_names)
    roles: dict[str, list[str]] = {}
    for text in texts:
        name, equals, encoder = text.partition("=")
        if not equals or not encoder:
            raise UsageError(f'--as {text!r}: expected ROLE=ENCODER, as in --as "NLI=st:my-model".')
        if name not in names:
            hint = did_you_mean(name, names)
            raise UsageError(f"--as {text!r}: there is no role {name!r}.{hint} Expected one of {', '.join(names)}.")
        roles.setdefault(name, []).append(encoder)
    return roles


def assign_roles(claim: Claim, run: Run, roles: Mapping[str, Sequence[str]]) -> dict[str, tuple[str, ...]]:
    """The encoders of each role of a claim: those named by ``--as``, or those that are called like it.

    An encoder is called like a role if its name or alias is that of the role, or matches the names of its models.
    """
    aliases = read_aliases(run.info)
    titles = {encoder: aliases.get(encoder, encoder) for encoder in run.encoders}
    candidates = non_baseline_encoders(run)
    assigned = {}
    for role in claim.roles:
        encoders = list(roles.get(role.name, ()))
        if not encoders:
            encoders = [name for name, title in titles.items() if title.casefold() == role.name.casefold()]
        if not encoders:
            encoders = [name for name in candidates if role.match(titles.get(name, name)) is not None]
        assigned[role.name] = tuple(encoders)
    _check_pairs(claim, assigned)
    return assigned


def _check_pairs(claim: Claim, assigned: Mapping[str, Sequence[str]]) -> None:
    """Roles that are paired by what varies in their names need as many encoders each, or one."""
    by_capture: dict[str, dict[str, int]] = {}
    for role in claim.roles:
        for capture in {name for pattern in role.patterns for name in CAPTURE.findall(pattern)}:
            by_capture.setdefault(capture, {})[role.name] = len(assigned[role.name])
    for capture, counts in by_capture.items():
        if capture != "encoder" and len({count for count in counts.values() if count > 1}) > 1:
            pairs = ", ".join(f"{count} as {name}" for name, count in counts.items())
            raise UsageError(f"{claim.name}: encoders are paired by {capture}, in the order of --as; got {pairs}.")
