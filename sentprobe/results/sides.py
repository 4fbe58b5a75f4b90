"""The sides of a comparison: the results of one encoder, set by set."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sentprobe.errors import UsageError
from sentprobe.probes.baselines import ALL_BASELINES
from sentprobe.results.metric import DEFAULT_METRIC, metric_named
from sentprobe.results.records import read_aliases
from sentprobe.results.result import Result
from sentprobe.results.run import Run
from sentprobe.results.run_kind import RUN_KINDS, run_kind

ONE_OF = ("probe", "limit", "device", "sentprobe", "id")
"""Facts that must have one value on each side of a comparison."""


def _synonyms() -> dict[str, str]:
    """What the fact ``probe`` is called in runs of other kinds: words are retrieved by nn, csls or isf."""
    return {kind.way: "probe" for kind in RUN_KINDS.parts().values()}


@dataclass(frozen=True, slots=True)
class Side:
    """One side of a comparison: the results of an encoder with one probe, by set."""

    name: str
    results: dict[str, list[Result]]
    """By set, one per encoder of a recipe and seed of the probe; of several layers, the one chosen on dev."""
    untested: tuple[str, ...] = ()
    """Sets that cannot be tested, since rows are not right or wrong, each with its metric."""


def select_side(run: Run, text: str, metric: str = DEFAULT_METRIC) -> Side:
    """The results of ``encoder[|layer=L][|probe=P]…``; part of the name is enough if it is unambiguous.

    The name of a recipe selects all its trainings, and that of a training only this one.

    ``metric``: what they are to be compared by.
    """
    name, *parts = [text] if text in run.encoders else text.split("|")
    encoder = _encoder(run, name)
    called = read_aliases(run.info).get(encoder, encoder)
    of_encoder = [r for r in run.results if r.cell.encoder == encoder or run.recipes.get(r.cell.encoder) == encoder]
    results = [r for r in of_encoder if _testable(r, metric)] or of_encoder
    for part in parts:
        typed, equals, value = part.partition("=")
        key = _synonyms().get(typed, typed)
        if not equals or key not in ("layer", *ONE_OF):
            raise UsageError(
                f"{text!r}: expected name=value after the encoder, where name is one of "
                f"layer, {', '.join(ONE_OF)}; got {part!r}."
            )
        present = dict.fromkeys(str(getattr(r.cell, key)) for r in results)
        if value not in present:
            raise UsageError(f"{text!r}: {called} has no results with {typed}={value}; it has {', '.join(present)}.")
        results = [r for r in results if str(getattr(r.cell, key)) == value]
    untested = dict.fromkeys(f"{r.cell.dataset} ({_reason(r)})" for r in of_encoder if not _testable(r, metric))
    results = [r for r in results if _testable(r, metric)]
    for key in ONE_OF:
        if key == "id" and encoder in run.recipes.values():  # of which each training has its own
            continue
        values = list(dict.fromkeys(str(getattr(r.cell, key)) for r in results))
        if len(values) > 1 and not (key == "probe" and _is_probed_once(results)):
            name = run_kind([results[0].cell.probe]).way if key == "probe" else key
            example = f"'{called}|{name}={values[-1]}'"
            raise UsageError(f"{called} has results with {name} {', '.join(values)}; choose one, as in {example}.")
    groups: dict[str, dict[str | None, list[Result]]] = {}
    for r in results:
        set_key = f"{r.cell.dataset}#{r.cell.data} {r.cell.limit}"
        groups.setdefault(set_key, {}).setdefault(r.cell.layer, []).append(r)
    return Side(text, {set_key: best_layer(by_layer) for set_key, by_layer in groups.items()}, tuple(untested))


def _is_probed_once(results: Iterable[Result]) -> bool:
    """Whether every set has results with one probe only: some sets may be probed, and others compared as they are."""
    probes: dict[tuple[str, str], set[str | None]] = {}
    for r in results:
        probes.setdefault((r.cell.dataset, r.cell.data), set()).add(r.cell.probe)
    return all(len(of_set) == 1 for of_set in probes.values())


def _testable(result: Result, metric: str) -> bool:
    """Whether a result can be compared by a metric; by default, by what it is scored by."""
    if result.n["te"] <= 1:
        return False
    if metric == DEFAULT_METRIC:
        return metric_named(result.metric).has_paired_test
    part = metric_named(metric)
    return part.has_paired_test and part.predicts == metric_named(result.metric).predicts


def _reason(result: Result) -> str:
    """Why a result is not testable."""
    return "one row" if result.n["te"] <= 1 else metric_named(result.metric).title


def untested_sets(run: Run, names: Iterable[str], metric: str = DEFAULT_METRIC) -> tuple[str, ...]:
    """Sets of these encoders that paired tests leave out, each with its metric, as in ``similarity/en (Pearson)``."""
    return tuple(dict.fromkeys(text for name in names for text in select_side(run, name, metric).untested))


def shown_names(run: Run, texts: Iterable[str]) -> list[str]:
    """What encoders are called, given as ``select_side`` takes them: their aliases where they have one."""
    aliases, titles = read_aliases(run.info), []
    for text in texts:
        name, *parts = [text] if text in run.encoders else text.split("|")
        encoder = _encoder(run, name)
        titles.append("|".join((aliases.get(encoder, name), *parts)))
    return titles


def single_trainings(run: Run, texts: Iterable[str]) -> dict[str, str]:
    """Of encoders given as ``select_side`` takes them, those that are one training of a recipe, with the recipe."""
    names = {text: _encoder(run, text if text in run.encoders else text.partition("|")[0]) for text in texts}
    return {text: run.recipes[name] for text, name in names.items() if name in run.recipes}


def nothing_shared(run: Run, sides: Sequence[Side]) -> UsageError:
    """The error if there is no set to compare these on."""
    untested = list(dict.fromkeys(text for side in sides for text in side.untested))
    names = shown_names(run, [side.name for side in sides])
    who = f"{', '.join(names[:-1])} and {names[-1]}"
    if not untested:
        return UsageError(f"{who} have no set in common in {run.folder}.")
    return UsageError(
        f"{who} have no set in common in {run.folder} that can be tested: paired tests need rows that are right or "
        f"wrong, as those of accuracy and precision@1 are. Not tested: {', '.join(untested)}."
    )


def best_layer(by_layer: dict[str | None, list[Result]]) -> list[Result]:
    """The results of the layer with the highest accuracy on dev; the first if several are best."""
    return max(by_layer.values(), key=lambda rs: sum(r.dev_score or 0.0 for r in rs) / len(rs))


def non_baseline_encoders(run: Run) -> tuple[str, ...]:
    """The encoders of a run that are not baselines; once for each way that stands in the place of a probe."""
    names = dict.fromkeys(run.recipes.get(name, name) for name in run.encoders if name not in ALL_BASELINES)
    sides = []
    for name in names:
        ways = list(dict.fromkeys(r.cell.probe for r in run.results if r.cell.encoder == name and _is_way(r)))
        sides += [f"{name}|{run_kind([way]).way}={way}" for way in ways] if len(ways) > 1 else [name]
    return tuple(sides)


def _is_way(result: Result) -> bool:
    """Whether something stands in the place of a probe, such as a way to retrieve neighbours, that can be compared."""
    way = result.cell.probe
    return way is not None and not run_kind([way]).trains_probes and metric_named(result.metric).has_paired_test


def _encoder(run: Run, name: str) -> str:
    """The encoder or recipe that is meant by a name, or by a part of it."""
    recipes = [*dict.fromkeys(run.recipes[encoder] for encoder in run.encoders if encoder in run.recipes)]
    if name in run.encoders or name in recipes:
        return name
    aliases = read_aliases(run.info)
    called = [encoder for encoder in run.encoders if aliases.get(encoder) == name]
    if called:
        return called[-1]
    near = [recipe for recipe in recipes if name in recipe]
    near = near or [encoder for encoder in run.encoders if name in encoder or name in aliases.get(encoder, "")]
    encoders = [
        encoder for encoder in near if encoder not in ALL_BASELINES
    ]  # which are only meant if they are named in full
    if name and len(encoders) == 1:
        return encoders[0]
    titles = [*recipes, *(aliases.get(encoder, encoder) for encoder in run.encoders)]
    close = [aliases.get(encoder, encoder) for encoder in near] or difflib.get_close_matches(name, titles, n=3)
    hint = f" Did you mean {' or '.join(close)}?" if close else ""
    raise UsageError(f"{run.folder} has no results of {name!r}.{hint} It has {', '.join(titles) or 'none'}.")
