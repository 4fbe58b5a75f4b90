"""The one loop of a run: encoders × sets × layers × probes × seeds, each cell saved when it is finished.

    inputs.read_sets ──▶ Splits of each set ──variants──▶ what controls and measures make of them
    for each encoder: encoder.probe_encoder ──▶ vectors ──▶ FitJob per layer and probe ──▶ pool
    pool ──fit.probe_cells──▶ predictions ──▶ Result ──▶ the log of the run

``cells.py`` says what a cell is and which are unfinished. A finished cell is never computed again.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sentprobe import __version__
from sentprobe.core.arguments import as_list, takes
from sentprobe.data.dataset import Dataset
from sentprobe.data.sources import Source
from sentprobe.encoders.diagnosis import check_encoders
from sentprobe.errors import FailureWarning, RunError, UsageError
from sentprobe.probes import parse
from sentprobe.probes.baselines import BASELINES, ENCODER_BASELINES
from sentprobe.results.log import Log, open_log, removed_if_refused
from sentprobe.results.records import ALIASES, RECIPES, Recipe, recipe_entries
from sentprobe.results.result import Cell
from sentprobe.results.run import Run
from sentprobe.results.run_status import StatusFile
from sentprobe.run.cells import PreparedSet, RunContext, all_cells, plain_cells, set_cell
from sentprobe.run.controls.untrained import untrained
from sentprobe.run.encoder import collect, collect_finished, probe_encoder
from sentprobe.run.info import WORKING_FOLDERS_KEY, alias_entries, working_folder_entry
from sentprobe.run.inputs import Encoders, named_encoders, read_sets
from sentprobe.run.options import RunOptions
from sentprobe.run.pool import pool_for
from sentprobe.run.progress import RunProgress, untrained_name
from sentprobe.run.result_cache import ResultCache
from sentprobe.run.variants import Subsamples, Variants, make_variants


@takes(RunOptions)
def evaluate(
    encoders: Encoders, datasets: Dataset | Source | Iterable[Dataset | Source], folder: Path | str, options: RunOptions
) -> Run:
    """Probe encoders on datasets, saving every result to ``folder`` as soon as it is finished.

    The same call resumes where it stopped: finished cells are not computed again. What fails is recorded in
    ``Run.failures``, the rest continues, and there is a warning at the end, or an error with ``strict=True``. Wherever
    several values are accepted, a single one may be given. Results of controls and measures are ``Run.extras``.

    Parameters
    ----------
    encoders
        Strings such as ``st:all-MiniLM-L6-v2`` (see ``sentprobe ls encoders``), perhaps with a name to show,
        ``MiniLM=st:all-MiniLM-L6-v2``; functions from a list of texts to an array (texts, d); models in memory, such
        as a SentenceTransformer (see ``as_encoder``); or a mapping from names to these. A list in a mapping, or a name
        that several files match, ``mine=trained:run-*``, are trainings of one recipe, with different seeds: each is
        probed, and what is shown, with its interval, is about the recipe.
    datasets
        Datasets, or sources as ``find_sets`` returns them.
    folder
        Where to write the run; created if it does not exist.

    Returns
    -------
    Run
        The run, loaded from ``folder``.

    Examples
    --------
    >>> import tempfile
    >>> from sentprobe import Dataset, Example, evaluate
    >>> rows = [Example(("even", "odd")[i % 2], ("number", str(i)), f"number {i}") for i in range(80)]
    >>> splits = {"tr": rows[:40], "va": rows[40:60], "te": rows[60:]}
    >>> parity = Dataset("mine/parity", "parity", 1, "en", ("even", "odd"), splits)
    >>> def last_digit(texts):
    ...     return [[int(text[-1]) % 2, 1] for text in texts]
    >>> folder = tempfile.TemporaryDirectory()
    >>> run = evaluate(last_digit, parity, folder.name, baselines=["majority"], resample=0)
    >>> [(result.cell.encoder, result.score) for result in run]
    [('last_digit', 1.0), ('majority', 0.5)]
    >>> folder.cleanup()
    """
    request = _RunRequest.of(encoders, options)
    types: tuple[type[Dataset | Source], ...] = (Dataset, Source)
    sources = as_list(datasets, types, "a Dataset, or a Source as find_sets gives them")
    with removed_if_refused(Path(folder)), open_log(folder) as log, StatusFile(log.folder).removed_at_end():
        by_name = {name for name, function in request.encoders.items() if function is None}
        check_encoders(by_name - {result.cell.encoder for result in log.done.values()})
        context = _open_context(log, options, request)
        sets = list(read_sets(context, sources, request.word_baselines, request.variants))
        _check_sets(context, sets)
        variants = list(_prepare_variants(context, sets, request.variants))
        counterparts = _untrained_counterparts(context, request)
        baseline_context, baseline_sets = _for_baselines(context, sets)
        _expect_cells(context, request, sets, variants, counterparts)
        to_cache: list[tuple[PreparedSet, Cell]] = []
        with _collected(context):
            for name, function in request.encoders.items():
                probe_encoder(context, name, function, sets, variants)
                if name in counterparts:
                    same = [PreparedSet(replace(s.splits, variant="untrained"), {}, s.splits) for s in sets]
                    probe_encoder(context, name, None, (), same, counterparts[name])
            for name in request.encoder_baselines:
                to_cache += _restore_baseline(baseline_context, name, baseline_sets)
                probe_encoder(baseline_context, name, None, baseline_sets)
        context.progress.report("saving")
        for prepared, cell in to_cache:  # all are collected
            ResultCache(options.store).save(log, cell, prepared.splits)
    run = Run.load(folder)
    _report_failures(context, run, strict=options.strict)
    return run


def _report_failures(context: RunContext, run: Run, *, strict: bool) -> None:
    """Warn of what failed, or raise an error: whoever does not look into ``Run.failures`` has to know."""
    if not context.failures:
        return
    first, *further = list({(failure.cell.encoder, failure.error): failure for failure in context.failures}.values())
    what = first.cell.encoder or first.cell.dataset
    count = f" {len(further)} more failed for other reasons." if further else ""
    message = f"{what} failed: {first.error.rstrip('.')}.{count} Run.failures of {run.folder} has {len(run.failures)}."
    if strict:
        raise RunError(f"{message} What was computed is saved.")
    warnings.warn(FailureWarning(message), stacklevel=4)


@dataclass(frozen=True)
class _RunRequest:
    """What a run is to compute, by name."""

    encoders: Mapping[str, Callable[..., Any] | None]
    """None for those that are loaded by name."""
    aliases: Mapping[str, str]
    recipes: Mapping[str, Recipe]
    """By training."""
    word_baselines: Sequence[str]
    """Baselines that learn from words."""
    encoder_baselines: Sequence[str]
    """Baselines that are encoders, and are probed after the others."""
    variants: Variants

    @classmethod
    def of(cls, encoders: Encoders, options: RunOptions) -> _RunRequest:
        requested = named_encoders(encoders)
        named = requested.by_name
        baselines = options.baseline_names()
        word_baselines = [name for name in BASELINES if name in baselines]
        encoder_baselines = [name for name in baselines if name not in named and name not in BASELINES]
        return cls(named, requested.aliases, requested.recipes, word_baselines, encoder_baselines, options.variants())


def _open_context(log: Log, options: RunOptions, request: _RunRequest) -> RunContext:
    """What all cells share, once run.json says what is to be computed."""
    pool = pool_for(options.jobs, options.store)
    progress = RunProgress(options.progress, request.aliases, pool.workers, StatusFile(log.folder))
    context = RunContext(log, options, options.parsed_probes(), options.seed_list(), pool, progress)
    pool.on_start = lambda: progress.report_jobs(list(pool.running.values()))
    encoders = [*request.encoders, *request.encoder_baselines, *request.word_baselines]
    adds_linear = request.encoder_baselines and "linear" not in context.probes
    if clash := sorted({recipe.name for recipe in request.recipes.values()} & {*log.info.get("encoders", ())}):
        raise UsageError(f"{log.folder} has results of an encoder that is called {clash[0]!r}: choose another name.")
    log.begin(encoders)
    log.describe(
        encoders=encoders,
        probes=[*context.probes, *(["linear"] if adds_linear else [])],
        seeds=context.seeds,
        sentprobe=[__version__],
        **{WORKING_FOLDERS_KEY: [working_folder_entry(log.folder)]},
    )
    if request.aliases:
        log.describe(**{ALIASES: alias_entries(request.aliases)})
    if request.recipes:
        log.describe(**{RECIPES: recipe_entries(request.recipes)})
    if options.command is not None:
        log.describe(commands=[options.command.encode(errors="backslashreplace").decode()])
    return context


def _check_sets(context: RunContext, sets: Sequence[PreparedSet]) -> None:
    """UsageError if no set can be probed, or if an option has no effect on any of them."""
    if not sets and not context.failures:
        raise UsageError("Expected at least one dataset, got none; name a file or a folder of probing sets.")
    if not sets:
        name, error = context.failures[0].cell.dataset, context.failures[0].error
        raise UsageError(f"None of the sets can be used. {error if error.startswith(name) else f'{name}: {error}'}")
    if context.options.resample and all(prepared.splits.protocol != "split" for prepared in sets):
        raise UsageError(
            f"--resample {context.options.resample} has no effect on {sets[0].splits.name}: probes are retrained only "
            "for sets with a train/test split. Leave it out."
        )


def _prepare_variants(context: RunContext, sets: Sequence[PreparedSet], variants: Variants) -> Iterator[PreparedSet]:
    """A variant of each set for every control and measure that applies to it."""
    all_sets, subsamples = [prepared.splits for prepared in sets], Subsamples()
    for splits in all_sets:
        for variant in make_variants(splits, variants, all_sets, context.seeds[0], subsamples):
            for name in variant.names:
                cell = replace(set_cell(splits, ""), variant=name, limit=context.options.limit)
                if isinstance(variant.splits, Exception):
                    context.fail(cell, variant.splits)
                else:
                    context.log.forget(cell.key)
            if not isinstance(variant.splits, Exception):
                yield PreparedSet(variant.splits, {}, splits, variant)


def _untrained_counterparts(context: RunContext, request: _RunRequest) -> dict[str, str]:
    """The untrained counterparts of encoders that have one, by encoder, if that control is requested."""
    if "untrained" not in request.variants.controls:
        return {}
    names = [name for name, function in request.encoders.items() if function is None]
    counterparts = {name: untrained(name, context.seeds[0]) for name in names}
    return {name: counterpart for name, counterpart in counterparts.items() if counterpart is not None}


def _for_baselines(context: RunContext, sets: Sequence[PreparedSet]) -> tuple[RunContext, list[PreparedSet]]:
    """Baselines that are encoders have one linear probe, on sets with a train/test split."""
    linear = replace(context, probes=dict([parse("linear")]), seeds=context.seeds[:1])
    return linear, [prepared for prepared in sets if prepared.splits.protocol == "split"]


def _expect_cells(
    context: RunContext,
    request: _RunRequest,
    sets: Sequence[PreparedSet],
    variants: Sequence[PreparedSet],
    counterparts: Mapping[str, str],
) -> None:
    """Tell the progress how many cells there will be: encoders are not loaded yet, and counted with one layer."""

    def cells(name: str, sets: Sequence[PreparedSet], context: RunContext = context) -> Iterator[Cell]:
        return (cell for prepared in sets for cell in all_cells(context, name, prepared, None, ()))

    for name in request.encoders:
        context.progress.expect(name, cells(name, (*sets, *variants)))
        if name in counterparts:
            context.progress.expect(untrained_name(name), cells(name, sets))
    baseline_context, baseline_sets = _for_baselines(context, sets)
    for name in request.encoder_baselines:
        context.progress.expect(name, cells(name, baseline_sets, baseline_context))


@contextmanager
def _collected(context: RunContext) -> Iterator[None]:
    """Save all that is submitted inside; if that is interrupted, all that is finished."""
    try:
        yield
        collect(context)
    finally:
        context.pool.close()
        collect_finished(context)


def _restore_baseline(context: RunContext, name: str, sets: Sequence[PreparedSet]) -> list[tuple[PreparedSet, Cell]]:
    """Restore the cached results of a baseline; return the cells that have none, whose results are to be cached."""
    if name not in ENCODER_BASELINES:  # the vectors of others may not be the same every time
        return []
    cache, log = ResultCache(context.options.store), context.log
    cells = [(s, cell) for s in sets for cell in plain_cells(context, name, s) if cell.key not in log.done]
    return [(s, cell) for s, cell in cells if cache.restore(log, cell, s.splits, s.baselines) is None]
