"""The files of results: whether they are intact, and consistent with the results.

A result has the digests of its predictions, of its probe and of its test rows.
"""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from io import BytesIO
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from sentprobe.core.hashing import digest
from sentprobe.data.dataset import decode_rows
from sentprobe.errors import DataError, RunError, UsageError
from sentprobe.probes import Model
from sentprobe.probes.fitting import MAX_SAVED_BYTES, from_arrays
from sentprobe.results.metric import DEFAULT_METRIC, metric_named
from sentprobe.results.result import Result
from sentprobe.tasks import Example

PREDICTIONS, PROBES, DATASETS = "predictions", "probes", "datasets"
AUXILIARY_PREFIX = "other_"
"""Prefix of arrays that do not have a row per test row."""
RESAMPLED, CHOSEN_ARRAY = f"{AUXILIARY_PREFIX}resampled", f"{AUXILIARY_PREFIX}chosen"
"""Which test rows retrained probes have right, and those that resampled dev rows choose; a bit per row."""
FOLD_ARRAY = "fold"
"""The fold that tested each row, of results in folds."""
REDO_CELL = "The command that made the run computes it again."
SCORE_TOLERANCE = 1e-9

Arrays = Mapping[str, npt.NDArray[Any]]


def predictions_path(folder: Path, result: Result) -> Path:
    """The file of the predictions of a result."""
    return folder / PREDICTIONS / f"{result.key}.npz"


def probe_path(folder: Path, result: Result) -> Path:
    """The file of the trained probe of a result, if it was saved."""
    return folder / PROBES / f"{result.key}.npz"


def rows_path(folder: Path, data: str, limit: int | None, folds: int | None = None) -> Path:
    """The file of the test rows of a set, or of a sample of it; in folds, these are all rows."""
    sample = "" if limit is None else f"-{limit}"
    return folder / DATASETS / f"{data}{sample}{'' if folds is None else '-all'}.parquet"


def own_files(folder: Path, result: Result) -> dict[str, Path]:
    """The files of a result, by content."""
    return {
        "predictions": predictions_path(folder, result),
        "probe": probe_path(folder, result),
        "rows": rows_path(folder, result.cell.data, result.cell.limit, result.cell.folds),
    }


def matches_checksum(path: Path, expected: str | None) -> bool | None:
    """Whether a file is intact; None if it does not exist, or none was written."""
    try:
        return None if expected is None else digest(path.read_bytes()) == expected
    except FileNotFoundError:
        return None
    except OSError:
        return False


def find_damaged(folder: Path, results: Iterable[Result], *, foreign: bool = False) -> tuple[set[str], list[str]]:
    """The keys of results with damaged predictions, and messages about these and about test rows.

    A result whose predictions are missing still counts, unless there may be ``foreign`` results, from another run.
    Probes are checked when they are loaded: they may be large, and no score depends on them.
    """
    wrong: set[str] = set()
    notes: dict[str, None] = {}
    missing: list[Path] = []
    rows: dict[Path, bool | None] = {}
    for r in results:
        paths = own_files(folder, r)
        sound = matches_checksum(paths["predictions"], r.files.get("predictions"))
        if sound is False:
            wrong.add(r.key)
            notes[altered_message(paths["predictions"], r)] = None
        elif sound is None and "predictions" in r.files:
            missing.append(paths["predictions"])
            wrong |= {r.key} if foreign else set()
        path = paths["rows"]
        if "rows" in r.files and path not in rows:
            rows[path] = matches_checksum(path, r.files["rows"])
            if not rows[path]:
                state = "missing" if rows[path] is None else "damaged"
                notes[f"{path}, the test rows of {r.cell.dataset}, is {state}. {REWRITE}"] = None
    if missing:
        several = f"{len(missing)} prediction files are missing, such as {missing[0]}"
        what = several if len(missing) > 1 else f"The prediction file {missing[0]} is missing"
        notes[f"{what}: whatever is computed from predictions is left out. {REDO_CELL}"] = None
    return wrong, list(notes)


def altered_message(path: Path, result: Result) -> str:
    """The message about a result that is left out because of a damaged file."""
    what = f"{result.cell.encoder} on {result.cell.dataset}"
    return f"{path} is damaged, so the result of {what} is left out. {REDO_CELL}"


REWRITE = "Comparisons that need them are left out; the same command writes them again."


def read_predictions(folder: Path, result: Result, names: Sequence[str] = ()) -> dict[str, npt.NDArray[Any]]:
    """The arrays of a result, or those of ``names``, checked against their digest and the score."""
    path = predictions_path(folder, result)
    try:
        content = _content(path, result.files.get("predictions"))
        arrays = from_npz(content, names)
    except KeyError as e:
        arrays = from_npz(content)
        missing = ", ".join(name for name in names if name not in arrays)
        raise UsageError(f"{path} has no array {missing}; expected one of {', '.join(arrays)}.") from e
    except UNREADABLE as e:
        raise RunError(f"{path} cannot be read: {e}. {REDO_CELL}") from e
    short = any(len(a) != result.n["te"] for name, a in arrays.items() if not name.startswith(AUXILIARY_PREFIX))
    if short or not arrays:
        raise RunError(f"{path}: expected {result.n['te']} predictions. {REDO_CELL}")
    metric = metric_named(result.metric)
    counted = is_plain(result) or (metric.right_or_wrong and metric.predicts == "neighbours")
    if counted and {"predicted", "truth"} <= arrays.keys():
        share = float((arrays["predicted"] == arrays["truth"]).mean())
        if abs(share - result.score) > SCORE_TOLERANCE:
            raise RunError(f"{path}: expected {result.metric} {result.score:.4f}, got {share:.4f}. {REDO_CELL}")
    return arrays


def is_plain(result: Result) -> bool:
    """Whether a score is the accuracy on the test rows of the set, not a mean over folds or of other rows or labels."""
    return result.metric == DEFAULT_METRIC and result.cell.variant is None and result.trained_on != "folds"


def read_test_rows(folder: Path, result: Result) -> Sequence[Example]:
    """The test rows of a result in the order of its predictions, checked against their digest and labels."""
    path = rows_path(folder, result.cell.data, result.cell.limit, result.cell.folds)
    try:
        rows = _decoded(_content(path, result.files.get("rows")))
    except (OSError, ValueError) as e:
        raise RunError(f"{path}, the test rows of {result.cell.dataset}, cannot be read: {e}. {REWRITE}") from e
    if is_plain(result) and not _agree(result, read_predictions(folder, result, ["truth"])["truth"], rows):
        raise RunError(f"{path} does not hold the test rows of {result.cell.encoder}. {REDO_CELL}")
    return rows


@lru_cache(maxsize=2)
def _decoded(content: bytes) -> tuple[Example, ...]:
    """The test rows in a file. The last ones are kept, as results on the same set are compared one after another."""
    return tuple(decode_rows(content)["te"])


def _agree(result: Result, truth: npt.NDArray[Any], rows: Sequence[Example]) -> bool:
    """Whether rows have the labels (n) that a plain result was scored with."""
    number = {label: i for i, label in enumerate(result.labels)}
    return len(truth) == len(rows) and all(
        number.get(row.label, -1) == label for row, label in zip(rows, truth.tolist(), strict=True)
    )


def read_model(folder: Path, result: Result) -> Model:
    """The trained probe of a result."""
    path, what = probe_path(folder, result), f"{result.cell.encoder} on {result.cell.dataset}"
    try:
        model = from_arrays(from_npz(_content(path, result.files.get("probe"))))
    except FileNotFoundError:
        raise RunError(
            f"There is no probe of {what} in {path.parent}. Runs save probes of sets with a train/test split, up to "
            f"{MAX_SAVED_BYTES >> 20} MB each; run again in a new folder."
        ) from None
    except (*UNREADABLE, DataError) as e:
        raise RunError(f"{path} cannot be read: {str(e).rstrip('.')}. {REDO_CELL}") from e
    expected = (len(result.labels), result.dimension)
    if model.shape != expected:
        raise RunError(
            f"{path}: expected a probe of {expected[0]} classes and {expected[1]} dimensions, for {what}; got "
            f"{model.shape[0]} and {model.shape[1]}. {REDO_CELL}"
        )
    return model


UNREADABLE = (OSError, ValueError, zipfile.BadZipFile, zlib.error, EOFError, KeyError)
"""What numpy raises for damaged files."""


def _content(path: Path, expected: str | None) -> bytes:
    if expected is None:
        raise FileNotFoundError("none was written")
    content = path.read_bytes()
    if digest(content) != expected:
        raise ValueError("its digest does not match")
    return content


def from_npz(content: bytes, names: Sequence[str] = ()) -> dict[str, npt.NDArray[Any]]:
    """Arrays of an .npz file; all of them, unless there are names."""
    with zipfile.ZipFile(BytesIO(content)) as file:
        wanted = names or [name.removesuffix(".npy") for name in file.namelist()]
        return {name: _array(file.read(f"{name}.npy")) for name in wanted}


def _array(content: bytes) -> npt.NDArray[Any]:
    """The array of an .npy file as ``to_npz`` writes it. A run has thousands, and few different headers."""
    start = 10 + int.from_bytes(content[8:10], "little")
    shape, order, dtype = _header(content[:start])
    return np.frombuffer(content, dtype, offset=start).reshape(shape, order=order).copy(order="K")


@lru_cache(maxsize=256)
def _header(content: bytes) -> tuple[tuple[int, ...], Literal["C", "F"], np.dtype[Any]]:
    """The shape, the order and the type of an array; a ValueError if it has Python objects."""
    file = BytesIO(content)
    if (version := np.lib.format.read_magic(file)) != (1, 0):
        raise ValueError(f"its arrays have the format {version}")
    shape, in_columns, dtype = np.lib.format.read_array_header_1_0(file)
    if dtype.hasobject:
        raise ValueError("it has an array of Python objects")
    return shape, "F" if in_columns else "C", dtype


def to_npz(arrays: Arrays, *, compressed: bool) -> bytes:
    """Arrays as the content of an .npz file."""
    buffer = BytesIO()
    (np.savez_compressed if compressed else np.savez)(buffer, allow_pickle=False, **arrays)
    return buffer.getvalue()
