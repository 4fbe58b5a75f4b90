"""A run on disk: what was asked for, a line per finished cell, predictions, and the rows they are about.

    my-run/  run.json  results.jsonl  predictions/<key>.npz  probes/<key>.npz  datasets/<digest>.parquet

A line is written and synced when its cell is finished, after its predictions and its probe, whose digests it has. A
torn last line, from a crash or a full disk, is cut off by the next writer. Of several lines about one cell the last one
counts. What is not as it was written is told and left out, and the next writer does it again.
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

from sonde.errors import CorruptionWarning, NotInstalled, RunError, UsageError
from sonde.probes.model import Model
from sonde.result import Failure, Result
from sonde.run.info import INFO as INFO
from sonde.run.info import dataset_failure_cell as dataset_failure_cell
from sonde.run.info import in_order as in_order
from sonde.run.info import info_or_damage, rebuild_info
from sonde.run.info import read_info as read_info
from sonde.run.info import request_of as request_of
from sonde.run.records import RESULTS as RESULTS
from sonde.run.records import read_records
from sonde.run.verify import AUXILIARY_PREFIX as AUXILIARY_PREFIX
from sonde.run.verify import Arrays as Arrays
from sonde.run.verify import find_damaged, probe_path, read_model, read_predictions, read_test_rows
from sonde.task import Example

if TYPE_CHECKING:
    import pandas

SCORES = ("macro_f1", "log2_loss", "log2_loss_calibrated", "f1", "pearson", "spearman", "mse")
"""Further metrics that a row of a table has."""
MAX_SAVED_CLASSES = 100
"""Up to so many classes, the probabilities of all of them are kept; above, those of the true and the predicted one."""


@dataclass(frozen=True)
class Run:
    """Results of encoders on sets, read from a folder."""

    folder: Path
    info: Mapping[str, Any] = field(default_factory=dict)
    """What was asked for: encoders, datasets, probes and seeds, in order."""
    results: tuple[Result, ...] = ()
    """Finished cells, in the order they were asked for."""
    failures: tuple[Failure, ...] = ()
    """Cells, encoders and sets that the last command could not do, and that were not done since."""
    result_folders: Mapping[str, Path] = field(default_factory=dict)
    """By key, the folder of each result that is not in ``folder``: those of further runs, after ``join``."""
    extras: tuple[Result, ...] = ()
    """Finished cells of controls and measures, whose ``cell.variant`` says which."""

    damaged: tuple[str, ...] = ()
    """What is not as it was written, by file and line. Results that are damaged are left out."""

    @classmethod
    def load(cls, folder: Path | str) -> Run:
        """Read what is there; a run that is being written can be read too. Damage is told by a ``CorruptionWarning``."""
        folder = Path(folder)
        info, problem = info_or_damage(folder)
        found = read_records(folder / RESULTS, info.get("written") if info else None)
        damaged = [*found.damaged]
        if info is None:
            if not found.lines:
                raise RunError(f"{folder} is no run: {problem} `sonde run -o {folder}` writes one, in a new folder.")
            info = rebuild_info(found.results.values(), found.failures.values())
            damaged.insert(0, f"{problem} What the results tell of it is used; the same command writes it again.")
        wrong, notes = find_damaged(folder, found.results.values(), foreign=bool(found.damaged))
        damaged += notes
        results = [r for r in found.results.values() if r.key not in wrong]
        for note in damaged:
            warnings.warn(note, CorruptionWarning, stacklevel=2)
        done = {request_of(r.cell) for r in results}  # an older failure of what was done since is history
        last = info.get("command", 0)
        left = (f for f in found.failures.values() if f.command == last and request_of(f.cell) not in done)
        plain = in_order((r for r in results if r.cell.variant is None), info)
        extras = in_order((r for r in results if r.cell.variant is not None), info)
        return cls(folder, info, plain, in_order(left, info), extras=extras, damaged=tuple(damaged))

    @cached_property
    def folders(self) -> list[Path]:
        """The folders that results are in: one, or after ``join`` several."""
        return list(dict.fromkeys([self.folder, *self.result_folders.values()]))

    def __iter__(self) -> Iterator[Result]:
        return iter(self.results)

    def __len__(self) -> int:
        return len(self.results)

    @cached_property
    def encoders(self) -> list[str]:
        """The encoders that have results, in the order they were asked for, baselines last."""
        return list(dict.fromkeys(r.cell.encoder for r in self.results))

    def predictions(self, result: Result, *names: str) -> Arrays:
        """What the probe said of every test row, or only these of the arrays.

        ``predicted``: places in ``result.labels``; ``truth``: the same, -1 for a label that was not met in training;
        ``log2``: log2 of the probability of the true label; ``log2_calibrated``: the same at the temperature that is
        best on dev; ``confidence``: probability of the predicted one;
        ``probabilities`` (n, classes), where there are few enough classes.
        """
        return read_predictions(self.folder_of(result), result, names)

    def correct(self, result: Result) -> npt.NDArray[np.bool_]:
        """Which test rows (n) were labelled right."""
        if result.metric != "accuracy":
            raise UsageError(f"{result.cell.dataset} is scored by {result.metric}: no row of it is right or wrong.")
        found = self.predictions(result, "predicted", "truth")
        return np.asarray(found["predicted"] == found["truth"])

    def has_model(self, result: Result) -> bool:
        """Whether the trained probe of a result was kept."""
        return "probe" in result.files and probe_path(self.folder_of(result), result).exists()

    def model(self, result: Result) -> Model:
        """The trained probe of a result; its scores are those of the run."""
        return read_model(self.folder_of(result), result)

    def rows(self, result: Result) -> Sequence[Example]:
        """The test rows, in the order of the predictions."""
        return read_test_rows(self.folder_of(result), result)

    def dataset(self, result: Result) -> Mapping[str, Any]:
        """What run.json says about the set."""
        said = self.info.get("datasets", ())
        return next((d for d in said if (d["name"], d["digest"]) == (result.cell.dataset, result.cell.data)), {})

    def folder_of(self, result: Result) -> Path:
        """The folder that a result is in."""
        return self.result_folders.get(result.key, self.folder)

    def frame(self) -> pandas.DataFrame:
        """A data frame with a row per result, controls and measures included: plain results have no ``variant``.

        Numbers that only some results have, such as the compression of ``online``, are columns of their own names.
        """
        try:
            import pandas
        except ImportError:
            raise NotInstalled("A data frame needs pandas: pip install pandas.") from None
        results = [*self.results, *self.extras]
        more = sorted({name for result in results for name in result.scores} - set(SCORES))
        return pandas.DataFrame([to_row(r) | {name: r.scores.get(name) for name in more} for r in results])


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
        **{name: result.baselines.get(name) for name in ("majority", "length", "nb-uni", "nb-bi")},
        "classes": len(result.labels), **{f"n_{split}": result.n.get(split) for split in ("tr", "va", "te")},
        "trained_on": result.trained_on, "chosen_on": result.chosen_on, "dimension": result.dimension,
        **{name: result.chosen.get(name) for name in ("l2", "hidden", "dropout")},
        **{f"{stage}_seconds": result.seconds.get(stage) for stage in ("encode", "fit", "score")},
        "limit": cell.limit, "device": cell.device, "sonde": cell.sonde, "synthetic": result.synthetic,
        "signature": result.signature,
    }  # fmt: skip
