"""The sets of the demo, and results of its encoders on them that come with sentprobe, with every prediction.

An encoder that is probed on these sets stands beside the reference encoders at once: their results are added to its run
as if they had been computed there, so that differences are tested, row by row. They are computed once, by
``tools/references.py`` in the repository, and any of them can be repeated by its signature. Whether they are about the
very sets at hand is checked by digest.
"""

from __future__ import annotations

import shutil
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec

from sentprobe.core.arguments import Progress
from sentprobe.core.files import write_atomically
from sentprobe.core.folders import cache_folder, locked
from sentprobe.core.hashing import digest
from sentprobe.corpus.corpus import Corpus
from sentprobe.data.dataset import Dataset
from sentprobe.errors import RunError, SentProbeError, SentProbeWarning
from sentprobe.make import make_sets
from sentprobe.make.request import check_writable, select_tasks
from sentprobe.results.log import open_log, removed_if_refused
from sentprobe.results.records import ALIASES, from_line, to_line
from sentprobe.results.result import Result
from sentprobe.results.run import Run
from sentprobe.results.verify import from_npz, predictions_path
from sentprobe.run.info import alias_entries

DEMO_SENTENCES, DEMO_SIZES = 14_000, "1500/300/1000"
"""Few sets and many rows, so that intervals are narrow; in a minute on two cores."""
DEMO_TASKS = {
    "conneau2018": ("word_content", "tree_depth", "past_present", "bigram_shift", "odd_man_out"),
    "universal2019": ("top_dependencies", "passive", "subj_number"),
}
"""Suites and what the demo makes of them."""
DEMO_ENCODERS = {"words": "static:", "USE": "use:", "parser": "builtin:", "untrained": "builtin:?random=0"}
"""A bag of word vectors, two encoders that see word order, and one of them before training; by name."""
REFERENCES_FILE = Path(__file__).with_name("references.msgpack")
_DIGITS = 32
"""Of the checksum that the file begins with."""


@dataclass(frozen=True)
class References:
    """Results of the demo's encoders and of the baselines, by the digests of the sets."""

    results: Sequence[Result]
    predictions: Mapping[str, bytes]
    """The predictions of each result, as a run has them in a file, by the key of its cell."""

    @property
    def folds(self) -> dict[str, int | None]:
        """In how many folds sets are tested, by digest."""
        return {result.cell.data: result.cell.folds for result in self.results}

    @property
    def sets(self) -> dict[str, str]:
        """The digests of the sets, by name."""
        return {result.cell.dataset: result.cell.data for result in self.results}


def read_references() -> References:
    """The results that come with sentprobe; RunError if the file is damaged."""
    content = REFERENCES_FILE.read_bytes()
    if digest(content[_DIGITS:]).encode() != content[:_DIGITS]:
        raise RunError(f"{REFERENCES_FILE} has been changed since it was installed; install sentprobe again.")
    records = msgspec.msgpack.decode(content[_DIGITS:], type=list[tuple[bytes, bytes]])
    parsed = [(from_line(line), predictions) for line, predictions in records]
    pairs = [(record[0], arrays) for record, arrays in parsed if record is not None and isinstance(record[0], Result)]
    return References([result for result, _ in pairs], {result.key: arrays for result, arrays in pairs})


def write_references(run: Run, path: Path = REFERENCES_FILE) -> None:
    """Write the plain results of a run, without controls, measures and trained probes, as a file of references."""
    records = [
        (to_line(replace(result, files={}), number), predictions_path(run.folder, result).read_bytes())
        for number, result in enumerate(run.results)
    ]
    encoded = msgspec.msgpack.encode(records)
    write_atomically(path, digest(encoded).encode() + encoded)


def make_demo_sets(folder: Path, jobs: int, progress: Progress | None = None) -> list[Dataset]:
    """Make the sets of the demo in a folder."""
    check_writable(folder)
    requests = [
        request for suite, tasks in DEMO_TASKS.items() for request in select_tasks([suite], tasks, sizes=DEMO_SIZES)
    ]
    sets = []
    for dataset in make_sets(Corpus.synthetic(DEMO_SENTENCES), requests, jobs=jobs, progress=progress):
        if isinstance(dataset, Dataset):
            dataset.save(folder / dataset.name)
            sets.append(dataset)
    return sets


def cached_demo_sets(sets: Mapping[str, str], jobs: int, progress: Progress | None = None) -> Path:
    """The folder of the demo's sets in the cache: made once, and made again if one is missing or damaged."""
    root = cache_folder() / "demo-sets"
    root.mkdir(parents=True, exist_ok=True)
    folder = root / digest(msgspec.json.encode(sets))[:16]
    with locked(root / ".lock", root, RunError):
        if not _are_intact(folder, sets):
            shutil.rmtree(folder, ignore_errors=True)
            make_demo_sets(folder, jobs, progress)
    return folder


def _are_intact(folder: Path, sets: Mapping[str, str]) -> bool:
    """Whether the sets in a folder are there, as they were written."""
    try:
        return all(Dataset.load(folder / name).digest == expected for name, expected in sets.items())
    except SentProbeError:
        return False


def add_references(
    folder: Path, references: References, sets: Sequence[Dataset], encoders: Mapping[str, str | None]
) -> list[str]:
    """Add the reference results to a run, after the encoders that are to be probed; the names of those that are there.

    ``encoders`` has the names that the user gave them, if any. An encoder that is to be probed is left out.
    """
    if changed := [dataset.name for dataset in sets if references.sets.get(dataset.name) != dataset.digest]:
        message = f"{changed[0]} is not the set of the results that come with sentprobe, which are left out."
        warnings.warn(message, SentProbeWarning, stacklevel=2)
        return []
    added = {encoder: name for name, encoder in DEMO_ENCODERS.items() if encoder not in encoders}
    aliases = {encoder: name for encoder, name in added.items() if name not in encoders.values()}
    digests = {dataset.digest for dataset in sets}
    with removed_if_refused(folder), open_log(folder) as log:
        log.describe(encoders=[*encoders, *added], **{ALIASES: alias_entries(aliases)})
        for dataset in sets:
            log.save_rows(dataset, dataset.digest, None, references.folds.get(dataset.digest))
        for result in references.results:
            if result.cell.data in digests and result.cell.encoder not in encoders and result.key not in log.done:
                log.add(result, from_npz(references.predictions[result.key]))
    return [aliases.get(encoder, encoder) for encoder in added]
