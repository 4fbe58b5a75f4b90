"""The stored probes of a run, by column, set and layer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sentprobe.encoders import sends_texts
from sentprobe.errors import UsageError
from sentprobe.report.names import set_names, short_names
from sentprobe.report.result_grid import ColumnKey, Grid, Layers, SetKey, grid_of, label_columns
from sentprobe.report.set_summary import describe_set
from sentprobe.report.titles import columns_in_words, sets_in_words
from sentprobe.results.metric import metric_named
from sentprobe.results.records import read_aliases
from sentprobe.results.result import Result
from sentprobe.results.run import Run
from sentprobe.results.sides import best_layer


@dataclass(frozen=True)
class Choice:
    """An encoder with its probes."""

    name: str
    """The name in the tables of a run; no two are alike."""
    short: str
    column: ColumnKey
    cells: Mapping[SetKey, Layers]
    """By set and layer, the results whose probe was stored: of several seeds, the first."""
    baseline: bool
    layer: str | None = None
    """The selected layer; None: for each set the one that was best on dev."""

    @property
    def layers(self) -> list[str]:
        """The layers there are, if there are several."""
        names = list(dict.fromkeys(name for layers in self.cells.values() for name in layers))
        return [name for name in names if name is not None] if len(names) > 1 else []

    @property
    def remote(self) -> bool:
        """Whether sentences leave this machine to be encoded."""
        return sends_texts(self.column.encoder)

    def result_for(self, set_key: SetKey) -> Result | None:
        """The result whose probe is used for a set, if there is one."""
        layers = self.cells.get(set_key, {})
        if self.layer is not None:
            layers = {name: results for name, results in layers.items() if name == self.layer}
        return best_layer(layers)[0] if layers else None


@dataclass(frozen=True)
class ProbeCatalogue:
    """All probes there are, and why others are missing."""

    choices: Sequence[Choice]
    sets: Mapping[SetKey, Mapping[str, str | None]]
    """The sets with a probe, in order: ``set``, its short name, ``name`` in full, ``question``."""
    excluded: Sequence[Mapping[str, str]]
    """``set`` and ``why``."""

    def selected(self, names: Sequence[str] | None, layers: Mapping[str, str]) -> list[Choice]:
        """The choices with these names, or all that are neither baselines nor remote; at these layers."""
        by_name = {choice.name: choice for choice in self.choices}
        if names is None:
            names = [choice.name for choice in self.choices if not choice.baseline and not choice.remote]
        for name in (*names, *layers):
            if name not in by_name:
                raise UsageError(
                    f"There is no stored probe of {name!r}; expected one of {', '.join(by_name) or 'none'}."
                )
        for name, layer in layers.items():
            if layer not in by_name[name].layers:
                layer_names = ", ".join(by_name[name].layers)
                expected = f"expected one of {layer_names}" if layer_names else "it has no layers to choose from"
                raise UsageError(f"{name} has no layer {layer!r}; {expected}.")
        return [replace(by_name[name], layer=layers.get(name)) for name in dict.fromkeys(names)]


def probe_catalogue(run: Run) -> ProbeCatalogue:
    """Find the stored probes of a run; those of each training of a recipe, since the mean of these has none."""
    run = run.without_recipes()
    grid = grid_of(run)
    both = [*label_columns(grid.columns, read_aliases(run.info)), *label_columns(grid.baselines)]
    names, titles = ([column.name for column in columns] for columns in (both, columns_in_words(both)))
    choices = [
        Choice(name, short, column, cells, i >= len(grid.columns))
        for i, (column, name, short) in enumerate(
            zip((*grid.columns, *grid.baselines), names, short_names(titles), strict=True)
        )
        if (cells := _readable(run, grid, column))
    ]
    sets = sets_in_words([describe_set(run, grid, set_key) for set_key in grid.sets])
    called = dict(zip(grid.sets, set_names(sets), strict=True))
    probed = {set_key for choice in choices for set_key in choice.cells}
    return ProbeCatalogue(
        choices,
        {
            set_key: {"set": name, "name": set_key.name, "question": _about(run, set_key).get("question")}
            for set_key, name in called.items()
            if set_key in probed
        },
        [{"set": called[p], "why": _exclusion_reason(run, grid, p)} for p in grid.sets if p not in probed],
    )


def _readable(run: Run, grid: Grid, column: ColumnKey) -> dict[SetKey, Layers]:
    """The first seed's results whose probe was stored and takes nothing but the sentence."""
    readable: dict[SetKey, Layers] = {}
    for set_key in grid.sets:
        layers = {
            layer: [stored[0]]
            for layer, results in grid.layers(column, set_key).items()
            if (stored := [r for r in results if not _inputs(run, set_key) and run.has_model(r)])
        }
        if layers:
            readable[set_key] = layers
    return readable


def _exclusion_reason(run: Run, grid: Grid, set_key: SetKey) -> str:
    if inputs := _inputs(run, set_key):
        return f"Its probe takes the sentence and {', '.join(inputs)}."
    results = [
        r for column in grid.columns for layer_results in grid.layers(column, set_key).values() for r in layer_results
    ]
    if results and metric_named(results[0].metric).predicts != "classes":
        return f"It is scored by {results[0].metric}: there are no classes to predict."
    return (
        "Its probes were not stored: they are too large, or there is one per fold, or the run is of an older version."
    )


def _inputs(run: Run, set_key: SetKey) -> Sequence[str]:
    return [str(name) for name in _about(run, set_key).get("inputs", ())]


def _about(run: Run, set_key: SetKey) -> Mapping[str, Any]:
    datasets = run.info.get("datasets", ())
    return next((d for d in datasets if (d["name"], d["digest"]) == (set_key.name, set_key.data)), {})
