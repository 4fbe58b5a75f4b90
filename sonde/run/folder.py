"""A run on disk: what was asked for, a line per finished cell, predictions, and the rows they are about.

    my-run/  run.json  results.jsonl  predictions/<key>.npz  probes/<key>.npz  datasets/<digest>.parquet

A line is written and synced when its cell is finished, after its predictions and its probe. A torn last line, from a
crash or a full disk, is cut off by the next writer. Of several lines about one cell the last one counts. Whether a cell
is done does not depend on its probe.
"""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec
import numpy as np
import numpy.typing as npt

from sonde.dataset import read_rows
from sonde.errors import DataError, NotInstalled, RunError, UsageError
from sonde.probes.fit import Model
from sonde.probes.saved import LARGEST, from_arrays, shape
from sonde.result import Cell, Failure, Result, from_line
from sonde.task import Example

if TYPE_CHECKING:
    import pandas

INFO, RESULTS, PREDICTIONS, PROBES, DATASETS = "run.json", "results.jsonl", "predictions", "probes", "datasets"
FORMAT = 1
GONE = "gone"
"""The kind of a record that says: what was said of this cell before no longer counts."""
OTHER = "other_"
"""How arrays begin that are not about the test rows."""
SCORES = ("macro_f1", "log2_loss", "log2_loss_calibrated", "f1", "pearson", "spearman", "mse")
"""Further metrics that a row of a table has."""
WHOLE = 100
"""Up to so many classes, the probabilities of all of them are kept; above, those of the true and the predicted one."""

Arrays = Mapping[str, npt.NDArray[Any]]


@dataclass(frozen=True)
class Run:
    """Results of encoders on sets, read from a folder."""

    folder: Path
    info: Mapping[str, Any] = field(default_factory=dict)
    """What was asked for: encoders, datasets, probes and seeds, in order."""
    results: tuple[Result, ...] = ()
    """Finished cells, in the order they were asked for."""
    failures: tuple[Failure, ...] = ()
    """Cells, encoders and sets that could not be done, and have not been since."""
    homes: Mapping[str, Path] = field(default_factory=dict)
    """By key, the folder of each result that is not in ``folder``: those of further runs, after ``join``."""
    extras: tuple[Result, ...] = ()
    """Finished cells of controls and measures, whose ``cell.variant`` says which."""

    @classmethod
    def load(cls, folder: Path | str) -> Run:
        """Read what is there; a run that is being written can be read too."""
        folder = Path(folder)
        info = read_info(folder)
        if info is None:
            raise RunError(f"{folder} is no run: there is no {INFO} in it. `sonde run -o {folder}` writes one.")
        found: dict[str, Result] = {}
        failed: dict[str, Failure] = {}
        for record in records(folder / RESULTS):
            found.pop(record.key, None)
            failed.pop(record.key, None)
            if isinstance(record, Result):
                found[record.key] = record
            elif record.kind != GONE:
                failed[record.key] = record
        done = {asked(r.cell) for r in found.values()}  # an older failure of what was done since is history
        left = (f for f in failed.values() if asked(f.cell) not in done)
        plain = in_order((r for r in found.values() if r.cell.variant is None), info)
        extras = in_order((r for r in found.values() if r.cell.variant is not None), info)
        return cls(folder, info, plain, in_order(left, info), extras=extras)

    @cached_property
    def folders(self) -> list[Path]:
        """The folders that results are in: one, or after ``join`` several."""
        return list(dict.fromkeys([self.folder, *self.homes.values()]))

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
        path = self.home(result) / PREDICTIONS / f"{result.key}.npz"
        try:
            arrays = _arrays(path, names)
        except _UNREADABLE as e:
            raise RunError(f"{path} cannot be read: {e}. Delete it and give the same command again.") from e
        short = any(len(a) != result.n["te"] for name, a in arrays.items() if not name.startswith(OTHER))
        if short or not arrays:
            raise RunError(f"{path} does not have {result.n['te']} predictions. It was altered; run again elsewhere.")
        return arrays

    def right(self, result: Result) -> npt.NDArray[np.bool_]:
        """Which test rows (n) were labelled right."""
        if result.metric != "accuracy":
            raise UsageError(f"{result.cell.dataset} is scored by {result.metric}: no row of it is right or wrong.")
        found = self.predictions(result, "predicted", "truth")
        return np.asarray(found["predicted"] == found["truth"])

    def has_model(self, result: Result) -> bool:
        """Whether the trained probe of a result was kept."""
        return self._probe_path(result).exists()

    def model(self, result: Result) -> Model:
        """The trained probe of a result; its scores are those of the run."""
        return read_model(self._probe_path(result), result)

    def rows(self, result: Result) -> Sequence[Example]:
        """The test rows, in the order of the predictions."""
        path = rows_path(self.home(result), result.cell.data, result.cell.limit)
        try:
            return read_rows(path)["te"]
        except DataError as e:
            raise RunError(f"The test rows of {result.cell.dataset} cannot be read: {e}") from e

    def dataset(self, result: Result) -> Mapping[str, Any]:
        """What run.json says about the set."""
        said = self.info.get("datasets", ())
        return next((d for d in said if (d["name"], d["digest"]) == (result.cell.dataset, result.cell.data)), {})

    def _probe_path(self, result: Result) -> Path:
        return self.home(result) / PROBES / f"{result.key}.npz"

    def home(self, result: Result) -> Path:
        """The folder that a result is in."""
        return self.homes.get(result.key, self.folder)

    def frame(self) -> pandas.DataFrame:
        """A data frame, one row per result."""
        try:
            import pandas
        except ImportError:
            raise NotInstalled("A data frame needs pandas: pip install pandas.") from None
        return pandas.DataFrame([flat(result) for result in self.results])


def read_model(path: Path, result: Result) -> Model:
    """The probe of a result, which is in a file."""
    what = f"{result.cell.encoder} on {result.cell.dataset}"
    try:
        found = from_arrays(_arrays(path))
    except FileNotFoundError:
        raise RunError(
            f"There is no probe of {what} in {path.parent}. Runs keep those of sets that are learned in one go, up "
            f"to {LARGEST >> 20} MB each, and older versions of sonde kept none: run again in a new folder."
        ) from None
    except (*_UNREADABLE, DataError) as e:
        raise RunError(f"{path} cannot be read: {e} It was altered or is damaged; run again elsewhere.") from e
    expected = (len(result.labels), result.dimension)
    if shape(found) != expected:
        raise RunError(
            f"{path} has a probe of {shape(found)[0]} classes on {shape(found)[1]} dimensions; expected "
            f"{expected[0]} on {expected[1]}, for {what}. It was altered; run again elsewhere."
        )
    return found


_UNREADABLE = (OSError, ValueError, zipfile.BadZipFile, zlib.error, EOFError, KeyError)
"""What numpy raises of a file that is not as it was written."""


def _arrays(path: Path, names: Sequence[str] = ()) -> dict[str, npt.NDArray[Any]]:
    # numpy leaves a file open that is no archive
    with path.open("rb") as file, np.load(file, allow_pickle=False) as found:
        return {name: found[name] for name in names or found.files}


def asked(cell: Cell) -> Cell:
    """A cell whatever the state of its encoder and the version of this program."""
    return replace(cell, identity=None, sonde="")


def set_failure(task: str, name: str) -> Cell:
    """What a set that cannot be used goes by."""
    return Cell(task=task, version=0, dataset=name, data="", encoder="")


def flat(result: Result) -> dict[str, Any]:
    """A result as one row of a table."""
    cell, (low, high) = result.cell, result.range
    return {
        "dataset": cell.dataset, "task": cell.task, "language": result.language, "encoder": cell.encoder,
        "layer": cell.layer, "probe": cell.probe, "seed": cell.seed, "metric": result.metric, "score": result.score,
        "low": low, "high": high, "interval": result.interval_kind, "clusters": result.clusters,
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


def records(path: Path) -> Iterator[Result | Failure]:
    """All that was written down about cells, the oldest first; of a torn last line nothing."""
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return
    except OSError as e:
        raise RunError(f"{path} cannot be read: {e.strerror}.") from e
    # what stands after the last line break is torn, or still being written: not a record
    for i, line in enumerate(content.split(b"\n")[:-1], 1):
        record = from_line(line)
        # files are found by these: a record from elsewhere must not lead out of its folder
        if record is None or not all(
            text.replace("-", "a").isalnum() for text in (record.key, record.cell.data or "a")
        ):
            raise RunError(
                f"{path}:{i}: met a line that is no result; expected what this version of sonde writes. The file was "
                "altered, or is of another version: name a new folder."
            )
        yield record


def read_info(folder: Path) -> dict[str, Any] | None:
    """What run.json says; None if there is none."""
    path = folder / INFO
    try:
        found = msgspec.json.decode(path.read_bytes(), type=dict[str, Any])
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as e:
        raise RunError(f"{path} cannot be read: {e.strerror}.") from e
    except msgspec.DecodeError as e:
        raise RunError(f"{path} cannot be read: {e}. It was altered; name a new folder.") from e
    if found.get("format") != FORMAT:
        raise RunError(f"{path} has the format {found.get('format')!r}; this version of sonde knows {FORMAT}.")
    return found


def rows_path(folder: Path, digest: str, limit: int | None) -> Path:
    """Where the test rows of a set are, or of a sample of it."""
    return folder / DATASETS / (f"{digest}.parquet" if limit is None else f"{digest}-{limit}.parquet")


Record = TypeVar("Record", Result, Failure)


def in_order(records: Iterable[Record], info: Mapping[str, Any]) -> tuple[Record, ...]:
    """Records in the order in which they were asked for."""
    return tuple(sorted(records, key=_Order(info).of))


class _Order:
    """The order in which things were asked for; what was not comes after, by name."""

    def __init__(self, info: Mapping[str, Any]) -> None:
        self.sets = {(d["name"], d["digest"]): i for i, d in enumerate(info.get("datasets", ()))}
        self.encoders = {name: i for i, name in enumerate(info.get("encoders", ()))}
        self.probes = {name: i for i, name in enumerate(info.get("probes", ()))}
        self.seeds = {seed: i for i, seed in enumerate(info.get("seeds", ()))}

    def of(self, record: Result | Failure) -> tuple[Any, ...]:
        cell, last = record.cell, 1 << 30
        return (
            self.encoders.get(cell.encoder, last), cell.encoder, self.sets.get((cell.dataset, cell.data), last),
            cell.dataset, cell.variant or "", _layer(cell.layer), self.probes.get(cell.probe or "", last),
            cell.probe or "", cell.limit or last,
            self.seeds.get(cell.seed, last), cell.seed, cell.device or "", cell.sonde, record.key,
        )  # fmt: skip


def _layer(name: str | None) -> tuple[int, str]:
    return (int(name), "") if name is not None and name.isdecimal() else (-1, name or "")
