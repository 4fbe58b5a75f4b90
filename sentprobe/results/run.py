"""A run on disk: what was requested, a line per finished cell, predictions, probes and test rows.

    my-run/  run.json  results.jsonl  predictions/<key>.npz  probes/<key>.npz  datasets/<digest>.parquet

A line is written and synced when its cell is finished, after its predictions and its probe, whose digests it has. A
torn last line, after a crash or on a full disk, is cut off by the next writer. If several lines are about one cell, the
last one counts. Damaged results are reported and left out, and the next writer computes them again.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np
import numpy.typing as npt

from sentprobe.core.arguments import as_list
from sentprobe.core.install import pip_install
from sentprobe.errors import CorruptionWarning, NotInstalled, RunError, UsageError
from sentprobe.probes import Model
from sentprobe.probes.baselines import BASELINES
from sentprobe.results.metric import metric_named
from sentprobe.results.records import (
    FORMAT,
    RECIPES,
    RESULTS,
    in_order,
    info_or_damage,
    protocol_text,
    read_aliases,
    read_recipes,
    read_records,
    rebuild_info,
    request_of,
    run_job,
)
from sentprobe.results.result import Cell, Failure, Result, scores_html
from sentprobe.results.verify import (
    CHOSEN_ARRAY,
    FOLD_ARRAY,
    RESAMPLED,
    Arrays,
    find_damaged,
    probe_path,
    read_model,
    read_predictions,
    read_test_rows,
)
from sentprobe.tasks import Example

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

SCORES = ("macro_f1", "log2_loss", "log2_loss_calibrated", "f1", "pearson", "spearman", "mse")
"""Further metrics that are columns of ``Run.frame``."""
MAX_SAVED_CLASSES = 100
"""Up to this many classes, all probabilities are saved; above, only those of the true and the predicted class."""
MAX_CACHED_BYTES = 1 << 26
"""Beyond this, all are dropped. The predictions of a hundred results on ten thousand rows take a fifth of it."""


class ArrayCache:
    """Arrays by the key of their result, in memory up to a limit."""

    def __init__(self) -> None:
        self._arrays: dict[str, Arrays] = {}
        self._bytes = 0

    def get(self, key: str, read: Callable[[], Arrays]) -> Arrays:
        """The arrays of a result, read-only; ``read`` is called if they are not cached."""
        arrays = self._arrays.get(key)
        if arrays is None:
            arrays = read()
            size = sum(array.nbytes for array in arrays.values())
            if self._bytes + size > MAX_CACHED_BYTES:
                self._arrays.clear()
                self._bytes = 0
            for array in arrays.values():
                array.flags.writeable = False
            self._arrays[key] = arrays
            self._bytes += size
        return arrays


@dataclass(frozen=True)
class Run:
    """The results of encoders on datasets, loaded from a folder; ``evaluate`` and ``Run.load`` return one.

    Iterating over a run gives its plain results, those of baselines included.

    Examples
    --------
    >>> import tempfile
    >>> from sentprobe import Dataset, Example, Run, evaluate
    >>> rows = [Example(("even", "odd")[i % 2], ("number", str(i)), f"number {i}") for i in range(80)]
    >>> splits = {"tr": rows[:40], "va": rows[40:60], "te": rows[60:]}
    >>> parity = Dataset("mine/parity", "parity", 1, "en", ("even", "odd"), splits)
    >>> def last_digit(texts):
    ...     return [[int(text[-1]) % 2, 1] for text in texts]
    >>> folder = tempfile.TemporaryDirectory()
    >>> _ = evaluate(last_digit, parity, folder.name, baselines=["majority"], resample=0)
    >>> run = Run.load(folder.name)
    >>> run.encoders
    ['last_digit', 'majority']
    >>> run.results[0]
    Result(last_digit on mine/parity: accuracy 1.000 [0.839, 1.000], probe=linear, n=40/20/20, seed=1111)
    >>> run.correct(run.results[0]).sum()
    np.int64(20)
    >>> folder.cleanup()
    """

    folder: Path
    info: Mapping[str, Any] = field(default_factory=dict)
    """What was requested: encoders, datasets, probes and seeds, in order."""
    results: tuple[Result, ...] = ()
    """Finished cells, in the order they were requested."""
    failures: tuple[Failure, ...] = ()
    """Cells, encoders and datasets that failed in the last command and have not succeeded since."""
    result_folders: Mapping[str, Path] = field(default_factory=dict)
    """By key, the folder of each result that is not in ``folder``: those of the other runs, after ``join``."""
    extras: tuple[Result, ...] = ()
    """Finished cells of controls and measures, named by ``cell.variant``."""
    damaged: tuple[str, ...] = ()
    """Damaged files and lines. Damaged results are left out."""
    _cache: ArrayCache = field(default_factory=ArrayCache, init=False, repr=False, compare=False)

    @classmethod
    def load(cls, folder: Path | str) -> Run:
        """Load a run; one that is still being written can be loaded, too.

        Parameters
        ----------
        folder
            The folder that ``evaluate`` or ``sentprobe run`` wrote to.

        Raises
        ------
        RunError
            If the folder holds no run. Damage raises nothing: it is reported by a ``CorruptionWarning``.
        """
        folder = Path(folder)
        if not folder.exists():
            raise RunError(f"There is no folder {str(folder)!r}; expected one that `sentprobe run` wrote.")
        job = run_job(folder)
        info, problem = info_or_damage(job)
        records = read_records(folder / RESULTS, job.salvage(RESULTS))
        damaged = [*records.damaged]
        if info is None:
            if not records.lines:
                raise RunError(
                    f"{folder} is not a run: {problem} `sentprobe run -o {folder}` writes one, in a new folder."
                )
            info = rebuild_info(records.results.values(), records.failures.values())
            damaged.insert(0, f"{problem} It is reconstructed from the results; the same command writes it again.")
        wrong, notes = find_damaged(folder, records.results.values(), foreign=bool(records.damaged))
        damaged += notes
        results = [r for r in records.results.values() if r.key not in wrong]
        info = {"format": FORMAT, **info}
        for note in damaged:
            warnings.warn(note, CorruptionWarning, stacklevel=2)
        done = {request_of(r.cell) for r in results}  # a failure that has succeeded since no longer counts
        last = info.get("command", 0)
        failures = (f for f in records.failures.values() if f.command == last and request_of(f.cell) not in done)
        plain = in_order((r for r in results if r.cell.variant is None), info)
        extras = in_order((r for r in results if r.cell.variant is not None), info)
        return cls(folder, info, plain, in_order(failures, info), extras=extras, damaged=tuple(damaged))

    @cached_property
    def folders(self) -> list[Path]:
        """The folders of the results: one, or several after ``join``."""
        return list(dict.fromkeys([self.folder, *self.result_folders.values()]))

    def __repr__(self) -> str:
        sets = dict.fromkeys((r.cell.dataset, r.cell.data) for r in self.results)
        extras = f" + {len(self.extras)} of controls and measures" if self.extras else ""
        failures = f", {_plural(len(self.failures), 'failure')}" if self.failures else ""
        size = f"{_plural(len(self.encoders), 'encoder')} × {_plural(len(sets), 'set')}"
        return f"Run({str(self.folder)!r}: {_plural(len(self.results), 'result')}{extras}, {size}{failures})"

    def _repr_html_(self) -> str:
        """A table of the plain scores for notebooks, with intervals; ``Report`` has all there is to know."""
        return scores_html(self.results, repr(self))

    def __iter__(self) -> Iterator[Result]:
        return iter(self.results)

    def __len__(self) -> int:
        return len(self.results)

    @cached_property
    def encoders(self) -> list[str]:
        """The encoders that have results, in the order they were requested, baselines last."""
        return list(dict.fromkeys(r.cell.encoder for r in self.results))

    @cached_property
    def recipes(self) -> dict[str, str]:
        """The recipe of each encoder that is a training of one; of several in one folder, that has changed, of none."""
        identities: dict[str, set[str | None]] = {}
        for r in self.results:
            identities.setdefault(r.cell.encoder, set()).add(r.cell.identity)
        recorded = read_recipes(self.info)
        return {name: recipe.name for name, recipe in recorded.items() if len(identities.get(name, ())) < 2}

    def without_recipes(self) -> Run:
        """The same run, in which every training is an encoder of its own."""
        return replace(self, info={name: value for name, value in self.info.items() if name != RECIPES})

    def training_title(self, encoder: str) -> str:
        """What tells an encoder apart from the other trainings of its recipe."""
        return read_aliases(self.info).get(encoder, encoder).removeprefix(f"{self.recipes.get(encoder, '')} ")

    def predictions(self, result: Result, *names: str) -> Arrays:
        """The predictions of a result on the test rows, as arrays by name.

        Parameters
        ----------
        result
            One of ``results`` or ``extras``.
        names
            The arrays to read; all of them by default. ``predicted``: indices into ``result.labels``; ``truth``: the
            same, -1 for a label that is not in train; ``log2``: log2 of the probability of the true label;
            ``log2_calibrated``: the same after temperature scaling on dev; ``confidence``: the probability of the
            predicted label; ``probabilities`` (n, classes), where there are few enough classes; ``fold``, of results in
            folds: which one tested the row, from 0.
        """
        return read_predictions(self.folder_of(result), result, names)

    def paired_arrays(self, result: Result) -> Arrays:
        """The predictions that paired tests need, read-only and kept in memory, as every test needs them again."""
        names = ["predicted", "truth", *((RESAMPLED, CHOSEN_ARRAY) if result.resamples else ())]
        if result.cell.folds is not None and result.resamples:
            names.append(FOLD_ARRAY)
        return self._cache.get(result.key, lambda: self.predictions(result, *names))

    def correct(self, result: Result) -> npt.NDArray[np.bool_]:
        """Which test rows (n) are labelled correctly; UsageError for sets whose rows are not right or wrong."""
        if not metric_named(result.metric).right_or_wrong:
            raise UsageError(f"{result.cell.dataset} is scored by {result.metric}: its rows are not right or wrong.")
        metric, arrays = metric_named(result.metric), self.paired_arrays(result)
        if metric.row_values is not None:
            return np.asarray(metric.row_values(arrays) == 1)
        return np.asarray(arrays["predicted"] == arrays["truth"])

    def row_scores(self, result: Result) -> npt.NDArray[np.float64]:
        """What each test row (n) adds to a score that is a share of rows: 1 if it is right, one half for a tie."""
        metric = metric_named(result.metric)
        if metric.row_values is None or not metric.right_or_wrong:
            return self.correct(result).astype(np.float64)
        return metric.row_values(self.paired_arrays(result))

    def has_model(self, result: Result) -> bool:
        """Whether the trained probe of a result was saved."""
        return "probe" in result.files and probe_path(self.folder_of(result), result).exists()

    def model(self, result: Result) -> Model:
        """The trained probe of a result; it gives the scores of the run.

        In folds, where each probe has tested some rows, it is the mean of linear probes, or that of the first fold.
        """
        return read_model(self.folder_of(result), result)

    def rows(self, result: Result) -> Sequence[Example]:
        """The test rows, in the order of the predictions; in folds, all rows of the set: train, dev and test."""
        return read_test_rows(self.folder_of(result), result)

    def dataset(self, result: Result) -> Mapping[str, Any]:
        """What run.json records about the dataset of a result."""
        described = self.info.get("datasets", ())
        return next((d for d in described if (d["name"], d["digest"]) == (result.cell.dataset, result.cell.data)), {})

    def folder_of(self, result: Result) -> Path:
        """The folder of a result."""
        return self.result_folders.get(result.key, self.folder)

    @overload
    def frame(self, library: Literal["pandas"] = ...) -> pandas.DataFrame: ...
    @overload
    def frame(self, library: Literal["polars"]) -> polars.DataFrame: ...
    @overload
    def frame(self, library: Literal["arrow"]) -> pyarrow.Table: ...
    def frame(self, library: Literal["pandas", "polars", "arrow"] = "pandas") -> Any:
        """A data frame with a row per result, controls and measures included: plain results have no ``variant``.

        Numbers that only some results have, such as ``compression`` of the measure online, are columns of their own.

        Parameters
        ----------
        library
            pandas or polars; or arrow, for a table that other libraries read without copying.
        """
        results = [*self.results, *self.extras]
        further = sorted({name for result in results for name in result.scores} - set(SCORES))
        rows = [to_row(r, self.recipes) | {name: r.scores.get(name) for name in further} for r in results]
        if library not in ("pandas", "polars", "arrow"):
            raise UsageError(f"There are no frames of {library!r}; expected pandas, polars or arrow.")
        try:
            if library == "pandas":
                import pandas

                return pandas.DataFrame(rows)
            import pyarrow as pa

            table = pa.Table.from_pylist(rows)
            if library == "polars":
                import polars

                return polars.from_arrow(table)
        except ImportError:
            raise NotInstalled(f"Run.frame({library!r}) needs {library}: {pip_install('frames')}") from None
        return table


def _plural(n: int, noun: str) -> str:
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s"


def to_row(result: Result, recipes: Mapping[str, str]) -> dict[str, Any]:
    """A result as one row of a table; ``low`` and ``high`` are about the encoder, where that is known.

    ``recipes``: of encoders that are trainings of one.
    """
    cell, about = result.cell, "probe" if result.encoder_interval is None else "encoder"
    probe_low, probe_high = (None, None) if result.constant else result.range
    low, high = result.encoder_interval or (probe_low, probe_high)
    return {
        "dataset": cell.dataset, "task": cell.task, "language": result.language, "encoder": cell.encoder,
        "recipe": recipes.get(cell.encoder),
        "layer": cell.layer, "variant": cell.variant, "probe": cell.probe, "seed": cell.seed,
        "metric": result.metric, "score": result.score,
        "low": low, "high": high, "about": about, "probe_low": probe_low, "probe_high": probe_high,
        "interval": result.interval_kind, "clusters": result.clusters, "training_sd": result.training_sd,
        "resamples": result.resamples,
        **{name: result.scores.get(name) for name in SCORES},
        "dev_score": result.dev_score,
        **{name: result.baselines.get(name) for name in BASELINES},
        "classes": len(result.labels), **{f"n_{split}": result.n.get(split) for split in ("tr", "va", "te")},
        "trained_on": result.trained_on, "chosen_on": result.chosen_on, "dimension": result.dimension,
        **{name: result.chosen.get(name) for name in ("l2", "hidden", "dropout")},
        **{f"{stage}_seconds": result.seconds.get(stage) for stage in ("encode", "fit", "score")},
        "folds": cell.folds, "limit": cell.limit, "device": cell.device, "sentprobe": cell.sentprobe,
        "synthetic": result.synthetic,
        "signature": result.signature,
    }  # fmt: skip


# Several runs as one


def join(runs: Run | Iterable[Run]) -> Run:
    """Join runs to read them as one; if several runs have a result for the same cell, the first run wins.

    Nothing is written: predictions, test rows and probes are read from where they are. If runs disagree about a cell,
    ``Run.damaged`` says so.

    Parameters
    ----------
    runs
        The runs to join, in order of precedence.

    Raises
    ------
    UsageError
        If there is no run; if a set is in folds in one run and on its test split in another; or if two runs disagree
        about an encoder without an identity, such as a plain function: it may be two encoders of the same name.

    Examples
    --------
    >>> import tempfile
    >>> from sentprobe import Dataset, Example, evaluate, join_runs
    >>> rows = [Example(("even", "odd")[i % 2], ("number", str(i)), f"number {i}") for i in range(80)]
    >>> splits = {"tr": rows[:40], "va": rows[40:60], "te": rows[60:]}
    >>> parity = Dataset("mine/parity", "parity", 1, "en", ("even", "odd"), splits)
    >>> def last_digit(texts):
    ...     return [[int(text[-1]) % 2, 1] for text in texts]
    >>> def length(texts):
    ...     return [[len(text), 1] for text in texts]
    >>> folder = tempfile.TemporaryDirectory()
    >>> one = evaluate(last_digit, parity, f"{folder.name}/one", baselines=[], resample=0)
    >>> two = evaluate(length, parity, f"{folder.name}/two", baselines=[], resample=0)
    >>> join_runs([one, two]).encoders
    ['last_digit', 'length']
    >>> folder.cleanup()
    """
    runs = as_list(runs, Run, "a run")
    if not runs:
        raise UsageError("Expected at least one run, got none.")
    if len(runs) == 1:
        return runs[0]
    _refuse_protocols(runs)
    results: dict[str, Result] = {}
    result_folders: dict[str, Path] = {}
    failures: dict[str, Failure] = {}
    notes: list[str] = []
    for run in runs:
        for result in (*run.results, *run.extras):
            first = results.setdefault(result.key, result)
            if first is result:
                result_folders[result.key] = run.folder_of(result)
            elif _differ(first, result):
                notes.append(_conflict(first, result_folders[result.key], result, run.folder_of(result)))
        for failure in run.failures:
            failures.setdefault(failure.key, failure)
    superseded = _superseded(results.values())
    for older, _ in superseded:
        del results[older.key]
        del result_folders[older.key]
    if superseded:
        (older, newer), cells = superseded[0], len(superseded)
        notes.append(
            f"{cells} result{'s' * (cells != 1)}, such as {older.cell.encoder} on {older.cell.dataset}, "
            f"{'were' if cells != 1 else 'was'} computed with different versions of a probe, control or measure "
            f"({older.cell.parts or 'the first'} and {newer.cell.parts}). The newer is shown."
        )
    done = {request_of(result.cell) for result in results.values()}
    info = _merged([run.info for run in runs])
    return Run(
        runs[0].folder,
        info,
        in_order((r for r in results.values() if r.cell.variant is None), info),
        in_order((f for f in failures.values() if request_of(f.cell) not in done), info),
        {key: folder for key, folder in result_folders.items() if folder != runs[0].folder},
        in_order((r for r in results.values() if r.cell.variant is not None), info),
        tuple(dict.fromkeys([*(note for run in runs for note in run.damaged), *notes])),
    )


def _refuse_protocols(runs: Sequence[Run]) -> None:
    """UsageError if runs have results of a set in different folds: their test rows are not the same."""
    first: dict[tuple[str, str], tuple[int | None, Run]] = {}
    for run in runs:
        for cell in dict.fromkeys((r.cell.dataset, r.cell.data, r.cell.folds) for r in (*run.results, *run.extras)):
            name, data, folds = cell
            other_folds, other_run = first.setdefault((name, data), (folds, run))
            if other_folds != folds:
                raise UsageError(
                    f"{other_run.folder} has {name} {protocol_text(other_folds)} and {run.folder} has it "
                    f"{protocol_text(folds)}, so that their results cannot be compared. Run one of them again with "
                    f"--folds {other_folds or 0} or --folds {folds or 0}."
                )


def _superseded(results: Iterable[Result]) -> list[tuple[Result, Result]]:
    """Results of older versions of a control, measure or kind of probe, each with the one of the newest versions."""
    newest: dict[Cell, Result] = {}
    superseded: list[Result] = []
    for result in results:
        cell = replace(result.cell, parts=None)
        latest = newest.setdefault(cell, result)
        if latest is not result:
            older, newest[cell] = sorted((latest, result), key=_versions)
            superseded.append(older)
    return [(older, newest[replace(older.cell, parts=None)]) for older in superseded]


def _versions(result: Result) -> int:
    """The versions of its parts, added up: they only rise."""
    return sum(int(part.rpartition(".v")[2]) for part in (result.cell.parts or "").split(",") if part)


def _differ(first: Result, second: Result) -> bool:
    """Whether two results of one cell differ; without an identity of the encoder, predictions count, too."""
    if first.cell.identity is not None or first.resamples != second.resamples:
        return first.score != second.score
    return (first.score, first.files.get("predictions")) != (second.score, second.files.get("predictions"))


def _conflict(first: Result, first_folder: Path, second: Result, second_folder: Path) -> str:
    cell = first.cell
    scores = f"{first.score:.4f} in {first_folder} and {second.score:.4f} in {second_folder}"
    what = f"{cell.encoder} on {cell.dataset} has {scores}"
    if cell.identity is None:
        raise UsageError(
            f"{what}, and the encoder has no identity, so these may be two encoders. Read the runs one by one, or give "
            "the encoder an identity (py:…?version=…) and run again."
        )
    return f"{what}, although encoder and rows are the same. The first is shown."


def _merged(infos: Sequence[Any]) -> dict[str, Any]:
    """The requests of all runs; two sets are the same if their names and rows are."""
    merged: dict[str, Any] = {}
    for info in infos:
        for name, value in info.items():
            if name == "asked":
                merged[name] = _merged([merged.get(name, {}), value])
                continue
            if not isinstance(value, list):
                merged.setdefault(name, value)
                continue
            values = merged.setdefault(name, [])
            names = [_name(entry) for entry in values]
            values += [entry for entry in value if _name(entry) not in names]
    return merged


def _name(value: Any) -> Any:
    return (value["name"], value["digest"]) if isinstance(value, dict) else value
