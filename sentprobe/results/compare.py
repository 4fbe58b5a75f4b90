"""Comparisons of two or more encoders on the same test rows: which differences are significant?

An encoder that was trained with several seeds is a recipe, and a comparison of two is about recipes: seeds are a level
above training and test rows (``sentprobe.stats.seeds``). One that was trained once is taken as it is.

There are two questions. *Is one encoder better than the other, with probes like these?* Other training rows would have
given other probes; if probes were retrained (`--resample`), intervals and p-values account for that, together with test
rows and seeds. *Is one of these two trained probes better than the other?* is answered by McNemar's test, or, if rows
share target forms, by a permutation test over forms. The second answer is always given, and replaces the first if no
probe was retrained.

p-values are adjusted by Holm's method over the sets. More than two encoders get letters: those that share one do not
differ significantly, which does not mean that they are equal. An equivalence test tells how close two are: two
one-sided tests reject for every margin of at least ``equivalence_margin``.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any, Literal, TypeVar

import numpy as np

from sentprobe.core.arguments import StringsOrPaths, as_strings
from sentprobe.errors import CorruptionWarning, RunError, UsageError
from sentprobe.results.inference import (
    InferenceTarget,
    by_encoder_seed,
    detectable_by,
    probe_p,
    row_clusters,
    system_p,
    systems_of,
    target_of,
)
from sentprobe.results.metric import DEFAULT_METRIC, Metric, check_metric, metric_named
from sentprobe.results.result import Result
from sentprobe.results.run import Run
from sentprobe.results.scores import mean_over_seeds, only_rows, score_difference
from sentprobe.results.sides import nothing_shared, select_side
from sentprobe.stats import holm, letters, mcnemar
from sentprobe.stats import level as levels
from sentprobe.stats.means import mean
from sentprobe.stats.seeds import spread

T = TypeVar("T")
EQUIVALENCE_MARGIN = 0.01
"""The default margin within which two accuracies are called equivalent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Two encoders on one set: the difference of their accuracies, with an interval and p-values.

    Examples
    --------
    >>> from sentprobe import Dataset, Example, compare, evaluate
    >>> rows = [Example(("even", "odd")[i % 2], ("number", str(i)), f"number {i}") for i in range(80)]
    >>> splits = {"tr": rows[:40], "va": rows[40:60], "te": rows[60:]}
    >>> parity = Dataset("mine/parity", "parity", 1, "en", ("even", "odd"), splits)
    >>> encoders = {
    ...     "digit": lambda texts: [[int(text[-1]) % 2, 1] for text in texts],
    ...     "size": lambda texts: [[len(text)] for text in texts],
    ... }
    >>> (comparison,) = compare(evaluate(encoders, parity, "run"), "digit", "size")
    >>> comparison.difference, comparison.verdict()
    (0.5, 'first')
    """

    dataset: str
    n: int
    first: float
    second: float
    """Scores, means over seeds."""
    difference: float
    about: InferenceTarget
    """What the interval and the p-values that follow are about."""
    low: float
    high: float
    """The interval of the difference."""
    p: float
    p_holm: float
    """``p``, adjusted over the sets compared."""
    equivalence_margin: float
    """The smallest margin within which the two are equivalent, by two one-sided tests, adjusted by Bonferroni over the
    sets compared."""
    worse_by: float
    """One of these two tests: the first is worse by no more than this."""
    better_by: float
    """The other: the first is better by no more than this."""
    clusters: int | None
    """Number of target forms or sentences that rows share; None: rows are independent."""
    only_first: float
    only_second: float
    """Number of test rows that only one of the two has right, means over seeds; NaN if rows are not right or wrong."""
    p_exact: float | None
    p_mid: float | None
    """McNemar's test of these probes, treating rows as independent; None with several seeds."""
    p_t: float | None
    """The paired t-test of these probes, treating rows as independent; None if all rows differ equally."""
    p_probe: float
    """About these probes: McNemar's mid-p; a permutation test over target forms if rows share them, or over rows with
    several seeds."""
    detectable: float | None
    """The difference that a comparison like this one detects with a power of 80 %, not adjusted over sets; None if all
    rows differ equally."""
    seeds: int
    """Of the probes."""
    partial: bool
    metric: str = DEFAULT_METRIC
    """What the two are compared by."""
    first_trainings: int = 1
    """Encoders that the score of the first is a mean over, trained alike with several seeds; with one, intervals and
    p-values are about that encoder, and otherwise about how they were trained."""
    second_trainings: int = 1
    first_sd: float | None = None
    """The standard deviation between the trainings; None for a single encoder."""
    second_sd: float | None = None

    def __repr__(self) -> str:
        seeds = "".join(
            f", {n} trainings of the {side}"
            for side, n in (("first", self.first_trainings), ("second", self.second_trainings))
            if n > 1
        )
        return (
            f"Comparison({self.dataset}: {self.first:.3f} - {self.second:.3f} = {self.difference:+.3f} "
            f"[{self.low:+.3f}, {self.high:+.3f}], p = {self.p_holm:.3f}, n = {self.n:,}{seeds})"
        )

    def better(self) -> Literal["first", "second"] | None:
        """Which one is significantly better; None if neither is."""
        if self.p_holm > levels.ALPHA:
            return None
        return "first" if metric_named(self.metric).gain(self.first, self.second) > 0 else "second"

    def verdict(self, margin: float = EQUIVALENCE_MARGIN) -> Literal["first", "second", "equivalent", "undecided"]:
        """Which one is significantly better, or whether they are equivalent within a margin, or undecided."""
        return self.better() or ("equivalent" if self.equivalence_margin <= margin else "undecided")


@dataclass(frozen=True, slots=True, kw_only=True)
class TieGroups:
    """Several encoders on one set, the best first; those that share a letter do not differ significantly.

    Examples
    --------
    >>> from sentprobe import Dataset, Example, evaluate, ties
    >>> rows = [Example(("even", "odd")[i % 2], ("number", str(i)), f"number {i}") for i in range(80)]
    >>> splits = {"tr": rows[:40], "va": rows[40:60], "te": rows[60:]}
    >>> parity = Dataset("mine/parity", "parity", 1, "en", ("even", "odd"), splits)
    >>> encoders = {
    ...     "digit": lambda texts: [[int(text[-1]) % 2, 1] for text in texts],
    ...     "size": lambda texts: [[len(text)] for text in texts],
    ... }
    >>> (groups,) = ties(evaluate(encoders, parity, "run"), ["digit", "size"])
    >>> groups.letters
    {'digit': 'a', 'size': 'b'}
    """

    dataset: str
    n: int
    accuracy: dict[str, float]
    """The score of each encoder, by the metric."""
    letters: dict[str, str]
    about: InferenceTarget
    """What the letters are about."""
    p_lead: float
    """Of the claim that the first is better than every other one, adjusted over the sets."""
    partial: bool
    metric: str = DEFAULT_METRIC
    trainings: dict[str, int] = field(default_factory=dict)
    """How many encoders the score of each is a mean over, trained alike with several seeds."""
    sd: dict[str, float | None] = field(default_factory=dict)
    """The standard deviation between the trainings of each; None for a single encoder."""

    def __repr__(self) -> str:
        encoders = ", ".join(f"{name} {self.accuracy[name]:.3f} {self.letters[name]}" for name in self.letters)
        return f"TieGroups({self.dataset}: {encoders}, n = {self.n:,})"


def compare(run: Run, first: str, second: str, *, metric: str = DEFAULT_METRIC) -> list[Comparison]:
    """Compare two encoders on every set that both have results for.

    Parameters
    ----------
    run
        The run, or several joined by ``join_runs``.
    first, second
        The encoders, by name or an unambiguous part of it, optionally with ``|layer=…``, ``|probe=…`` and so on if a
        run has several.
    metric
        By what: a metric that is computed from predicted classes. Other metrics than accuracy are about the trained
        probes.

    Returns
    -------
    list[Comparison]
        One per set, with p-values adjusted over the sets.

    Examples
    --------
    >>> import tempfile
    >>> from sentprobe import Dataset, Example, compare, evaluate
    >>> rows = [Example(("even", "odd")[i % 2], ("number", str(i)), f"number {i}") for i in range(80)]
    >>> splits = {"tr": rows[:40], "va": rows[40:60], "te": rows[60:]}
    >>> parity = Dataset("mine/parity", "parity", 1, "en", ("even", "odd"), splits)
    >>> def last_digit(texts):
    ...     return [[int(text[-1]) % 2, 1] for text in texts]
    >>> def length(texts):
    ...     return [[len(text), 1] for text in texts]
    >>> folder = tempfile.TemporaryDirectory()
    >>> run = evaluate([last_digit, length], parity, folder.name, baselines=[], resample=0)
    >>> (comparison,) = compare(run, "last_digit", "length")
    >>> comparison
    Comparison(mine/parity: 1.000 - 0.500 = +0.500 [+0.243, +0.740], p = 0.001, n = 20)
    >>> comparison.verdict()
    'first'
    >>> folder.cleanup()
    """
    part = tested_metric(metric)
    sides = select_side(run, first, metric), select_side(run, second, metric)
    first_results, second_results = (side.results for side in sides)
    shared = [set_key for set_key in first_results if set_key in second_results]
    if not shared:
        raise nothing_shared(run, sides)
    comparisons = _readable(
        shared,
        lambda key: compare_results(run, first_results[key], second_results[key], part, sets=len(shared)),
    )
    adjusted = holm([c.p for c in comparisons]).tolist()
    names = _apart([c.dataset for c in comparisons], [first_results[key][0] for key in shared])
    return [replace(c, p_holm=p, dataset=name) for c, p, name in zip(comparisons, adjusted, names, strict=True)]


def _readable(set_keys: list[str], read: Callable[[str], T]) -> list[T]:
    """What ``read`` returns for each set; sets with missing or damaged files are removed with a warning."""
    values, damaged = [], []
    for key in set_keys:
        try:
            values.append(read(key))
        except RunError as e:
            damaged.append((key, e))
    if not values:
        raise damaged[0][1]
    for key, error in damaged:
        warnings.warn(f"{key.partition('#')[0]} is not compared: {error}", CorruptionWarning, stacklevel=3)
        set_keys.remove(key)
    return values


def _apart(names: Sequence[str], results: Sequence[Result]) -> list[str]:
    """Names of sets, with the digest of their rows if two have the same name."""
    return [
        f"{name} #{result.cell.data[:8]}" if names.count(name) > 1 else name
        for name, result in zip(names, results, strict=True)
    ]


def tested_metric(name: str) -> Metric:
    """The metric of this name, which can be computed from predicted classes and has a paired test."""
    metric = metric_named(check_metric(name))
    if not metric.has_paired_test:
        raise UsageError(f"There is no paired test of {metric.title}: it cannot be compared by.")
    return metric


def compare_results(
    run: Run, first: Sequence[Result], second: Sequence[Result], metric: Metric, *, sets: int = 1
) -> Comparison:
    """Compare the results of two encoders on one set, all seeds of each; ``p_holm`` is left to whoever has all sets.

    ``sets``: over how many one-sided tests are adjusted, which say how equal the two are.
    """
    if not (metric := _metric_of(metric, first[0])).right_or_wrong:
        return _pair_by(run, first, second, metric, sets)
    clusters = row_clusters(run, first[0])
    sides = systems_of(run, (first, second), clusters)
    first_correct, second_correct = sides.correct
    difference, apart = sides.difference(0, 1), first_correct - second_correct
    single = len(first) == len(second) == 1
    one_sided = 1 - 2 * levels.ALPHA / sets  # an interval at this level is two one-sided tests
    test, narrow = (mcnemar(first_correct > 0.5, second_correct > 0.5, level=level) for level in (None, one_sided))
    low, high = difference.interval()
    ends = [*difference.interval(one_sided)]
    if difference.variance <= 0 or all(len(by_encoder_seed(side)) == 1 for side in (first, second)):
        # which has a width even if both are right on the same rows
        low, high = min(low, test.low), max(high, test.high)
        ends += narrow.low, narrow.high
    worse_by, better_by = max(0.0, -min(ends)), max(0.0, max(ends))
    by_rows = mean(apart)
    return Comparison(
        dataset=first[0].cell.dataset,
        n=len(first_correct),
        first=float(first_correct.mean()),
        second=float(second_correct.mean()),
        difference=difference.value,
        about=_about(first[0], target_of(sides, 0, 1)),
        low=max(-1.0, low),
        high=min(1.0, high),
        p=system_p(sides, 0, 1),
        p_holm=1.0,
        equivalence_margin=min(1.0, max(worse_by, better_by)),
        worse_by=min(1.0, worse_by),
        better_by=min(1.0, better_by),
        clusters=len(set(clusters)) if clusters else None,
        only_first=float(apart.clip(min=0).sum()),
        only_second=float((-apart).clip(min=0).sum()),
        p_exact=test.p_exact if single else None,
        p_mid=test.p_mid if single else None,
        p_t=by_rows.p if by_rows.variance > 0 else None,
        p_probe=probe_p(sides, 0, 1),
        detectable=detectable_by(difference) if difference.variance > 0 else None,
        partial=first[0].partial,
        metric=metric.name,
        **_seeds_of(run, first, second, metric),
    )


def _pair_by(run: Run, first: Sequence[Result], second: Sequence[Result], metric: Metric, sets: int) -> Comparison:
    """A comparison of the trained probes, or of systems as they are, by any metric."""
    clusters = row_clusters(run, first[0])
    difference = score_difference(run, first, second, metric)
    only_first, only_second = only_rows(run, first, second)
    (low, high), ends = difference.interval(None), difference.interval(1 - 2 * levels.ALPHA / sets)
    below, above = max(0.0, -ends[0]), max(0.0, ends[1])
    worse_by, better_by = (below, above) if metric.higher_is_better else (above, below)
    values = [_mean_score(run, side, metric) for side in (first, second)]
    return Comparison(
        dataset=first[0].cell.dataset,
        n=first[0].n["te"],
        first=values[0],
        second=values[1],
        difference=difference.value,
        about=_about(first[0], "probe"),
        low=low,
        high=high,
        p=difference.p,
        p_holm=1.0,
        equivalence_margin=max(worse_by, better_by),
        worse_by=worse_by,
        better_by=better_by,
        clusters=len(set(clusters)) if clusters else None,
        only_first=only_first,
        only_second=only_second,
        p_exact=None,
        p_mid=None,
        p_t=None,
        p_probe=difference.p_rows,
        detectable=difference.detectable,
        partial=first[0].partial,
        metric=metric.name,
        **_seeds_of(run, first, second, metric),
    )


def _seeds_of(run: Run, first: Sequence[Result], second: Sequence[Result], metric: Metric) -> dict[str, Any]:
    """The fields of a comparison that are about seeds."""
    scores = [_training_scores(run, side, _metric_of(metric, first[0])) for side in (first, second)]
    sds = [spread(values).std for values in scores]
    return {
        "seeds": min(len(group) for side in (first, second) for group in by_encoder_seed(side)),
        "first_trainings": len(scores[0]),
        "second_trainings": len(scores[1]),
        "first_sd": sds[0],
        "second_sd": sds[1],
    }


def _metric_of(metric: Metric, result: Result) -> Metric:
    """The default is what a result is scored by."""
    return metric_named(result.metric) if metric.name == DEFAULT_METRIC else metric


def _mean_score(run: Run, results: Sequence[Result], metric: Metric) -> float:
    """The mean over seeds, those of the probe first."""
    return float(np.mean(_training_scores(run, results, metric)))


def _training_scores(run: Run, results: Sequence[Result], metric: Metric) -> list[float]:
    """The score of each training of a recipe; one for a single encoder."""
    return [mean_over_seeds(run, group, metric) for group in by_encoder_seed(results)]


@dataclass(frozen=True, slots=True)
class Letters:
    """Letters for encoders on the same test rows."""

    letters: dict[str, str]
    """By name, the best first; encoders that share a letter do not differ significantly."""
    about: InferenceTarget
    """What the tests are about."""
    p_values: Mapping[tuple[str, str], float]
    """Of each pair, adjusted by Holm over the pairs."""

    @classmethod
    def of(cls, order: Sequence[str], p_values: Mapping[tuple[str, str], float], about: InferenceTarget) -> Letters:
        """From adjusted p-values of all pairs of names, which are in the order of their scores, the best first."""
        return cls(letters(order, p_values), about, p_values)

    def p_lead(self, names: Collection[str]) -> float | None:
        """Of the claim that the best of these is better than every other one of them: the largest of its p-values."""
        present = [name for name in self.letters if name in names]
        pairs = [p for pair, p in self.p_values.items() if present and present[0] in pair and {*pair} <= {*present}]
        return max(pairs, default=None)


def tie_letters(run: Run, results: Mapping[str, Sequence[Result]], metric: str = DEFAULT_METRIC) -> Letters:
    """Letters for encoders on the same test rows; ``results`` has those of all seeds."""
    names, result = list(results), next(iter(results.values()))[0]
    part = _metric_of(metric_named(metric), result)
    if not part.right_or_wrong:
        return _letters_by(run, results, part)
    clusters = row_clusters(run, result)
    systems = systems_of(run, list(results.values()), clusters)
    order = sorted(range(len(names)), key=lambda i: (-float(systems.correct[i].sum()), names[i]))
    pairs = list(combinations(order, 2))
    adjusted = holm([system_p(systems, first, second) for first, second in pairs]).tolist()
    values = {(names[first], names[second]): value for (first, second), value in zip(pairs, adjusted, strict=True)}
    return Letters.of([names[i] for i in order], values, _about(result, target_of(systems, *order)))


def _letters_by(run: Run, results: Mapping[str, Sequence[Result]], metric: Metric) -> Letters:
    scores = {name: _mean_score(run, side, metric) for name, side in results.items()}
    order = sorted(results, key=lambda name: (-metric.gain(scores[name], 0.0), name))
    pairs = list(combinations(order, 2))
    p_values = [score_difference(run, results[first], results[second], metric).p for first, second in pairs]
    return Letters.of(
        order, dict(zip(pairs, holm(p_values).tolist(), strict=True)), _about(results[order[0]][0], "probe")
    )


def _about(result: Result, target: InferenceTarget) -> InferenceTarget:
    """What a test is about: without a probe, systems as they are."""
    return target if metric_named(result.metric).trained else "system"


def ties(run: Run, names: StringsOrPaths, *, metric: str = DEFAULT_METRIC) -> list[TieGroups]:
    """Group several encoders by letters on every set that all of them have results for.

    Encoders that share a letter do not differ significantly.

    Parameters
    ----------
    run
        The run, or several joined by ``join_runs``.
    names
        The encoders, as for ``compare``.
    metric
        By what, as for ``compare``.

    Returns
    -------
    list[TieGroups]
        One per set, with the best encoder first.

    Examples
    --------
    >>> import tempfile
    >>> from sentprobe import Dataset, Example, evaluate, ties
    >>> rows = [Example(("even", "odd")[i % 2], ("number", str(i)), f"number {i}") for i in range(80)]
    >>> splits = {"tr": rows[:40], "va": rows[40:60], "te": rows[60:]}
    >>> parity = Dataset("mine/parity", "parity", 1, "en", ("even", "odd"), splits)
    >>> def last_digit(texts):
    ...     return [[int(text[-1]) % 2, 1] for text in texts]
    >>> def length(texts):
    ...     return [[len(text), 1] for text in texts]
    >>> folder = tempfile.TemporaryDirectory()
    >>> run = evaluate([last_digit, length], parity, folder.name, baselines=[], resample=0)
    >>> ties(run, ["last_digit", "length"])
    [TieGroups(mine/parity: last_digit 1.000 a, length 0.500 b, n = 20)]
    >>> folder.cleanup()
    """
    part = tested_metric(metric)
    columns = [select_side(run, name, metric) for name in dict.fromkeys(as_strings(names, "an encoder"))]
    if len(columns) < 2:
        raise UsageError("Expected at least two encoders to compare.")
    shared = [key for key in columns[0].results if all(key in c.results for c in columns)]
    if not shared:
        raise nothing_shared(run, columns)

    def tie_groups_of(set_key: str) -> TieGroups:
        of_set = {c.name: c.results[set_key] for c in columns}
        tied = tie_letters(run, of_set, metric)
        first = of_set[columns[0].name][0]
        scores = {name: _training_scores(run, results, _metric_of(part, first)) for name, results in of_set.items()}
        return TieGroups(
            dataset=first.cell.dataset,
            n=first.n["te"],
            accuracy={name: float(np.mean(scores[name])) for name in tied.letters},
            letters=tied.letters,
            about=tied.about,
            p_lead=tied.p_lead(of_set) or 0.0,
            partial=first.partial,
            metric=_metric_of(part, first).name,
            trainings={name: len(scores[name]) for name in tied.letters},
            sd={name: spread(scores[name]).std for name in tied.letters},
        )

    groups = _readable(shared, tie_groups_of)
    names = _apart([t.dataset for t in groups], [columns[0].results[key][0] for key in shared])
    leads = holm([t.p_lead for t in groups]).tolist()
    return [replace(t, dataset=name, p_lead=p) for t, name, p in zip(groups, names, leads, strict=True)]
