"""A run as a ``Summary``, from which tables, texts, figures and pages are written."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from sentprobe.errors import SentProbeError, UsageError
from sentprobe.report.cells import aggregate, make_cell, make_layer_cell, value_of
from sentprobe.report.curves import curves
from sentprobe.report.error_analysis import error_analysis
from sentprobe.report.extension import SUMMARY_EXTENSIONS, attempt
from sentprobe.report.human_results import human_result, judged_sets
from sentprobe.report.languages import class_note, language_notes
from sentprobe.report.published import mark_best
from sentprobe.report.reproduction import reproduction
from sentprobe.report.result_grid import ColumnKey, Grid, SetKey, grid_of, label_columns, missing_cells, missing_notes
from sentprobe.report.rivals import rivals
from sentprobe.report.set_summary import describe_set, metric_note
from sentprobe.report.types import (
    CellSummary,
    Column,
    EncoderDiagnosis,
    FailureSummary,
    LayerTable,
    PairDifference,
    Seconds,
    SetSummary,
    Summary,
)
from sentprobe.report.variants import interpret_variants, variant_results
from sentprobe.report.verdict import Scored, compare_with_baseline, meanings, verdict_of
from sentprobe.results.compare import Comparison, compare_results, tie_letters
from sentprobe.results.metric import DEFAULT_METRIC, check_metric, metric_named
from sentprobe.results.records import read_aliases
from sentprobe.results.result import Failure, Result
from sentprobe.results.run import Run
from sentprobe.results.sides import best_layer
from sentprobe.run.info import read_diagnoses, read_training_scores
from sentprobe.stats import holm

if TYPE_CHECKING:
    from sentprobe.report.correlations import Adjustment


def summarise(run: Run, *, metric: str = DEFAULT_METRIC, published: bool = False) -> Summary:
    """Summarise a run: every number of its tables, with intervals, baselines and notes.

    Parameters
    ----------
    run
        The run, or several joined by ``sentprobe.results.run``.
    metric
        What ``CellSummary.score`` holds: a metric that is computed from predicted classes, as `sentprobe ls metrics`
        lists them: accuracy, balanced_accuracy, macro_f1, log2_loss (bits; lower is better), …
    published
        Also include results that papers printed for other sets of the same task, which are not comparable.
    """
    checked, grid = check_metric(metric), grid_of(run)
    aliases = read_aliases(run.info)
    columns, baselines = label_columns(grid.columns, aliases), label_columns(grid.baselines)
    missing = missing_cells(run, grid)
    notes = [*run.damaged, *missing_notes(missing, [set_key.name for set_key in grid.sets])]
    sets = mark_best([_with_cells(run, grid, set_key, checked, published, notes) for set_key in grid.sets])
    sets = _add_pairs(run, grid, sets, columns)
    notes += metric_note(run)
    if people := judged_sets(run, notes):
        sets = [
            replace(s, people=human_result(run, grid, set_key, people[set_key.data], notes))
            if set_key.data in people and metric_named(s.scored_by).right_or_wrong
            else s
            for set_key, s in zip(grid.sets, sets, strict=True)
        ]
    variants = variant_results(run, grid, [s.label for s in sets])
    sets = [replace(s, variants=set_variants) for s, set_variants in zip(sets, variants, strict=True)]
    if checked == DEFAULT_METRIC:
        sets = [replace(s, meanings=meanings(s, columns, baselines)) for s in sets]
    tables = (_layer_table(run, grid, i, column, checked, sets) for i, column in enumerate(grid.columns))
    training_scores = read_training_scores(run)
    diagnoses = read_diagnoses(run)
    notes += language_notes(diagnoses, aliases)
    notes += filter(None, [class_note(sets)])
    return Summary(
        folder=str(run.folder),
        metric=checked,
        columns=columns,
        baselines=baselines,
        sets=tuple(sets),
        transfer=tuple(aggregate(_chosen(grid, column)) for column in grid.columns),
        training=tuple(training_scores.get((column.encoder, column.identity)) for column in grid.columns),
        layers=tuple(table for table in tables if table is not None),
        interpretations=interpret_variants(run),
        diagnoses=tuple(
            EncoderDiagnosis(name=diagnosis.name, symptoms=tuple(diagnosis.symptoms)) for diagnosis in diagnoses
        ),
        failures=tuple(_failure(failure, aliases) for failure in run.failures),
        missing=missing,
        notes=tuple(dict.fromkeys(notes)),
        days=tuple(sorted(run.info.get("days", ()))),
        versions=_versions(run.results),
        seconds=_seconds(run.results),
    )


def _chosen(grid: Grid, column: ColumnKey) -> list[Result]:
    """The first seed of what is shown of a column, set by set."""
    return [best_layer(layers)[0] for set_key in grid.sets if (layers := grid.layers(column, set_key))]


# One set


def _with_cells(run: Run, grid: Grid, set_key: SetKey, metric: str, published: bool, notes: list[str]) -> SetSummary:
    described = describe_set(run, grid, set_key, metric=metric, published=published)
    metric = _metric_of(described, metric)
    cells = [make_cell(run, grid, column, set_key, metric, notes) for column in grid.columns]
    baselines = [make_cell(run, grid, column, set_key, metric, notes) for column in grid.baselines]
    cells = _compare(run, grid, set_key, cells, baselines, metric, notes)
    letters_about = None
    # to swap predictions, as other metrics need, takes too long for every pair of columns
    if metric_named(metric).share is not None and metric == described.scored_by:
        cells, letters_about = _add_letters(run, grid, set_key, cells, metric, notes)
    return replace(
        described,
        cells=tuple(cells),
        baselines=tuple(baselines),
        failed=_failed(grid, grid.columns, cells, set_key),
        failed_baselines=_failed(grid, grid.baselines, baselines, set_key),
        letters_about=letters_about,
    )


def _metric_of(s: SetSummary, requested: str) -> str:
    """The metric of the cells of a set, which are empty if it cannot be scored by the requested one."""
    return s.scored_by if requested == DEFAULT_METRIC else requested


def _failed(
    grid: Grid, columns: Sequence[ColumnKey], cells: Sequence[CellSummary | None], set_key: SetKey
) -> dict[int, str]:
    """Errors of the columns without a cell, by their number."""
    return {
        i: failure.error
        for i, (column, cell) in enumerate(zip(columns, cells, strict=True))
        if cell is None and (failure := grid.failure(column, set_key)) is not None
    }


def _compare(
    run: Run,
    grid: Grid,
    set_key: SetKey,
    cells: Sequence[CellSummary | None],
    baselines: Sequence[CellSummary | None],
    metric: str,
    notes: list[str],
) -> list[CellSummary | None]:
    """Cells compared with the best baseline on the same rows."""

    def scored(columns: Sequence[ColumnKey], cells: Sequence[CellSummary | None]) -> list[tuple[int, Scored]]:
        return [
            (i, Scored(column.encoder, value, best_layer(grid.layers(column, set_key))))
            for i, (column, cell) in enumerate(zip(columns, cells, strict=True))
            if (value := value_of(cell)) is not None
        ]

    compared_cells = list(cells)
    numbers, rivals = scored(grid.columns, cells), scored(grid.baselines, baselines)
    # columns of another sample or version were tested on other rows, and have baselines of their own
    for sample in dict.fromkeys(column.sample for column in grid.columns):
        sample_scores = [(i, score) for i, score in numbers if grid.columns[i].sample == sample]
        sample_baselines = [score for i, score in rivals if grid.baselines[i].sample == sample]
        comparisons = compare_with_baseline(run, [score for _, score in sample_scores], sample_baselines, metric, notes)
        for (i, _), against in zip(sample_scores, comparisons, strict=True):
            cell = compared_cells[i]
            assert cell is not None
            compared_cells[i] = replace(cell, against=against)
    return compared_cells


def _add_letters(
    run: Run, grid: Grid, set_key: SetKey, cells: Sequence[CellSummary | None], metric: str, notes: list[str]
) -> tuple[list[CellSummary | None], str | None]:
    """Cells with letters, for columns on the same rows, and what the letters are about.

    Columns that share a letter do not differ significantly.
    """
    lettered, letters_about = list(cells), None
    column_results = {i: best_layer(layers) for i, c in enumerate(grid.columns) if (layers := grid.layers(c, set_key))}
    for sample in dict.fromkeys(grid.columns[i].sample for i in column_results):
        # by number, with leading zeros: names may be equal, and of equally good encoders the first comes first
        rivals = {f"{i:06}": results for i, results in column_results.items() if grid.columns[i].sample == sample}
        if len(rivals) < 2:
            continue
        try:
            letters, letters_about = tie_letters(run, rivals, metric)
        except SentProbeError as e:
            notes.append(f"The letters of {set_key.name} are missing: {e}")
            continue
        top = set(next(iter(letters.values())))  # of the best: `tie_letters` sorts by score
        for number, cell_letters in letters.items():
            cell = lettered[int(number)]
            assert cell is not None
            best = verdict_of(cell) == "above" and not top.isdisjoint(cell_letters)
            lettered[int(number)] = replace(cell, letters=cell_letters, best=best)
    return lettered, letters_about


def _add_pairs(run: Run, grid: Grid, sets: Sequence[SetSummary], columns: Sequence[Column]) -> list[SetSummary]:
    """Sets with the differences of the two encoders of a run, where letters tell whether they differ."""
    compared = rivals(columns)
    if len(compared) != 2:  # of more, the letters say who differs from whom
        return list(sets)
    pairs: dict[int, Comparison] = {}
    for i, (set_key, s) in enumerate(zip(grid.sets, sets, strict=True)):
        sides = [grid.layers(grid.columns[j], set_key) for j in compared]
        if s.letters_about is None or not all(sides):
            continue
        scored_by = metric_named(s.scored_by)
        metric = metric_named(DEFAULT_METRIC) if scored_by.right_or_wrong else scored_by
        with suppress(SentProbeError):  # which the notes on letters report
            pairs[i] = compare_results(run, best_layer(sides[0]), best_layer(sides[1]), metric)
    adjusted = dict(zip(pairs, holm([pair.p for pair in pairs.values()]).tolist(), strict=True))
    differences = {i: _pair_difference(compared, replace(pair, p_holm=adjusted[i])) for i, pair in pairs.items()}
    return [_with_pair(s, differences[i]) if i in differences else s for i, s in enumerate(sets)]


def _with_pair(s: SetSummary, pair: PairDifference) -> SetSummary:
    """The set with a difference; where no others were compared, its letters follow from it."""
    lettered = [i for i, cell in enumerate(s.cells) if cell is not None and cell.letters]
    if lettered != sorted((pair.first, pair.second)):
        return replace(s, pair=pair)
    better = {"first": pair.first, "second": pair.second, None: None}[pair.better]
    cells = list(s.cells)
    for i in lettered:
        cell = cells[i]
        assert cell is not None
        letters = "a" if better in (None, i) else "b"
        cells[i] = replace(cell, letters=letters, best=verdict_of(cell) == "above" and letters == "a")
    return replace(s, pair=pair, cells=tuple(cells))


def _pair_difference(compared: Sequence[int], pair: Comparison) -> PairDifference:
    return PairDifference(
        first=compared[0],
        second=compared[1],
        difference=pair.difference,
        low=pair.low,
        high=pair.high,
        p=pair.p_holm,
        better=pair.better(),
    )


def _layer_table(
    run: Run, grid: Grid, number: int, column: ColumnKey, metric: str, sets: Sequence[SetSummary]
) -> LayerTable | None:
    """Every layer of an encoder on every set; None if there is only one."""
    layers_by_set = [grid.layers(column, set_key) for set_key in grid.sets]
    names = tuple(dict.fromkeys(name for layers in layers_by_set for name in layers))
    if len(names) < 2:
        return None
    return LayerTable(
        column=number,
        names=names,
        cells=tuple(
            tuple(
                make_layer_cell(run, layers, name, _metric_of(s, metric), s.cells[number])
                for layers, s in zip(layers_by_set, sets, strict=True)
            )
            for name in names
        ),
    )


# The run


def _failure(failure: Failure, aliases: Mapping[str, str]) -> FailureSummary:
    cell = failure.cell
    return FailureSummary(
        encoder=cell.encoder or None,
        dataset=cell.dataset or None,
        variant=cell.variant,
        layer=cell.layer,
        probe=cell.probe,
        seed=cell.seed if cell.data else None,
        kind=failure.kind,
        error=failure.error,
        alias=aliases.get(cell.encoder),
    )


def _versions(results: Iterable[Result]) -> dict[str, tuple[str, ...]]:
    by_program: dict[str, dict[str, None]] = {}
    for r in results:
        for name, version in r.versions.items():
            by_program.setdefault(name, {})[version] = None
    return {name: tuple(versions) for name, versions in by_program.items()}


def _seconds(results: Sequence[Result]) -> Seconds:
    """Time by stage. Layers, probes and seeds share the time in which their set was encoded: it counts once."""
    encode = dict.fromkeys((r.cell.encoder, r.cell.data, r.cell.limit, r.seconds.get("encode", 0.0)) for r in results)
    return Seconds(
        encode=sum(seconds for *_, seconds in encode),
        fit=sum(r.seconds.get("fit", 0.0) for r in results),
        score=sum(r.seconds.get("score", 0.0) for r in results),
    )


# With analyses


def full_summary(
    run: Run, *, metric: str = DEFAULT_METRIC, adjust: Adjustment = "holm", published: bool = False
) -> Summary:
    """Summarise a run, with error analysis, curves, correlations, languages, reproduction, extensions and checks.

    Parameters
    ----------
    run
        The run, or several joined by ``sentprobe.results.run``.
    metric
        What every set is scored by: a metric in points that is computed from predicted classes. Controls and measures
        are scored by accuracy, and are left out with another metric.
    adjust
        How the p-values of the correlation matrix are adjusted: holm, bonferroni, bh (Benjamini and Hochberg's false
        discovery rate) or none.
    published
        Also include results that papers printed for other sets.
    """
    from sentprobe.report.checks import checks
    from sentprobe.report.correlations import correlations
    from sentprobe.report.languages import languages

    if (part := metric_named(check_metric(metric))).unit != "points":
        raise UsageError(f"Pages and figures are in points, and {part.title} is in {part.unit or 'another unit'}.")
    summary = summarise(run, metric=metric, published=published)
    if not summary.by_set_metric:
        sets = tuple(replace(s, variants=()) for s in summary.sets)
        summary = replace(summary, sets=sets, interpretations={})
    errors, notes = error_analysis(run, summary)
    summary = replace(
        summary,
        notes=tuple(dict.fromkeys((*summary.notes, *notes))),
        errors=errors,
        curves=curves(summary),
        correlations=correlations(summary, adjust),
        languages=languages(summary),
        reproduction=reproduction(run, summary.versions),
    )
    for extension in SUMMARY_EXTENSIONS.parts().values():
        summary = attempt(f"The extension {extension.name}", partial(extension.analyse, run, summary)) or summary
    return replace(summary, checks=checks(summary))
