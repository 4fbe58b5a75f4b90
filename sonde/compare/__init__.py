"""Two encoders, or more, on the same test rows: which differences are there, and which could have been found?

Two questions are kept apart. *Is one encoder better than the other, with probes like these?* Other training rows would
have given other probes; where runs have trained them again (`--resample`), intervals and p-values count that, together
with test rows and seeds. *Is one of these two trained probes better than the other?* is what McNemar's test answers,
or, where rows share target forms and stand and fall together, the exchange of whole forms. That one is given beside the
first, and stands in for it where no probe was trained again.

The p-values are adjusted by Holm over the sets. More than two encoders get letters: those that share one do not differ
significantly, which is not to say that they are equal. How nearly equal two are, an equivalence test says: two
one-sided tests at 5 % hold for every margin that is at least ``within``.
"""

from __future__ import annotations

import difflib
import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Literal, TypeVar

import numpy as np

from sonde.baselines import BASELINES
from sonde.core.arguments import StringsOrPaths, as_strings
from sonde.errors import CorruptionWarning, RunError, UsageError
from sonde.result import Result
from sonde.run.folder import Run
from sonde.run.loop import ENCODER_BASELINES
from sonde.run.parts import cluster_ids
from sonde.run.resample import read_resamples
from sonde.stats import clustered_p, holm, letters, mcnemar
from sonde.stats.means import Estimate, Rows, mean, quantile
from sonde.stats.paired import binomial_p
from sonde.stats.training import Retrained, Systems

T = TypeVar("T")

ONE_OF = ("probe", "limit", "device", "sonde", "id")
"""What an encoder is compared with one value of."""
SIGNIFICANCE_LEVEL = 0.05
"""Of tests; intervals are at 95 %."""
EQUIVALENCE_MARGIN = 0.01
"""Share of rows within which two accuracies are called equivalent, unless another one is asked for."""

POWER = 0.8
"""Of a difference that is called detectable."""

InferenceTarget = Literal["encoder", "partly", "probe"]
"""What an interval or a p-value is about: the encoder, with any probe trained like this one; or the trained probe; or
something between: one of two was trained again, and the other is taken to vary as much, or seeds were all that varied.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Two encoders on one set."""

    dataset: str
    n: int
    one: float
    two: float
    """Accuracies, means over seeds."""
    difference: float
    about: InferenceTarget
    """What the next four are about."""
    low: float
    high: float
    """95 % interval of the difference."""
    p: float
    p_holm: float
    """``p``, adjusted over the sets compared."""
    equivalence_margin: float
    """The smallest margin within which the two are equivalent, by two one-sided tests at 5 %."""
    clusters: int | None
    """Target forms, or sentences, that rows share; None: rows are taken as independent."""
    only_first: float
    only_second: float
    """Test rows that only one of the two has right, means over seeds."""
    p_exact: float | None
    p_mid: float | None
    """McNemar's test of these probes, rows taken as independent; None with several seeds."""
    p_t: float | None
    """The paired t-test over rows of these probes, rows taken as independent; None if all rows differ alike."""
    p_probe: float
    """Of these probes: McNemar's mid-p; or where rows share target forms that of exchanging these, and with several
    seeds that of exchanging rows."""
    detectable: float | None
    """The difference that a comparison like this one shows four times out of five, not adjusted over sets; None if all
    rows differ alike."""
    seeds: int
    partial: bool

    def verdict(self, margin: float = EQUIVALENCE_MARGIN) -> Literal["first", "second", "equivalent", "undecided"]:
        """Which one is significantly better; or that they are equivalent within a margin; or that nothing is known."""
        if self.p_holm <= SIGNIFICANCE_LEVEL:
            return "first" if self.difference > 0 else "second"
        return "equivalent" if self.equivalence_margin <= margin else "undecided"


@dataclass(frozen=True, slots=True, kw_only=True)
class TieGroups:
    """Several encoders on one set, the best first."""

    dataset: str
    n: int
    accuracy: dict[str, float]
    letters: dict[str, str]
    about: InferenceTarget
    """What the letters are about."""
    partial: bool


@dataclass(frozen=True, slots=True)
class Side:
    """One side of a comparison: an encoder with a probe, by the sets it has results for."""

    name: str
    results: dict[str, list[Result]]
    """By set, one per seed; of several layers the one that dev chose."""


def select_side(run: Run, text: str) -> Side:
    """The results that ``encoder[|layer=L][|probe=P]…`` names; an encoder may be shortened to a part of its name."""
    name, *parts = [text] if text in run.encoders else text.split("|")
    encoder = _encoder(run, name)
    found = [r for r in run.results if r.cell.encoder == encoder]
    for part in parts:
        key, equals, value = part.partition("=")
        if not equals or key not in ("layer", *ONE_OF):
            raise UsageError(
                f"{text!r}: met {part!r}; expected layer, {', '.join(ONE_OF)} with = and a value after the encoder."
            )
        there = dict.fromkeys(str(getattr(r.cell, key)) for r in found)
        if value not in there:
            raise UsageError(f"{text!r}: {encoder} has no results with {key}={value}; it has {', '.join(there)}.")
        found = [r for r in found if str(getattr(r.cell, key)) == value]
    for key in ONE_OF:
        values = list(dict.fromkeys(str(getattr(r.cell, key)) for r in found))
        if len(values) > 1:
            example = f"'{encoder}|{key}={values[-1]}'"
            raise UsageError(f"{encoder} has results with {key} {', '.join(values)}; say which, as in {example}.")
    groups: dict[str, dict[str | None, list[Result]]] = {}
    for r in found:
        if r.metric == "accuracy" and r.n["te"] > 1:  # paired tests are about right and wrong, of some rows
            groups.setdefault(f"{r.cell.dataset}#{r.cell.data} {r.cell.limit}", {}).setdefault(r.cell.layer, []).append(
                r
            )
    return Side(text, {place: best_layer(by_layer) for place, by_layer in groups.items()})


def best_layer(by_layer: dict[str | None, list[Result]]) -> list[Result]:
    """The results of the layer with the highest accuracy on dev, of several the first."""
    return max(by_layer.values(), key=lambda rs: sum(r.dev_score or 0.0 for r in rs) / len(rs))


def non_baseline_encoders(run: Run) -> tuple[str, ...]:
    """The encoders of a run that are no baselines."""
    return tuple(name for name in run.encoders if name not in (*BASELINES, *ENCODER_BASELINES))


def _encoder(run: Run, name: str) -> str:
    if name in run.encoders:
        return name
    near = [encoder for encoder in run.encoders if name in encoder]
    if name and len(near) == 1:
        return near[0]
    close = near or difflib.get_close_matches(name, run.encoders, n=3)
    hint = f" Did you mean {' or '.join(close)}?" if close else ""
    raise UsageError(f"{run.folder} has no results of {name!r}.{hint} It has {', '.join(run.encoders) or 'none'}.")


def compare(run: Run, one: str, two: str) -> list[Comparison]:
    """Compare two encoders on every set that both have results for."""
    first, second = select_side(run, one), select_side(run, two)
    shared = [place for place in first.results if place in second.results]
    if not shared:
        raise UsageError(f"{one} and {two} have no set in common in {run.folder}.")
    found = _readable(shared, lambda place: _pair(run, first.results[place], second.results[place]))
    adjusted = holm([c.p for c in found]).tolist()
    named = _apart([c.dataset for c in found], [first.results[place][0] for place in shared])
    return [replace(c, p_holm=p, dataset=name) for c, p, name in zip(found, adjusted, named, strict=True)]


def _readable(places: list[str], look: Callable[[str], T]) -> list[T]:
    """What is found at places; those with a file that is lost or damaged are told and taken off the list."""
    found, lost = [], []
    for place in places:
        try:
            found.append(look(place))
        except RunError as e:
            lost.append((place, e))
    if not found:
        raise lost[0][1]
    for place, error in lost:
        warnings.warn(f"{place.partition('#')[0]} is not compared: {error}", CorruptionWarning, stacklevel=3)
        places.remove(place)
    return found


def _apart(names: Sequence[str], results: Sequence[Result]) -> list[str]:
    """Names of sets, with the digest of their rows where two have one name."""
    return [
        f"{name} #{result.cell.data[:8]}" if names.count(name) > 1 else name
        for name, result in zip(names, results, strict=True)
    ]


def _pair(run: Run, one: Sequence[Result], two: Sequence[Result]) -> Comparison:
    clusters = row_clusters(run, one[0])
    sides = _systems(run, (one, two), clusters)
    first, second = sides.correct
    found, apart = sides.difference(0, 1), first - second
    single = len(one) == len(two) == 1
    test, narrow = (
        mcnemar(first > 0.5, second > 0.5, level=level)
        for level in (1 - SIGNIFICANCE_LEVEL, 1 - 2 * SIGNIFICANCE_LEVEL)
    )
    # which has a width even if the two are right on the same rows
    low, high = min(found.interval()[0], test.low), max(found.interval()[1], test.high)
    equivalence_margin = max(map(abs, (*found.interval(1 - 2 * SIGNIFICANCE_LEVEL), narrow.low, narrow.high)))
    by_rows = mean(apart)
    return Comparison(
        dataset=one[0].cell.dataset,
        n=len(first),
        one=float(first.mean()),
        two=float(second.mean()),
        difference=found.value,
        about=_about(sides, 0, 1),
        low=max(-1.0, low),
        high=min(1.0, high),
        p=_p(sides, 0, 1),
        p_holm=1.0,
        equivalence_margin=min(1.0, equivalence_margin),
        clusters=len(set(clusters)) if clusters else None,
        only_first=float(apart.clip(min=0).sum()),
        only_second=float((-apart).clip(min=0).sum()),
        p_exact=test.p_exact if single else None,
        p_mid=test.p_mid if single else None,
        p_t=by_rows.p if by_rows.variance > 0 else None,
        p_probe=_p_probe(sides, 0, 1),
        detectable=detectable_by(found) if found.variance > 0 else None,
        seeds=min(len(one), len(two)),
        partial=one[0].partial,
    )


def detectable_by(found: Estimate) -> float:
    """The difference that a test with this standard error shows with POWER."""
    errors = quantile(1 - SIGNIFICANCE_LEVEL, found.df) + quantile(2 * POWER - 1, found.df)
    return errors * math.sqrt(found.variance)


def difference_p(run: Run, one: Sequence[Result], two: Sequence[Result]) -> float:
    """The two-sided p-value that two encoders differ on the same test rows, each by its results of all seeds."""
    return _p(_systems(run, (one, two), row_clusters(run, one[0])), 0, 1)


def _about(sides: Systems, *systems: int) -> InferenceTarget:
    if sides.known(*systems):
        return "encoder"
    varied = any(sides.training_variance(i) is not None or sides.seeds[i][1] > 1 for i in systems)
    return "partly" if varied else "probe"


def _p(sides: Systems, one: int, two: int) -> float:
    """About the encoders as far as that is known, and never less than what the trained probes alone have."""
    alone = _p_probe(sides, one, two)
    return alone if _about(sides, one, two) == "probe" else max(alone, sides.difference(one, two).p)


def _p_probe(sides: Systems, one: int, two: int) -> float:
    """McNemar's mid-p, or by exchanging what rows share; with several seeds by exchanging rows."""
    first, second = sides.sums[one], sides.sums[two]
    if sides.rows.clustered or max(sides.seeds[one][1], sides.seeds[two][1]) > 1:
        return clustered_p(first, second, range(len(first)))
    apart = first - second
    return binomial_p(int((apart > 0).sum()), int((apart < 0).sum()))[1]


def _systems(run: Run, sides: Sequence[Sequence[Result]], clusters: Sequence[str] | None) -> Systems:
    """Encoders on the same test rows, each by its results of all seeds."""
    correct = [np.array([run.correct(result) for result in side], np.float64) for side in sides]
    return Systems(
        Rows.of(correct[0].shape[1], clusters),
        np.array([side.mean(axis=0) for side in correct]),
        [_retrained([read_resamples(run, result) for result in side]) for side in sides],
        [(float(side.mean(axis=1).var(ddof=1)) if len(side) > 1 else 0.0, len(side)) for side in correct],
        [side[0].constant for side in sides],
    )


def _retrained(found: Sequence[Retrained | None]) -> Retrained | None:
    """Which rows other probes have right, means over seeds; None unless those of all seeds are known."""
    known = [each for each in found if each is not None]
    if len(known) < len(found):
        return None
    k = min(len(each.trained) for each in known)  # runs may have trained some of them more often
    trained, chosen = (np.mean(each, axis=0) for each in zip(*((a.trained[:k], a.chosen) for a in known), strict=True))
    return replace(known[0], trained=trained, chosen=chosen)


def row_clusters(run: Run, result: Result) -> list[str] | None:
    """The target form of each test row, or its sentence, where rows share them."""
    if result.clusters is None or result.clusters < 2:
        return None
    rows = run.rows(result)
    return cluster_ids([row.key for row in rows], [row.text for row in rows])


def tie_letters(run: Run, results: Mapping[str, Sequence[Result]]) -> tuple[dict[str, str], InferenceTarget]:
    """Letters of encoders on the same test rows, the best first, and what they are about.

    Those that share a letter do not differ significantly. Each has its results of all seeds.
    """
    given = list(results)
    clusters = row_clusters(run, results[given[0]][0])
    found = _systems(run, list(results.values()), clusters)
    order = sorted(range(len(given)), key=lambda i: (-float(found.correct[i].sum()), given[i]))
    pairs = list(combinations(order, 2))
    adjusted = holm([_p(found, one, two) for one, two in pairs]).tolist()
    values = {(given[one], given[two]): value for (one, two), value in zip(pairs, adjusted, strict=True)}
    return letters([given[i] for i in order], values), _about(found, *order)


def ties(run: Run, names: StringsOrPaths) -> list[TieGroups]:
    """Letters for several encoders on every set that all of them have results for."""
    columns = [select_side(run, name) for name in dict.fromkeys(as_strings(names, "an encoder"))]
    if len(columns) < 2:
        raise UsageError("A comparison needs two encoders or more.")
    shared = [place for place in columns[0].results if all(place in c.results for c in columns)]
    if not shared:
        raise UsageError(f"{', '.join(c.name for c in columns)} have no set in common in {run.folder}.")

    def look(place: str) -> TieGroups:
        of_set = {c.name: c.results[place] for c in columns}
        found_letters, about = tie_letters(run, of_set)
        first = of_set[columns[0].name][0]
        return TieGroups(
            dataset=first.cell.dataset,
            n=first.n["te"],
            accuracy={name: sum(r.score for r in of_set[name]) / len(of_set[name]) for name in found_letters},
            letters=found_letters,
            about=about,
            partial=first.partial,
        )

    found = _readable(shared, look)
    names = _apart([t.dataset for t in found], [columns[0].results[place][0] for place in shared])
    return [replace(t, dataset=name) for t, name in zip(found, names, strict=True)]
