"""A run as evidence: paired tests on the rows it was tested on, with the seeds, folds and retrained probes it has."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from sentprobe.core.arguments import did_you_mean
from sentprobe.errors import UsageError
from sentprobe.published import papers
from sentprobe.replicate.claim import Claim
from sentprobe.replicate.decide import Answer, answer
from sentprobe.replicate.evidence import CAPTURE, ClaimScore, Contrast, Models, Scope
from sentprobe.replicate.printed import PrintedResults
from sentprobe.report import cells
from sentprobe.results.compare import compare_results, tested_metric
from sentprobe.results.metric import DEFAULT_METRIC, METRICS, Metric, metric_named
from sentprobe.results.records import read_aliases
from sentprobe.results.run import Run
from sentprobe.results.sides import Side, non_baseline_encoders, select_side
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
    matched
        The roles whose encoders were found by their names, by which they are paired, too.
    """

    run: Run
    roles: Mapping[str, Sequence[str]]
    matched: Sequence[str] = ()
    _sides: dict[tuple[str, str], Side] = field(default_factory=dict, init=False, repr=False)

    rule = "paired tests"

    def scores(self, role: Models, scope: Scope) -> list[ClaimScore]:
        """The scores of the encoders in a role, which are paired with those of another role by their order."""
        scope = scope.of(role)
        scores = []
        for encoder, varies in self._encoders(role):
            for test_set, results in self._side(encoder, scope.metric).results.items():
                cell, language = results[0].cell, results[0].language or ""
                if (not scope.tasks or cell.task in scope.tasks) and (
                    not scope.languages or language in scope.languages
                ):
                    metric = scope.metric if scope.metric in METRICS else results[0].metric
                    value = cells.score(results, metric, run=self.run).value
                    if value is None:
                        continue
                    key = ",".join(result.key for result in results)
                    scores.append(
                        ClaimScore(encoder, varies, cell.task, language, test_set, metric, value, key, results)
                    )
        return scores

    def _encoders(self, role: Models) -> Iterator[tuple[str, dict[str, str]]]:
        """The encoders in a role, and what they are paired by: their names if those made the match, or their order."""
        encoders = self.roles.get(role.name, ())
        captures = dict.fromkeys(name for pattern in role.patterns for name in CAPTURE.findall(pattern))
        aliases = read_aliases(self.run.info)
        for i, encoder in enumerate(encoders):
            match = role.match(aliases.get(encoder, encoder)) if role.name in self.matched else None
            yield encoder, dict(match or (dict.fromkeys(captures, str(i)) if len(encoders) > 1 else {}))

    def _side(self, encoder: str, metric: str) -> Side:
        """The results of an encoder that paired tests can be made of."""
        key = encoder, metric
        if key not in self._sides:
            self._sides[key] = select_side(self.run, encoder, metric if metric in METRICS else DEFAULT_METRIC)
        return self._sides[key]

    def contrast(self, first: ClaimScore, second: ClaimScore) -> Contrast:
        """By the paired test of `sentprobe compare`; of scores on two sets, by their intervals."""
        if first.test_set != second.test_set:
            errors = [self._error(side) for side in (first, second)]
            label = f"{first.encoder}, {_set_name(first)} – {second.encoder}, {_set_name(second)}"
            by_task = f"{first.task}/{first.task}/"
            value = first.value - second.value
            return Contrast(label, by_task, value, math.hypot(*errors)).of(first, second)
        comparison = compare_results(self.run, first.source, second.source, _metric(first))
        return Contrast(
            f"{first.encoder} – {second.encoder}, {_set_name(first)}",
            first.same_rows,
            comparison.difference,
            (comparison.high - comparison.low) / 2 / levels.normal_quantile(),
            p=comparison.p,
            ends=(comparison.low, comparison.high),
        ).of(first, second)

    def above(self, score: ClaimScore, threshold: float) -> Contrast:
        """By the interval of the score."""
        label = f"{score.encoder}, {_set_name(score)}"
        error = self._error(score)
        return Contrast(label, score.same_rows, score.value - threshold, error).of(score)

    def _error(self, score: ClaimScore) -> float:
        """The standard error that the interval in tables stands for, by the same metric and over the same seeds."""
        results, metric = score.source, score.metric
        if metric == results[0].metric:
            of_metric = cells.recorded_score(self.run, results)
        else:
            of_metric = cells.score(results, metric, cells.intervals_of(self.run, results, metric), self.run)
        # a constant prediction has no interval, but on other rows another score
        low, high = (
            results[0].range if of_metric.low is None or of_metric.high is None else (of_metric.low, of_metric.high)
        )
        return (high - low) / 2 / levels.normal_quantile()

    def tested_only(self, first: Models, second: Models, scope: Scope) -> Iterator[Contrast]:  # noqa: ARG002
        """A run has scores wherever it has tests."""
        return iter(())

    def missing(self, role: Models, scope: Scope) -> str:
        """Which encoder, or which results, a run needs."""
        encoders, scope = self.roles.get(role.name, ()), scope.of(role)
        if not encoders:
            return f'an encoder as {role.name}: --as "{role.name}=ENCODER"'
        tasks = f" on {', '.join(scope.tasks)}" if scope.tasks else ""
        languages = f" in {', '.join(scope.languages)}" if scope.languages else ""
        untested = dict.fromkeys(name for encoder in encoders for name in self._side(encoder, scope.metric).untested)
        reason = f"; there is no paired test of {', '.join(untested)}" if untested else ""
        return f"results of {', '.join(encoders)} ({role.name}){tasks}{languages}{reason}"


def _metric(score: ClaimScore) -> Metric:
    """What two scores are compared by; the default stands for all that rows are right or wrong by."""
    return tested_metric(DEFAULT_METRIC if metric_named(score.metric).right_or_wrong else score.metric)


def _set_name(score: ClaimScore) -> str:
    return str(score.source[0].cell.dataset)


def answer_from_run(claim: Claim, run: Run, roles: Mapping[str, Sequence[str]]) -> Answer:
    """Evaluate a finding on a run; ``roles``: as ``parse_roles`` returns them."""
    assigned = assign_roles(claim, run, roles)
    matched = tuple(name for name in assigned if assigned[name] and name not in roles)
    printed = PrintedResults(claim.paper)
    # without tasks of its own, a claim is about those of its table, and not about whatever the run has
    parts = tuple(
        part if part.claimed_tasks else replace(part, tasks=printed.tasks(part.table)) for part in claim.parts
    )
    result = answer(replace(claim, statistic=parts), RunEvidence(run, assigned, matched))
    tested = {task for test in result.tests for task in test.tasks}
    claimed = dict.fromkeys(task for part in parts for task in part.claimed_tasks)
    languages = dict.fromkeys(language for test in result.tests for language in test.languages)
    printed_in = dict.fromkeys(language for part in parts for language in printed.languages(part.table))
    return replace(
        result,
        claim=claim,
        published=answer(claim, printed) if claim.paper in papers() else None,
        roles=assigned,
        matched=matched,
        untested=tuple(task for task in claimed if task not in tested) if result.tests else (),
        languages=tuple(language for language in languages if printed_in and language not in printed_in),
    )


def parse_roles(texts: Iterable[str], claims: Sequence[Claim]) -> dict[str, list[str]]:
    """What ``--as`` says: the encoders of each role, in the order they were named."""
    names = dict.fromkeys(name for claim in claims for name in claim.role_names)
    roles: dict[str, list[str]] = {}
    for text in texts:
        name, equals, encoder = text.partition("=")
        for role in names:
            if text.startswith(f"{role}="):  # its name may have a = itself
                name, encoder = role, text.removeprefix(f"{role}=")
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
    titles = {encoder: aliases.get(encoder, encoder) for encoder in (*run.encoders, *run.recipes.values())}
    candidates = non_baseline_encoders(run)
    assigned = {}
    for role in claim.roles:
        encoders = list(roles.get(role.name, ()))
        if not encoders:
            encoders = [name for name, title in titles.items() if title.casefold() == role.name.casefold()]
        if not encoders:
            encoders = [name for name in candidates if role.match(titles.get(name, name)) is not None]
        assigned[role.name] = tuple(encoders)
    _check_pairs(claim, assigned, roles)
    return assigned


def _check_pairs(claim: Claim, assigned: Mapping[str, Sequence[str]], typed: Mapping[str, Sequence[str]]) -> None:
    """Roles that are paired by what varies in their names need as many encoders each, or one."""
    by_capture: dict[str, dict[str, int]] = {}
    for role in claim.roles:
        for capture in {name for pattern in role.patterns for name in CAPTURE.findall(pattern)}:
            by_capture.setdefault(capture, {})[role.name] = len(assigned[role.name])
    for capture, counts in by_capture.items():
        several = {name: count for name, count in counts.items() if count > 1 and name in typed}
        if len(set(several.values())) > 1:
            pairs = ", ".join(f"{count} as {name}" for name, count in several.items())
            raise UsageError(f"{claim.name}: encoders are paired by {capture}, in the order of --as; got {pairs}.")
        if several and any(count > 1 and name not in typed for name, count in counts.items()):
            names = ", ".join(name for name in counts if name not in typed)
            raise UsageError(f"{claim.name}: encoders are paired by {capture}: name those of {names}, too, with --as.")
