"""What the scores of a run mean: its controls and measures by set and column, as plain data.

readings   one sentence by control and measure: how to read its number
sets       parallel to the sets of the summary: a list parallel to its columns, null where nothing was asked, else

    controls     by name: value, low, high, n; and lost, the plain score minus this one, null where the two are not of
                 the same test rows
    selectivity  where there is the control ``key``: value, low and high of task minus control, which are accuracies on
                 the same rows, those of the control; and on how many keys
    online       value, low and high of the compression against the prior, and [value, low, high] of that against
                 uniform; bits, and what uniform and prior cost; surplus and enough (rows, 0: never) by share of the
                 prior; blocks: rows, bits, test_bits, test_accuracy
    learning     value, low and high of what the last doubling of the training rows adds; points: rows, accuracy, low,
                 high, subsamples, sd; and baselines by name, points of the same rows
    given        by encoder: bits, low, high that this one adds to it
    capacity     points: rank, norm, l2, dev, test, bits, and frontier: that none with a smaller norm is as right;
                 enough, the rank that will do; and volume, null where there is one rank only
    hidden       value, low, high of what a hidden layer adds; linear, accuracy and width, and points: width, dev, test
    mix          value, low, high, centre, expected, layers: layer, weight, up_to
    erasure      by the label of the set whose property was erased: value, low, high, random, reinjected, rank
    inlp         value, low, high, rank
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from sonde.compare import best_layer
from sonde.report.grid import ColumnKey, Grid, SetKey
from sonde.result import Result
from sonde.run.control import CONTROLS
from sonde.run.folder import Run
from sonde.run.measure import ERASED, GIVEN, MEASURES, measure_of
from sonde.run.variants import base_variant

GIVEN_SEPARATOR = " given "
"""What stands between the identities of two encoders; neither has spaces."""
LINEAR = "linear"
"""The probe that measures are about."""
SHARES = ("75", "50", "25")
"""Of the prior, in per cent: losses that are held to be good enough."""


def variant_results(run: Run, grid: Grid, labels: Sequence[str]) -> dict[str, Any] | None:
    """What was asked beside the plain scores, of sets that are called by these labels; None if nothing was."""
    if not run.extras:
        return None
    names = {f"{ERASED}{place.name}#{place.data}": label for place, label in zip(grid.sets, labels, strict=True)}
    sets = [[_cell(run, grid, column, place, names) for column in grid.columns] for place in grid.sets]
    asked = dict.fromkeys(base_variant(r.cell.variant or "") for r in run.extras)
    readings = {name: CONTROLS[name].interpretation for name in CONTROLS if name in asked}
    readings |= {name: MEASURES[name].interpretation for name in MEASURES if name in asked}
    readings |= {name: measure_of(name).interpretation for name in asked if name.startswith(GIVEN)}
    return {"readings": readings, "sets": sets}


def _cell(run: Run, grid: Grid, column: ColumnKey, place: SetKey, erasures: Mapping[str, str]) -> dict[str, Any] | None:
    layers = grid.layers(column, place)
    if not layers:
        return None
    plain = best_layer(layers)[0]
    found = _about(run, plain)
    if not found:
        return None
    controls = {name: _control(plain, found[name]) for name in CONTROLS if name in found}
    erased = {label: _erased(found[name]) for name, label in erasures.items() if name in found}
    given = {name.removeprefix(GIVEN): _given(r) for name, r in found.items() if name.startswith(GIVEN)}
    return {
        "controls": controls,
        "selectivity": _selectivity(found["key"]) if "key" in found else None,
        "online": _online(found["online"]) if "online" in found else None,
        "learning": _learning(run, found["learning"]) if "learning" in found else None,
        "given": given,
        "capacity": _capacity(found["capacity"]) if "capacity" in found else None,
        "hidden": _hidden(found["hidden"]) if "hidden" in found else None,
        "mix": _mix(found["mix"]) if "mix" in found else None,
        "inlp": _erased(found["inlp"]) if "inlp" in found else None,
        "erasure": erased,
    }


def _about(run: Run, plain: Result) -> dict[str, Result]:
    """The controls and measures of the layer that is shown, by name; of several seeds, that of the plain result.

    Measures are about the linear probe: they stand with it, or where it was not run with what was. The encoder that
    stands in for an untrained one is another.
    """
    cell, found = plain.cell, dict[str, Result]()
    linear = any(r.cell.probe == LINEAR and r.cell.encoder == cell.encoder for r in run.results)
    near = (r for r in run.extras if (r.cell.encoder, r.cell.data) == (cell.encoder, cell.data))
    for r in sorted(near, key=lambda r: r.cell.seed != cell.seed):
        name, other = r.cell.variant or "", r.cell
        alike = replace(
            other,
            variant=None,
            seed=cell.seed,
            probe=other.probe if name in CONTROLS or linear else cell.probe,
            layer=cell.layer if name == "mix" else other.layer,
            identity=cell.identity if name == "untrained" else _own(other.identity),
        )
        if alike == cell:
            found.setdefault(name, r)
    return found


def _own(identity: str | None) -> str | None:
    """The identity of the encoder that was probed, without that of one that was taken for given."""
    return identity and identity.partition(GIVEN_SEPARATOR)[0]


def _ranged(r: Result) -> dict[str, Any]:
    low, high = r.range
    return {"value": r.score, "low": low, "high": high}


def _control(plain: Result, r: Result) -> dict[str, Any]:
    comparable = CONTROLS[str(r.cell.variant)].same_test and r.n["te"] == plain.n["te"]
    return {**_ranged(r), "lost": plain.score - r.score if comparable else None, "n": r.n["te"]}


def _selectivity(r: Result) -> dict[str, Any] | None:
    if "selectivity" not in r.scores:
        return None
    names = {"value": "selectivity", "low": "selectivity_low", "high": "selectivity_high"}
    said: dict[str, Any] = {name: r.scores[of] for name, of in names.items()}
    return {**said, "task": r.scores["task"], "control": r.scores["control"], "keys": int(r.scores["keys"])}


def _online(r: Result) -> dict[str, Any]:
    scores = r.scores
    return {
        **_ranged(r),
        "bits": scores["bits"], "uniform": scores["uniform_bits"], "prior": scores["prior_bits"],
        "against_uniform": [scores[name] for name in ("compression", "compression_low", "compression_high")],
        "surplus": {share: scores[f"surplus_{share}"] for share in SHARES},
        "enough": {share: int(scores[f"enough_{share}"]) for share in SHARES},
        "blocks": [dict(each) for each in r.tried],
    }  # fmt: skip


def _learning(run: Run, r: Result) -> dict[str, Any]:
    """A curve, and those of baselines that learned from the same subsamples."""
    baselines = {"majority": [{"rows": each["rows"], "accuracy": each["majority"]} for each in r.tried]}
    for other in run.extras:
        alike = replace(other.cell, encoder=r.cell.encoder, identity=r.cell.identity, probe=r.cell.probe)
        if other.cell.probe is None and replace(alike, layer=r.cell.layer, device=r.cell.device) == r.cell:
            baselines[other.cell.encoder] = [dict(each) for each in other.tried]
    return {**_ranged(r), "points": [dict(each) for each in r.tried], "baselines": baselines}


def _given(r: Result) -> dict[str, Any]:
    return {"bits": r.score, "low": r.interval[0], "high": r.interval[1]}


def _capacity(r: Result) -> dict[str, Any]:
    return {"points": [dict(each) for each in r.tried], "volume": r.scores.get("volume"), "enough": int(r.score)}


def _hidden(r: Result) -> dict[str, Any]:
    return {
        **_ranged(r), "linear": r.scores["linear"], "accuracy": r.scores["accuracy"], "width": r.chosen["hidden"],
        "points": [dict(each) for each in r.tried],
    }  # fmt: skip


def _mix(r: Result) -> dict[str, Any]:
    return {
        **_ranged(r), "centre": r.scores["centre"], "expected": r.scores.get("expected_layer"),
        "layers": [dict(each) for each in r.tried],
    }  # fmt: skip


def _erased(r: Result) -> dict[str, Any]:
    more = {name: r.scores.get(name) for name in ("random", "reinjected")}
    return {**_ranged(r), **more, "rank": int(r.scores["rank"])}
