"""Controls and measures: the results of each on every set, and tables of them, to be read together with the scores.

The columns come from the objects: each control and measure has ``columns`` that say what is printed of its results.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from sentprobe.core.formatting import ABSENT, BITS, PLAIN, POINTS
from sentprobe.core.table import CellText, Table, TableColumn
from sentprobe.report.extension import attempt
from sentprobe.report.result_grid import ColumnKey, Grid, SetKey
from sentprobe.report.types import CellSummary, Summary
from sentprobe.results.inference import by_encoder_seed
from sentprobe.results.metric import DEFAULT_METRIC, metric_named
from sentprobe.results.result import Cell, Result
from sentprobe.results.run import Run
from sentprobe.results.sides import best_layer
from sentprobe.run.control import CONTROLS, Control
from sentprobe.run.measure import MEASURES, Measure
from sentprobe.run.measures import measure_of
from sentprobe.run.own_score import is_control_of, try_compare
from sentprobe.run.variant import ERASED, GIVEN, VariantColumn, VariantSummary, base_variant
from sentprobe.stats import holm
from sentprobe.stats import level as levels

GIVEN_SEPARATOR = " given "
"""Separates the identities of two encoders; neither has spaces."""
LINEAR = "linear"
"""The probe that measures are about."""
NO_INTERVAL = "none"
"""The kind of the interval of a number that has none."""
UNKNOWN = "its package is not installed; numbers are shown as they were recorded."
"""In place of an interpretation."""

Part = Control | Measure
Variants = tuple[VariantSummary, ...]
"""Those of one set and column."""


def part_of(name: str) -> Part | None:
    """The control or measure of this name, as in ``VariantSummary.of``; None if its package is not installed."""
    if name in CONTROLS:
        return CONTROLS[name]
    return measure_of(name) if name in MEASURES or name.startswith(GIVEN) else None


def variant_results(run: Run, grid: Grid, labels: Sequence[str]) -> list[tuple[tuple[VariantSummary, ...], ...]]:
    """What was computed besides the plain scores, per set and column; ``labels`` are those of the sets."""
    extras = _Extras.of(run)
    erased = {f"{ERASED}{set_key.name}#{set_key.data}": label for set_key, label in zip(grid.sets, labels, strict=True)}
    by_set = [[_of_cell(extras, grid, column, set_key, erased) for column in grid.columns] for set_key in grid.sets]
    by_column = [_adjusted([of_set[i] for of_set in by_set]) for i in range(len(grid.columns))]
    return [tuple(of_column[i] for of_column in by_column) for i in range(len(by_set))]


def _adjusted(of_column: Sequence[Variants]) -> list[tuple[VariantSummary, ...]]:
    """The variants of a column, by set, with p-values adjusted by Holm over all of them."""
    p_values = [v.lost_p for variants in of_column for v in variants if v.lost_p is not None]
    adjusted = iter(holm(p_values).tolist())
    return [
        tuple(v if v.lost_p is None else replace(v, lost_p=next(adjusted)) for v in variants) for variants in of_column
    ]


def interpret_variants(run: Run) -> dict[str, str]:
    """How to read each control and measure of a run, in a sentence, by name."""
    names = dict.fromkeys(base_variant(r.cell.variant or "") for r in run.extras)
    parts = {name: part_of(name) for name in sorted(names, key=variant_order)}
    return {name: UNKNOWN if part is None else part.interpretation for name, part in parts.items()}


def variant_order(of: str) -> tuple[int, int]:
    """Controls, then measures, each in their own order; then the others."""
    for kind, names in enumerate((list(CONTROLS), list(MEASURES))):
        if of in names:
            return kind, names.index(of)
    return 2, 0


@dataclass(frozen=True)
class _Extras:
    """The controls and measures of a run, indexed."""

    by_cell: Mapping[tuple[str, str], Sequence[Result]]
    """By encoder and set."""
    baselines: Mapping[tuple[str | None, str], Sequence[Result]]
    """Of baselines that learn from the words themselves, by variant and set."""
    linear: frozenset[str]
    """Encoders that were run with the linear probe."""
    run: Run

    @classmethod
    def of(cls, run: Run) -> _Extras:
        by_cell: dict[tuple[str, str], list[Result]] = {}
        baselines: dict[tuple[str | None, str], list[Result]] = {}
        for r in run.extras:
            by_cell.setdefault((r.cell.encoder, r.cell.data), []).append(r)
            if r.cell.probe is None:
                baselines.setdefault((r.cell.variant, r.cell.data), []).append(r)
        linear = frozenset(r.cell.encoder for r in run.results if r.cell.probe == LINEAR)
        return cls(by_cell, baselines, linear, run)


def _of_cell(
    extras: _Extras, grid: Grid, column: ColumnKey, set_key: SetKey, erased: Mapping[str, str]
) -> tuple[VariantSummary, ...]:
    layers = grid.layers(column, set_key)
    if not layers:
        return ()
    by_training = [
        {name: _summary(extras, group[0], r, erased.get(name, name)) for name, r in _about(extras, group[0]).items()}
        for group in by_encoder_seed(best_layer(layers))
    ]
    names = dict.fromkeys(name for of_training in by_training for name in of_training)
    order = list(erased)

    def key(name: str) -> tuple[int, int, int]:
        return *variant_order(base_variant(name)), order.index(name) if name in erased else len(order)

    return tuple(_mean([v[name] for v in by_training if name in v]) for name in sorted(names, key=key))


def _mean(variants: Sequence[VariantSummary]) -> VariantSummary:
    """A control or measure over the trainings of a recipe; curves are of the first."""
    first = variants[0]
    if len(variants) == 1:
        return first

    def mean(values: Sequence[float | None]) -> float | None:
        numbers = [value for value in values if value is not None]
        return sum(numbers) / len(numbers) if len(numbers) == len(values) else None

    shared = [name for name in first.scores if all(name in v.scores for v in variants)]
    return replace(
        first,
        value=sum(v.value for v in variants) / len(variants),
        low=mean([v.low for v in variants]),
        high=mean([v.high for v in variants]),
        lost=mean([v.lost for v in variants]),
        scores={name: sum(v.scores[name] for v in variants) / len(variants) for name in shared},
    )


def _about(extras: _Extras, plain: Result) -> dict[str, Result]:
    """The controls and measures of the layer that is shown, by name; of several seeds, that of the plain result."""
    cell, results = plain.cell, dict[str, Result]()
    linear = cell.encoder in extras.linear
    near = extras.by_cell.get((cell.encoder, cell.data), ())
    for r in sorted(near, key=lambda r: r.cell.seed != cell.seed):
        if _as_plain(r.cell, cell, linear) == cell:
            results.setdefault(r.cell.variant or "", r)
    return results


def _as_plain(cell: Cell, plain: Cell, linear: bool) -> Cell:
    """The cell of a variant without what it may differ in from the plain cell that it is shown with."""
    part = part_of(base_variant(cell.variant or ""))
    # measures are about the linear probe: they are shown with it, or if it was not run, with the probe that was
    own_probe = isinstance(part, Control) or linear
    all_layers = part.all_layers if isinstance(part, Measure) else part is None and cell.layer is None
    # a control may replace the encoder by another, such as an untrained one
    replaced = isinstance(part, Control) and part.encoder is not None
    return replace(
        cell,
        variant=None,
        parts=plain.parts,
        seed=plain.seed,
        probe=cell.probe if own_probe else plain.probe,
        layer=plain.layer if all_layers else cell.layer,
        identity=plain.identity if replaced else _own(cell.identity),
    )


def _own(identity: str | None) -> str | None:
    """The identity of the encoder that was probed, without that of one that was given."""
    return identity and identity.partition(GIVEN_SEPARATOR)[0]


def _summary(extras: _Extras, plain: Result, r: Result, name: str) -> VariantSummary:
    of = base_variant(r.cell.variant or "")
    part = part_of(of)
    low, high = (None, None) if r.interval_kind == NO_INTERVAL else r.range
    accuracy = metric_named(DEFAULT_METRIC)
    fall = next(try_compare(extras.run, [plain], r, accuracy), None) if is_control_of(r, plain) else None
    comparable = isinstance(part, Control) and part.same_test and r.n["te"] == plain.n["te"]
    return VariantSummary(
        name=name,
        of=of,
        kind="control" if isinstance(part, Control) else "measure",
        value=r.score,
        low=low,
        high=high,
        n=r.n["te"],
        lost=plain.score - r.score if comparable else None,
        lost_low=None if fall is None else fall.low,
        lost_high=None if fall is None else fall.high,
        lost_p=None if fall is None else fall.p,
        scores=dict(r.scores),
        chosen=dict(r.chosen),
        points=tuple(dict(point) for point in r.tried),
        baselines={} if isinstance(part, Control) else _baselines(extras, r),
    )


def _baselines(extras: _Extras, r: Result) -> dict[str, tuple[Mapping[str, Any], ...]]:
    """The curves of baselines that learned from the same rows as the points of a measure."""
    curves: dict[str, tuple[Mapping[str, Any], ...]] = {}
    if r.tried and all("majority" in point for point in r.tried):
        curves["majority"] = tuple({"rows": point["rows"], "accuracy": point["majority"]} for point in r.tried)
    for baseline in extras.baselines.get((r.cell.variant, r.cell.data), ()):
        alike = replace(baseline.cell, encoder=r.cell.encoder, identity=r.cell.identity, probe=r.cell.probe)
        if baseline.tried and replace(alike, layer=r.cell.layer, device=r.cell.device, parts=r.cell.parts) == r.cell:
            curves[baseline.cell.encoder] = tuple(dict(point) for point in baseline.tried)
    return curves


# Tables


ERASED_NOTE = "after a property (column) is erased"


def variant_tables(summary: Summary) -> Iterator[Table]:
    """Per encoder, a table of controls, one of measures and one of erasures, in this order."""
    tables = [table for i in range(len(summary.columns)) for table in column_tables(summary, i)]
    last = max((i for i, table in enumerate(tables) if table.notes), default=None)  # whose notes are those of all
    for i, table in enumerate(tables):
        yield table if i == last else replace(table, notes=[])


def column_tables(summary: Summary, number: int) -> Iterator[Table]:
    """The tables of one column."""
    name = summary.columns[number].name
    rows = [s.variants[number] if s.variants else () for s in summary.sets]
    cells = [s.cells[number] for s in summary.sets]
    names = TableColumn(["set"], [s.label for s in summary.sets], "left")
    scores = TableColumn(["score"], cells, format=_accuracy)
    measures = _columns(rows, lambda v: v.kind == "measure" and not _erases(v))
    for title, columns in (
        (f"Controls of {name}", _columns(rows, lambda v: v.kind == "control")),
        (f"Measures of {name}", [*_information(cells), *measures] if measures else []),
        (f"Erasure of {name}: accuracy on a set (row) {ERASED_NOTE}", _columns(rows, _erases)),
    ):
        if columns:
            marked = any(text.mark for column in columns for text in column.cells if isinstance(text, CellText))
            yield Table([names, scores, *columns], title, notes=[levels.with_levels(CONTROL_NOTE)] if marked else [])


def interpretations(summary: Summary) -> list[str]:
    """How to read each control and measure, in a sentence."""
    return [f"{name}: {text}" for name, text in summary.interpretations.items()]


def _erases(variant: VariantSummary) -> bool:
    """Whether it is of a measure with a result for every set whose property is erased."""
    part = part_of(variant.of)
    return isinstance(part, Measure) and part.erases


def _columns(rows: Sequence[Variants], belongs: Callable[[VariantSummary], bool]) -> list[TableColumn]:
    """The columns of those variants that belong to a table, without empty ones."""
    columns = []
    by_name = [{v.name: v for v in row if belongs(v)} for row in rows]
    variant_names = dict.fromkeys((v.name, v.of) for row in by_name for v in row.values())
    for name, of in sorted(variant_names, key=lambda pair: variant_order(pair[1])):
        part = part_of(of)
        for column in (GENERIC,) if part is None else part.columns:
            heading = [line.replace("{name}", name) for line in column.heading]
            what = f"The column {' '.join(heading)!r}"
            texts = [attempt(what, partial(column.text, row[name])) if name in row else None for row in by_name]
            texts = [text and _marked(text, row.get(name)) for text, row in zip(texts, by_name, strict=True)]
            if any(texts):
                columns.append(TableColumn(heading, texts))
    return columns


FALLS, RISES = "↓", "↑"
CONTROL_NOTE = (
    f"{FALLS} or {RISES}: significantly below or above the score on the same test rows (paired test, Holm over the "
    "controls of an encoder on all sets, {alpha})."
)


def _marked(text: CellText, variant: VariantSummary | None) -> CellText:
    """The number of a control with its mark, if it differs significantly from the score."""
    if variant is None or variant.lost_p is None or variant.lost_p > levels.ALPHA or variant.lost is None:
        return text
    return text._replace(mark=FALLS if variant.lost > 0 else RISES)


def _generic(variant: VariantSummary) -> CellText:
    """The number as it was recorded: without its object, nothing is known about its unit."""
    return CellText(PLAIN.number(variant.value), PLAIN.half_width(variant.low, variant.high))


GENERIC = VariantColumn(("{name}",), _generic)
"""The column of a control or measure whose package is not installed."""


def _accuracy(cell: CellSummary | None) -> CellText:
    if cell is None:
        return CellText(ABSENT)
    return CellText(POINTS.number(cell.accuracy), POINTS.half_width(cell.low, cell.high))


def _information(cells: Sequence[CellSummary | None]) -> Iterator[TableColumn]:
    """Usable information of the plain probe, which measures are read with."""
    information = [cell.information if cell is not None else None for cell in cells]
    if any(information):
        texts = [
            CellText(ABSENT) if info is None else CellText(BITS.number(info.bits), BITS.half_width(info.low, info.high))
            for info in information
        ]
        yield TableColumn(["information", "bits"], texts)
