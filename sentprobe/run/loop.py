"""The one loop: encoder × set × layer × probe × seed, each cell saved when it is finished and never computed twice."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from sentprobe import __version__
from sentprobe.core.arguments import as_list, takes
from sentprobe.data.dataset import Dataset
from sentprobe.data.sources import Source
from sentprobe.encoders import check_name, expand_names
from sentprobe.encoders.diagnosis import check_encoders
from sentprobe.errors import SentProbeError, UsageError
from sentprobe.probes import parse
from sentprobe.probes.baselines import BASELINES, ENCODER_BASELINES
from sentprobe.results.log import open_log, removed_if_refused
from sentprobe.results.records import ALIASES
from sentprobe.results.result import Cell, Failure
from sentprobe.results.run import Run
from sentprobe.run.aliases import described, split_aliases
from sentprobe.run.cluster_pool import pool_for
from sentprobe.run.config import PreparedSet, RunConfig
from sentprobe.run.encoder import collect, collect_finished, probe_encoder
from sentprobe.run.encoder_cells import all_cells, plain_cells
from sentprobe.run.kept import KeptResults
from sentprobe.run.options import RunOptions
from sentprobe.run.places import PLACES, current_place
from sentprobe.run.read_sets import is_utf8, read_sets
from sentprobe.run.subsample import Subsamples
from sentprobe.run.tally import Tally, untrained_name
from sentprobe.run.variants import Variants, make_variants, untrained

Encoder = str | Callable[[Sequence[str]], Any]
Encoders = Encoder | Iterable[Encoder] | Mapping[str, Callable[[Sequence[str]], Any]]


@takes(RunOptions)
def evaluate(
    encoders: Encoders, datasets: Dataset | Source | Iterable[Dataset | Source], folder: Path | str, options: RunOptions
) -> Run:
    """Probe encoders on datasets, saving every result to ``folder`` as soon as it is finished.

    The same call resumes where it stopped: finished cells are not computed again. What fails is recorded in
    ``Run.failures``, and the rest continues. Wherever several values are accepted, a single one may be given. Results
    of controls and measures are ``Run.extras``.

    Parameters
    ----------
    encoders
        Strings such as ``st:all-MiniLM-L6-v2`` (see ``sentprobe ls encoders``), perhaps with a name to show,
        ``MiniLM=st:all-MiniLM-L6-v2``; functions from a list of texts to an array (texts, d), or a mapping from names
        to functions.
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
    named, aliases = named_encoders(encoders)
    baselines, variants, specs = options.baseline_names(), options.variants(), options.parsed_probes()
    kinds: tuple[type[Dataset | Source], ...] = (Dataset, Source)
    sources = as_list(datasets, kinds, "a Dataset, or a Source as find_sets gives them")
    with removed_if_refused(Path(folder)), open_log(folder) as log:
        check_encoders({n for n, f in named.items() if f is None} - {r.cell.encoder for r in log.done.values()})
        config = RunConfig(
            log, options, specs, options.seed_list(), pool_for(options.jobs, options.store),
            Tally(options.progress, aliases),
        )  # fmt: skip
        config.pool.on_start = lambda: config.tally.report_units(list(config.pool.running.values()))
        always = [name for name in baselines if name not in named and name not in BASELINES]
        learners = [name for name in BASELINES if name in baselines]
        log.begin([*named, *always, *learners])
        log.describe(
            encoders=[*named, *always, *learners],
            probes=[*specs, *(["linear"] if always and "linear" not in specs else [])],
            seeds=config.seeds,
            sentprobe=[__version__],
            **{PLACES: [current_place(log.folder)]},
        )
        if aliases:
            log.describe(**{ALIASES: described(aliases)})
        if options.command is not None:
            log.describe(commands=[options.command.encode(errors="backslashreplace").decode()])
        sets = [PreparedSet(parts, scores) for parts, scores in read_sets(config, sources, learners, variants)]
        if not sets:
            raise _no_set(config.failed)
        if options.resample and all(s.parts.protocol != "split" for s in sets):
            raise UsageError(
                f"--resample {options.resample} has no effect on {sets[0].parts.name}: probes are retrained only for "
                "sets with a train/test split. Leave it out."
            )
        extra = list(_prepare_variants(config, sets, variants))
        twins = {name: untrained(name, config.seeds[0]) for name, given in named.items() if given is None}
        if "untrained" not in variants.controls:
            twins = {}
        some = [s for s in sets if s.parts.protocol == "split"]
        linear = replace(
            config, probes=dict([parse("linear")]), seeds=config.seeds[:1], options=replace(options, resample=0)
        )
        for name in named:
            config.tally.expect(name, _count(config, name, (*sets, *extra)))
            if twins.get(name):
                config.tally.expect(untrained_name(name), _count(config, name, sets))
        for name in always:
            config.tally.expect(name, _count(linear, name, some))
        computed: list[tuple[PreparedSet, Cell]] = []
        with _collected(config):
            for name, given in named.items():
                probe_encoder(config, name, given, sets, extra)
                other = twins.get(name)
                if other is not None:
                    same = [PreparedSet(replace(s.parts, variant="untrained"), {}, s.parts) for s in sets]
                    probe_encoder(config, name, None, (), same, other)
            for name in always:
                computed += _restore(linear, name, some)
                probe_encoder(linear, name, None, some)
        config.tally.report("saving")
        for s, cell in computed:  # all are collected
            KeptResults(config.options.store).keep(log, cell, s.parts)
    return Run.load(folder)


def _count(config: RunConfig, name: str, sets: Sequence[PreparedSet]) -> int:
    """The cells of an encoder that is not loaded yet, as if it had one layer."""
    return sum(1 for s in sets for _ in all_cells(config, name, s, None, ()))


@contextmanager
def _collected(config: RunConfig) -> Iterator[None]:
    """Save all that is submitted inside; if that is interrupted, all that is finished."""
    try:
        yield
        collect(config)
    finally:
        config.pool.close()
        collect_finished(config)


def _restore(config: RunConfig, name: str, sets: Sequence[PreparedSet]) -> list[tuple[PreparedSet, Cell]]:
    """Restore the results of a baseline that an earlier run has kept; the cells that are left, to be kept."""
    if name not in ENCODER_BASELINES:  # the vectors of others may not be the same every time
        return []
    kept, log = KeptResults(config.options.store), config.log
    cells = [(s, cell) for s in sets for cell in plain_cells(config, name, s) if cell.key not in log.done]
    return [(s, cell) for s, cell in cells if kept.restore(log, cell, s.parts, s.baselines) is None]


def named_encoders(encoders: Encoders) -> tuple[dict[str, Callable[..., Any] | None], dict[str, str]]:
    """Encoders by name, None for those that are loaded by name; and the names that users gave them, by encoder.

    A string that names no encoder is refused before anything is read or loaded.
    """
    aliases: dict[str, str] = {}
    if isinstance(encoders, Sequence):
        encoders, aliases = split_aliases([encoders] if isinstance(encoders, str) else encoders)
    named = _named(encoders)
    if odd := [name for name in named if not is_utf8(name)]:
        raise UsageError(f"The encoder {odd[0]!r} has a lone surrogate in its name; expected UTF-8.")
    for name, function in named.items():
        if function is None:
            check_name(name)
    return named, aliases


def _named(encoders: Encoders) -> dict[str, Callable[..., Any] | None]:
    """Encoders by name; None for those that are loaded by name."""
    if isinstance(encoders, Mapping):
        return dict(encoders)
    found: dict[str, Callable[..., Any] | None] = {}
    if not isinstance(encoders, Iterable) and not callable(encoders):
        raise UsageError(f"Expected encoders, texts such as static: or functions, got {encoders!r:.80}.")
    for each in [encoders] if isinstance(encoders, str) or callable(encoders) else encoders:
        if isinstance(each, str):
            for name in expand_names([each]):
                found.setdefault(name, None)
            continue
        if not callable(each):
            raise UsageError(f"Expected an encoder, a string such as static: or a function, got {each!r:.80}.")
        own = each.func if isinstance(each, partial) else each
        name = str(getattr(own, "__name__", type(own).__name__))
        if name in found:
            raise UsageError(f"Two encoders are called {name}; give them names: evaluate({{'a': …, 'b': …}}, …).")
        found[name] = each
    return found


def _no_set(failed: Sequence[Failure]) -> SentProbeError:
    if not failed:
        return UsageError("Expected at least one dataset, got none; name a file or a folder of probing sets.")
    name, error = failed[0].cell.dataset, failed[0].error
    return UsageError(f"None of the sets can be used. {error if error.startswith(name) else f'{name}: {error}'}")


def _prepare_variants(config: RunConfig, sets: Sequence[PreparedSet], variants: Variants) -> Iterator[PreparedSet]:
    """A variant of each set for every control and measure that applies to it."""
    others, subsamples = [other.parts for other in sets], Subsamples()
    for s in sets:
        for variant in make_variants(s.parts, variants, others, config.seeds[0], subsamples):
            for name in variant.names:
                cell = Cell(
                    task=s.parts.task, version=s.parts.version, dataset=s.parts.name, data=s.parts.digest, encoder="",
                    variant=name, limit=config.options.limit,
                )  # fmt: skip
                if isinstance(variant.parts, Exception):
                    config.fail(cell, variant.parts)
                else:
                    config.log.forget(cell.key)
            if not isinstance(variant.parts, Exception):
                yield PreparedSet(variant.parts, {}, s.parts, variant)
