"""A run on disk: what was requested, a line per finished cell, predictions, probes and test rows.

    my-run/  run.json  results.jsonl  predictions/<key>.npz  probes/<key>.npz  datasets/<digest>.parquet

A line is written and synced when its cell is finished, after its predictions and its probe, whose digests it has. A
torn last line, after a crash or on a full disk, is cut off by the next writer. If several lines are about one cell, the
last one counts. Damaged results are reported and left out, and the next writer computes them again.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from sentprobe.baselines import BASELINES
from sentprobe.errors import CorruptionWarning, NotInstalled, RunError, UsageError
from sentprobe.probes.model import Model
from sentprobe.result import RIGHT_OR_WRONG, Failure, Result
from sentprobe.run.html import scores_html
from sentprobe.run.info import INFO as INFO
from sentprobe.run.info import dataset_failure_cell as dataset_failure_cell
from sentprobe.run.info import in_order as in_order
from sentprobe.run.info import info_or_damage, rebuild_info
from sentprobe.run.info import read_info as read_info
from sentprobe.run.info import request_of as request_of
from sentprobe.run.kept_arrays import KeptArrays
from sentprobe.run.records import RESULTS as RESULTS
from sentprobe.run.records import read_records
from sentprobe.run.verify import AUXILIARY_PREFIX as AUXILIARY_PREFIX
from sentprobe.run.verify import CHOSEN_ARRAY as CHOSEN_ARRAY
from sentprobe.run.verify import RESAMPLED as RESAMPLED
from sentprobe.run.verify import Arrays as Arrays
from sentprobe.run.verify import find_damaged, probe_path, read_model, read_predictions, read_test_rows
from sentprobe.task import Example

if TYPE_CHECKING:
    import pandas

SCORES = ("macro_f1", "log2_loss", "log2_loss_calibrated", "f1", "pearson", "spearman", "mse")
"""Further metrics that are columns of ``Run.frame``."""
MAX_SAVED_CLASSES = 100
"""Up to this many classes, all probabilities are saved; above, only those of the true and the predicted class."""


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
    _kept: KeptArrays = field(default_factory=KeptArrays, init=False, repr=False, compare=False)

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
        info, problem = info_or_damage(folder)
        found = read_records(folder / RESULTS, info.get("written") if info else None)
        damaged = [*found.damaged]
        if info is None:
            if not found.lines:
                raise RunError(
                    f"{folder} is not a run: {problem} `sentprobe run -o {folder}` writes one, in a new folder."
                )
            info = rebuild_info(found.results.values(), found.failures.values())
            damaged.insert(0, f"{problem} It is reconstructed from the results; the same command writes it again.")
        wrong, notes = find_damaged(folder, found.results.values(), foreign=bool(found.damaged))
        damaged += notes
        results = [r for r in found.results.values() if r.key not in wrong]
        for note in damaged:
            warnings.warn(note, CorruptionWarning, stacklevel=2)
        done = {request_of(r.cell) for r in results}  # a failure that has succeeded since no longer counts
        last = info.get("command", 0)
        left = (f for f in found.failures.values() if f.command == last and request_of(f.cell) not in done)
        plain = in_order((r for r in results if r.cell.variant is None), info)
        extras = in_order((r for r in results if r.cell.variant is not None), info)
        return cls(folder, info, plain, in_order(left, info), extras=extras, damaged=tuple(damaged))

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
        """A table of the plain scores for notebooks, with 95 % intervals; ``Report`` has all there is to know."""
        return scores_html(self.results, repr(self))

    def __iter__(self) -> Iterator[Result]:
        return iter(self.results)

    def __len__(self) -> int:
        return len(self.results)

    @cached_property
    def encoders(self) -> list[str]:
        """The encoders that have results, in the order they were requested, baselines last."""
        return list(dict.fromkeys(r.cell.encoder for r in self.results))

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
            predicted label; ``probabilities`` (n, classes), where there are few enough classes.
        """
        return read_predictions(self.folder_of(result), result, names)

    def paired_arrays(self, result: Result) -> Arrays:
        """The predictions that paired tests need, read-only and kept in memory, as every test needs them again."""
        names = ("predicted", "truth", *((RESAMPLED, CHOSEN_ARRAY) if result.resamples else ()))
        return self._kept.get(result.key, lambda: self.predictions(result, *names))

    def correct(self, result: Result) -> npt.NDArray[np.bool_]:
        """Which test rows (n) are labelled correctly; UsageError for sets whose rows are not right or wrong."""
        if result.metric not in RIGHT_OR_WRONG:
            raise UsageError(f"{result.cell.dataset} is scored by {result.metric}: its rows are not right or wrong.")
        found = self.paired_arrays(result)
        return np.asarray(found["predicted"] == found["truth"])

    def has_model(self, result: Result) -> bool:
        """Whether the trained probe of a result was saved."""
        return "probe" in result.files and probe_path(self.folder_of(result), result).exists()

    def model(self, result: Result) -> Model:
        """The trained probe of a result; it gives the scores of the run."""
        return read_model(self.folder_of(result), result)

    def rows(self, result: Result) -> Sequence[Example]:
        """The test rows, in the order of the predictions."""
        return read_test_rows(self.folder_of(result), result)

    def dataset(self, result: Result) -> Mapping[str, Any]:
        """What run.json records about the dataset of a result."""
        described = self.info.get("datasets", ())
        return next((d for d in described if (d["name"], d["digest"]) == (result.cell.dataset, result.cell.data)), {})

    def folder_of(self, result: Result) -> Path:
        """The folder of a result."""
        return self.result_folders.get(result.key, self.folder)

    def frame(self) -> pandas.DataFrame:
        """A pandas data frame with a row per result, controls and measures included: plain results have no ``variant``.

        Numbers that only some results have, such as ``compression`` of the measure online, are columns of their own.
        """
        try:
            import pandas
        except ImportError:
            raise NotInstalled("Run.frame() needs pandas: pip install pandas.") from None
        results = [*self.results, *self.extras]
        more = sorted({name for result in results for name in result.scores} - set(SCORES))
        return pandas.DataFrame([to_row(r) | {name: r.scores.get(name) for name in more} for r in results])


def _plural(n: int, noun: str) -> str:
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s"


def to_row(result: Result) -> dict[str, Any]:
    """A result as one row of a table; ``low`` and ``high`` are about the encoder, where that is known."""
    cell, about = result.cell, "probe" if result.encoder_interval is None else "encoder"
    probe_low, probe_high = (None, None) if result.constant else result.range
    low, high = result.encoder_interval or (probe_low, probe_high)
    return {
        "dataset": cell.dataset, "task": cell.task, "language": result.language, "encoder": cell.encoder,
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
        "limit": cell.limit, "device": cell.device, "sentprobe": cell.sentprobe, "synthetic": result.synthetic,
        "signature": result.signature,
    }  # fmt: skip
