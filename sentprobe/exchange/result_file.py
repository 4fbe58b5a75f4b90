"""Results in one file that checks itself: what one lab sends to another.

A JSON document with a checksum. It has the results of a run with their signatures, the digests of their sets, and which
test rows each encoder has right, packed, so that encoders from different files can be compared by paired tests. It has
no sentence, no vector, no probe, and no path but those that are names of encoders. The checksum tells accidents and
edits; it is no signature of the author. Whoever doubts a number repeats it: ``sentprobe repeat SIGNATURE --run FILE``.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from sentprobe import __version__
from sentprobe.core.files import write_atomically
from sentprobe.core.folders import scratch_folder
from sentprobe.core.seal import is_intact, other_format, read_document, seal_document
from sentprobe.data.dataset import Dataset
from sentprobe.errors import DataError, RunError, UsageError
from sentprobe.probes.baselines import ALL_BASELINES
from sentprobe.results.inference import row_clusters
from sentprobe.results.log import Log, open_log
from sentprobe.results.records import ALIASES, RECIPES, Recipe, read_aliases, read_recipes, recipe_entries
from sentprobe.results.result import Result
from sentprobe.results.run import Run
from sentprobe.results.sides import shown_names
from sentprobe.results.verify import CHOSEN_ARRAY, FOLD_ARRAY, RESAMPLED, UNREADABLE, from_npz, to_npz
from sentprobe.tasks import Example

KIND = "sentprobe results"
FORMAT = 1
ARRAYS = ("predicted", "truth", FOLD_ARRAY, RESAMPLED, CHOSEN_ARRAY)
"""What paired tests and metrics of predicted classes need."""
SET_FACTS = ("name", "task", "version", "language", "digest", "labels", "rows", "folds", "split", "inputs", "question")
"""What is said of a set: nothing that may hold a sentence or a path."""
FINDING_FACTS = ("code", "severity", "split", "count")
RUN_FACTS = ("encoders", "probes", "seeds", "sentprobe", "days", ALIASES)
BASELINE_NAMES = frozenset(ALL_BASELINES)
"""Which are the same for everybody."""
UNKNOWN_LABEL = "(not a label of train)"


class _Exported(msgspec.Struct, omit_defaults=True):
    result: Result
    arrays: str = ""
    """An .npz file in base64; empty: there are no predictions."""


class _Document(msgspec.Struct):
    """A results file, without its checksum."""

    kind: str
    format: int
    sentprobe: str
    by: str
    info: dict[str, Any]
    results: list[_Exported]
    clusters: dict[str, list[int]]
    """By set and folds: which test rows share a target form or a sentence, as equal numbers."""


@dataclass(frozen=True)
class ResultFile:
    """A results file that was read, and is as it was written."""

    path: Path
    by: str
    """Whose results these are."""
    contents: _Document

    @classmethod
    def read(cls, path: Path | str) -> ResultFile:
        """Read a file that ``export_results`` wrote.

        Raises
        ------
        DataError
            If it is another file, of another version, or was changed since.
        """
        path = Path(path)
        try:
            document = read_document(path.read_bytes())
        except OSError as e:
            raise DataError(f"{path} cannot be read: {e.strerror}.") from e
        except (ValueError, msgspec.DecodeError) as e:
            raise DataError(f"{path} is not a results file: {e}. `sentprobe export results` writes one.") from e
        if document.get("kind") != KIND:
            raise DataError(f"{path} is not a results file. `sentprobe export results RUN -o {path.name}` writes one.")
        if document.get("format") != FORMAT:
            raise DataError(other_format(path, document.get("format"), FORMAT))
        if not is_intact(document):
            raise DataError(
                f"{path} has changed since `sentprobe export results` wrote it: its checksum does not match, so none "
                "of it is used. Ask its author for the file again."
            )
        try:
            contents = msgspec.convert(document, _Document)
        except msgspec.ValidationError as e:
            raise DataError(f"{path} is not a results file: {e}.") from e
        return cls(path, contents.by, contents)

    def results(self) -> list[Result]:
        """The plain results, with those of baselines, under the names they have in the file."""
        return [exported.result for exported in self.contents.results if exported.result.cell.variant is None]

    def names(self, owner: str = "") -> dict[str, str]:
        """By encoder, what it is called among those of others."""
        aliases = read_aliases(self.contents.info)
        return {name: _owned(name, aliases, owner) for name in self.contents.info.get("encoders", ())}

    def unpack(self, folder: Path, *, owner: str = "", leave_out: Collection[str] = ()) -> Run:
        """Write the results as a run in a new folder, and load it.

        ``owner``: added to the names of encoders, so that those of several files stay apart; baselines keep theirs.
        ``leave_out``: the keys of results that are not needed.
        """
        exported_results = [e for e in self.contents.results if e.result.key not in leave_out]
        present, names = {e.result.cell.encoder for e in exported_results}, self.names(owner)
        with open_log(folder) as log:
            facts = dict(self.contents.info)
            if owner:
                facts.pop(ALIASES, None)
                recipes = {
                    names.get(encoder, encoder): Recipe(_owned(recipe.name, {}, owner))
                    for encoder, recipe in read_recipes(facts).items()
                }
                facts[RECIPES] = recipe_entries(recipes)
            facts["encoders"] = [name for encoder, name in names.items() if encoder in present]
            log.begin(facts["encoders"])
            log.describe(**facts)
            for exported in exported_results:
                self._add(log, exported, names)
        return Run.load(folder)

    def _add(self, log: Log, exported: _Exported, names: Mapping[str, str]) -> None:
        result = exported.result
        if result.key != result.cell.key:
            raise DataError(f"{self.path}: the record of {result.cell.encoder} on {result.cell.dataset} is not valid.")
        try:
            arrays = from_npz(base64.b64decode(exported.arrays, validate=True)) if exported.arrays else None
        except (*UNREADABLE, binascii.Error) as e:
            raise DataError(f"{self.path}: the predictions of {result.cell.encoder} cannot be read: {e}.") from e
        cell = replace(result.cell, encoder=names.get(result.cell.encoder, result.cell.encoder))
        if arrays is not None and "truth" in arrays:
            clusters = self.contents.clusters.get(_rows_key(result))
            if clusters is not None and len(clusters) == len(arrays["truth"]):
                rows = anonymous_rows(result, arrays["truth"].tolist(), clusters)
                log.save_rows(_set_of(result, rows), cell.data, cell.limit, cell.folds)
        log.add(replace(result, cell=cell, key=cell.key, files={}), arrays)


def _owned(name: str, aliases: Mapping[str, str], owner: str) -> str:
    """What an encoder is called among those of others."""
    if not owner or name in BASELINE_NAMES:
        return name
    return f"{aliases.get(name, name)} ({owner})"


def _rows_key(result: Result) -> str:
    cell = result.cell
    return f"{cell.data} {cell.limit} {cell.folds}"


def anonymous_rows(result: Result, truth: Sequence[int], clusters: Sequence[int]) -> list[Example]:
    """Rows without their sentences: the label, and what they share with others, as a number."""
    labels = dict(enumerate(result.labels))
    return [
        Example(labels.get(label, UNKNOWN_LABEL), (), f"row {i}", key=str(cluster))
        for i, (label, cluster) in enumerate(zip(truth, clusters, strict=True))
    ]


def _set_of(result: Result, rows: Sequence[Example]) -> Dataset:
    """Test rows as a set; in folds, where all rows are saved, these are all there are."""
    cell = result.cell
    return Dataset(cell.dataset, cell.task, cell.version, result.language, result.labels, {"te": rows})


def export_results(run: Run, path: Path | str, *, by: str, encoders: Sequence[str] = ()) -> Path:
    """Write the results of a run to one file that checks itself.

    Parameters
    ----------
    run
        The run.
    path
        The file to write, which ends with .json.
    by
        Whose results these are, as leaderboards show it.
    encoders
        Only these encoders, and the baselines. Default: all.

    Returns
    -------
    Path
        The file.
    """
    path = Path(path)
    if path.suffix.lower() != ".json":
        raise UsageError(f"{path}: expected a file name that ends with .json.")
    if not by.strip() or not by.isprintable():
        raise UsageError(f"--by {by!r}: expected the name of a person or a group.")
    chosen = _chosen(run, encoders)
    results = [result for result in (*run.results, *run.extras) if result.cell.encoder in chosen]
    if all(result.cell.encoder in BASELINE_NAMES for result in results):
        raise UsageError(f"{run.folder} has no results to export, other than those of baselines.")
    contents = _Document(
        kind=KIND,
        format=FORMAT,
        sentprobe=__version__,
        by=by.strip(),
        info=_public_info(run, chosen),
        results=[_exported(run, result) for result in results],
        clusters=dict(_clusters(run, results)),
    )
    write_atomically(path, seal_document(msgspec.to_builtins(contents)))
    return path


def _chosen(run: Run, encoders: Sequence[str]) -> set[str]:
    """The encoders to export, with the baselines of the run."""
    all_names = {result.cell.encoder for result in (*run.results, *run.extras)}
    if not encoders:
        return all_names
    aliases, selected = read_aliases(run.info), set(shown_names(run, encoders))
    return {
        name
        for name in all_names
        if name in BASELINE_NAMES or aliases.get(name, name) in selected or run.recipes.get(name) in selected
    }


def _public_info(run: Run, chosen: set[str]) -> dict[str, Any]:
    """What run.json says that others may read: no paths, no sentences that audits quote."""
    info = {name: run.info[name] for name in RUN_FACTS if name in run.info}
    info["encoders"] = [name for name in info.get("encoders", ()) if name in chosen]
    info[ALIASES] = [entry for entry in info.get(ALIASES, ()) if entry[1] in chosen]
    if recipes := {name: Recipe(recipe) for name, recipe in run.recipes.items() if name in chosen}:
        info[RECIPES] = recipe_entries(recipes)
    info["datasets"] = [
        {
            **{name: described[name] for name in SET_FACTS if name in described},
            "source": None,
            "audit": [
                {**{name: finding.get(name) for name in FINDING_FACTS}, "message": "", "advice": "", "examples": []}
                for finding in described.get("audit") or ()
            ],
        }
        for described in run.info.get("datasets", ())
    ]
    return info


def _exported(run: Run, result: Result) -> _Exported:
    """A result with its predictions, if it has any that can be read."""
    plain = replace(result, files={}, seconds={}, tried=())
    if result.cell.variant is not None or "predictions" not in result.files:
        return _Exported(plain)
    arrays = run.predictions(result)
    small = {name: _compact(arrays[name]) for name in ARRAYS if name in arrays}
    return _Exported(plain, base64.b64encode(to_npz(small, compressed=True)).decode())


def _compact(array: Any) -> Any:
    """Class numbers in as few bytes as they need."""
    if array.dtype.kind != "i" or not array.size:
        return array
    for small in (np.int8, np.int16):
        if np.iinfo(small).min <= array.min() and array.max() <= np.iinfo(small).max:
            return array.astype(small)
    return array


def _clusters(run: Run, results: Sequence[Result]) -> Iterator[tuple[str, list[int]]]:
    """Which test rows belong together, of each set where some do."""
    seen: set[str] = set()
    for result in results:
        key = _rows_key(result)
        if key in seen or result.cell.variant is not None:
            continue
        with suppress(RunError):  # rows that are missing or damaged
            ids = row_clusters(run, result)
            if ids is None:
                continue
            seen.add(key)
            numbers = {name: i for i, name in enumerate(dict.fromkeys(ids))}
            yield key, [numbers[name] for name in ids]


@contextmanager
def opened_run(path: Path | str) -> Iterator[Run]:
    """A run folder, or the results of a file as one, which is removed at the end."""
    path = Path(path)
    if not path.is_file():
        yield Run.load(path)
        return
    with scratch_folder() as folder:
        yield ResultFile.read(path).unpack(folder / "run")
