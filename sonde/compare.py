"""Two encoders, or more, on the same test rows: which differences are there, and which could have been found?

Every test is paired, row by row. Two encoders are compared on each set by McNemar's tests; where a set has target
forms, whose rows stand and fall together, by exchanging whole forms instead. The p-values are adjusted by Holm over the
sets, and beside them stands the difference with an interval from a paired bootstrap, of forms where there are any. More
than two get letters: those that share one were not found to differ.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from sonde.baselines import BASELINES
from sonde.errors import UsageError
from sonde.result import Result
from sonde.run.folder import Run
from sonde.run.loop import ALWAYS
from sonde.run.parts import together
from sonde.several import Texts, texts
from sonde.stats import clustered_p, detectable, holm, letters, mcnemar, paired_bootstrap, tie_groups
from sonde.stats.resample import cluster_numbers

ONE_OF = ("probe", "limit", "device", "sonde", "id")
"""What an encoder is compared with one value of."""
DRAWS = 10_000
"""Resamples of test rows, or of target forms."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Two encoders on one set."""

    dataset: str
    n: int
    one: float
    two: float
    """Accuracies, means over seeds."""
    difference: float
    low: float
    high: float
    """95 % interval of the difference, from the paired bootstrap."""
    clusters: int | None
    """Target forms that were drawn; None: rows were."""
    only_one: int
    only_two: int
    """Test rows that only one of the two has right, at the first seed."""
    p_exact: float
    p_mid: float
    """McNemar's test, at the first seed: rows taken as independent."""
    p: float
    """The mid-p value, or where there are target forms that of exchanging these."""
    p_holm: float
    """``p``, adjusted over the sets compared."""
    detectable: float
    """The difference that these rows, or forms, show four times out of five."""
    seeds: int
    partial: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Ties:
    """Several encoders on one set, the best first."""

    dataset: str
    n: int
    accuracy: dict[str, float]
    letters: dict[str, str]
    partial: bool


@dataclass(frozen=True, slots=True)
class Column:
    """One side of a comparison: an encoder with a probe, by the sets it has results for."""

    name: str
    results: dict[str, list[Result]]
    """By set, one per seed; of several layers the one that dev chose."""


def column(run: Run, text: str) -> Column:
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
    return Column(text, {place: best_layer(by_layer) for place, by_layer in groups.items()})


def best_layer(by_layer: dict[str | None, list[Result]]) -> list[Result]:
    """The results of the layer with the highest accuracy on dev, of several the first."""
    return max(by_layer.values(), key=lambda rs: sum(r.dev_score or 0.0 for r in rs) / len(rs))


def others(run: Run) -> tuple[str, ...]:
    """The encoders of a run that are no baselines."""
    return tuple(name for name in run.encoders if name not in (*BASELINES, *ALWAYS))


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
    first, second = column(run, one), column(run, two)
    shared = [place for place in first.results if place in second.results]
    if not shared:
        raise UsageError(f"{one} and {two} have no set in common in {run.folder}.")
    found = [_pair(run, first.results[place], second.results[place]) for place in shared]
    adjusted = holm([c.p for c in found]).tolist()
    return [replace(c, p_holm=p) for c, p in zip(found, adjusted, strict=True)]


def _pair(run: Run, one: Sequence[Result], two: Sequence[Result]) -> Comparison:
    rights = [np.array([run.right(r) for r in side]) for side in (one, two)]
    clusters = forms(run, one[0])
    test = mcnemar(rights[0][0], rights[1][0])
    drawn = paired_bootstrap(*(right.mean(axis=0) for right in rights), clusters=clusters, seed=0, draws=DRAWS)
    p, least = test.p_mid, detectable((test.b + test.c) / test.n, test.n)
    if clusters:
        p = clustered_p(rights[0][0], rights[1][0], clusters)
        # the interval is 1.96 standard errors to either side, and 1.96 + 0.84 are needed
        least = (drawn.high - drawn.low) / (2 * 1.96) * (1.96 + 0.84)
    return Comparison(
        dataset=one[0].cell.dataset,
        n=test.n,
        one=float(rights[0].mean()),
        two=float(rights[1].mean()),
        difference=drawn.difference,
        low=drawn.low,
        high=drawn.high,
        clusters=len(set(clusters)) if clusters else None,
        only_one=test.b,
        only_two=test.c,
        p_exact=test.p_exact,
        p_mid=test.p_mid,
        p=p,
        p_holm=p,
        detectable=least,
        seeds=min(len(one), len(two)),
        partial=one[0].partial,
    )


def forms(run: Run, result: Result) -> list[str] | None:
    """The target form of each test row, or its sentence, where rows share them."""
    if result.clusters is None or result.clusters < 2:
        return None
    rows = run.rows(result)
    return together([row.key for row in rows], [row.text for row in rows])


def tied(run: Run, results: Mapping[str, Result]) -> dict[str, str]:
    """Letters of encoders on the same test rows, the best first: those that share one were not found to differ."""
    right = {name: run.right(result) for name, result in results.items()}
    clusters = forms(run, next(iter(results.values())))
    if clusters is None:
        return tie_groups(right)
    names = sorted(right, key=lambda name: (-int(right[name].sum()), name))
    pairs = list(combinations(names, 2))
    # a form counts by its sum only: to add up once, and not for every pair, is what makes many encoders bearable
    of_row = cluster_numbers(clusters, len(clusters))
    sums = {name: np.bincount(of_row, right[name]) for name in names}
    forms_of = range(int(of_row.max()) + 1)
    p = holm([clustered_p(sums[a], sums[b], forms_of) for a, b in pairs])
    return letters(names, dict(zip(pairs, p.tolist(), strict=True)))


def ties(run: Run, names: Texts) -> list[Ties]:
    """Letters for several encoders on every set that all of them have results for."""
    columns = [column(run, name) for name in dict.fromkeys(texts(names, "an encoder"))]
    if len(columns) < 2:
        raise UsageError("A comparison needs two encoders or more.")
    shared = [place for place in columns[0].results if all(place in c.results for c in columns)]
    if not shared:
        raise UsageError(f"{', '.join(c.name for c in columns)} have no set in common in {run.folder}.")
    found = []
    for place in shared:
        of_set = {c.name: c.results[place] for c in columns}
        found_letters = tied(run, {name: rs[0] for name, rs in of_set.items()})
        first = of_set[columns[0].name][0]
        means = {name: sum(r.accuracy for r in of_set[name]) / len(of_set[name]) for name in found_letters}
        found.append(
            Ties(
                dataset=first.cell.dataset,
                n=first.n["te"],
                accuracy=means,
                letters=found_letters,
                partial=first.partial,
            )
        )
    return found
