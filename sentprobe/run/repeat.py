"""A signature → the same cell computed again → whether the score is the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec
import numpy as np

from sentprobe.core.arguments import StringsOrPaths, as_strings, listed_names
from sentprobe.core.folders import scratch_folder
from sentprobe.data.dataset import Dataset
from sentprobe.data.sources import Source, find_sets
from sentprobe.encoders import load, refuse_untrusted
from sentprobe.encoders.store import Store
from sentprobe.errors import RunError, SentProbeError, UsageError
from sentprobe.probes.baselines import BASELINES, PAIR_BASELINES
from sentprobe.results.metric import metric_named
from sentprobe.results.result import Result, Signature
from sentprobe.results.run_kind import RUN_KINDS
from sentprobe.run import Run, evaluate
from sentprobe.run.control import CONTROLS
from sentprobe.run.info import LAYER, base_folders, resolve_source, working_folders
from sentprobe.run.pair_sets import METRICS_OF_TASKS, pair_sets, read_pairs
from sentprobe.run.pairs import evaluate_pairs
from sentprobe.run.variant import ERASED, GIVEN


@dataclass(frozen=True, slots=True)
class Reproduction:
    """A result computed again, with the recorded one if there is one."""

    reproduced: Result
    recorded: Result | None
    changed_rows: int | None
    """Test rows whose prediction differs from the recorded one."""
    notes: tuple[str, ...]
    """What has changed: the identity of the encoder, the version of sentprobe, settings chosen on dev."""

    @property
    def same(self) -> bool:
        """Whether the score and every prediction are the same."""
        if self.recorded is None or self.reproduced.score != self.recorded.score:
            return False
        return not self.changed_rows and (
            self.recorded.cell.variant is None or self.reproduced.scores == self.recorded.scores
        )


def repeat(
    signature: str,
    *,
    run: Run | None = None,
    paths: StringsOrPaths = (),
    store: Store | None = None,
    encoders: StringsOrPaths = (),
) -> Reproduction:
    """Repeat one result by its signature.

    Parameters
    ----------
    signature
        The signature of a result, as ``Result.signature`` or ``sentprobe show --signatures`` gives it.
    run
        The run that holds the result; the new one is compared with it, down to every prediction.
    paths
        Files and folders to look for the dataset in, by its digest; those that ``run`` was read from are searched, too.
    store
        Where to keep vectors between runs; by default they are not kept.
    encoders
        Encoders to trust. A signature may come from somebody else: an encoder that runs code (``py:``) or sends texts
        to a server is used only if it is listed here.

    Returns
    -------
    Reproduction
        The new result, the recorded one, and what has changed.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from sentprobe import evaluate, find_sets
    >>> from sentprobe.run.repeat import repeat
    >>> folder = tempfile.TemporaryDirectory()
    >>> file = pathlib.Path(folder.name) / "parity.txt"
    >>> split = lambda i: "tr" if i < 40 else "va" if i < 60 else "te"
    >>> lines = [f"{split(i)}\\t{'even' if i % 2 == 0 else 'odd'}\\tnumber {i}\\n" for i in range(80)]
    >>> _ = file.write_text("".join(lines))
    >>> run = evaluate("baseline:hash?dim=8", find_sets([file]), f"{folder.name}/run", baselines=[], resample=0)
    >>> repeat(run.results[0].signature, run=run).same
    True
    >>> folder.cleanup()
    """
    paths, encoders = as_strings(paths, "a path"), as_strings(encoders, "an encoder")
    requested = Signature.parse(signature)
    for name in (requested.enc, (requested.variant or "").removeprefix(GIVEN)):
        refuse_untrusted(name, encoders, remote=True)
    recorded = _recorded_result(requested, run) if run is not None else None
    _check_repeatable(requested)
    with scratch_folder() as folder:
        if _task(requested) in METRICS_OF_TASKS:
            new_run = _evaluate_pairs(requested, paths, run, folder / "run", store)
        else:
            new_run = _evaluate(requested, _find_dataset(requested, paths, run), folder / "run", store)
        reproduced = _reproduced_result(requested, new_run)
        changed_rows = None
        if run is not None and recorded is not None and metric_named(recorded.metric).predicts == "classes":
            old, new = (r.predictions(c)["predicted"] for r, c in ((run, recorded), (new_run, reproduced)))
            changed_rows = int((np.asarray(old) != np.asarray(new)).sum())
    notes = _notes(requested, Signature.parse(reproduced.signature))
    return Reproduction(reproduced, recorded, changed_rows, tuple(notes))


def _recorded_result(requested: Signature, run: Run) -> Result:
    """The result of a run that has a signature."""
    for result in (*run.results, *run.extras):
        if result.signature == str(requested):
            return result
    raise UsageError(
        f"{run.folder} has no result with this signature; `sentprobe show {run.folder} --signatures` lists them."
    )


def _check_repeatable(requested: Signature) -> None:
    """UsageError if a result depends on more than its signature says."""
    instead = "run the command of the run again, with another folder."
    task, is_pairs = _task(requested), _task(requested) in METRICS_OF_TASKS
    kind = next((kind for kind in RUN_KINDS.parts().values() if task in kind.set_notes()), None)
    if kind is not None and not is_pairs:
        raise UsageError(f"{requested.data} is of `{kind.command}`, whose results are not repeated alone: {instead}")
    is_baseline = requested.enc in (PAIR_BASELINES if is_pairs else BASELINES)
    if not is_baseline and requested.probe is None and requested.n.startswith("0/"):
        raise UsageError(
            f"{requested.data} is of `sentprobe data xnli zero-shot`, whose results are not repeated alone: {instead}"
        )
    if not is_baseline and getattr(load(requested.enc.partition(LAYER)[0]), "needs_fit", False):
        raise UsageError(
            f"{requested.enc} is fitted on the texts of all sets of a run, so a single result cannot be repeated: "
            f"{instead}"
        )
    if requested.variant is not None and requested.variant.startswith(ERASED):
        raise UsageError(f"A score after erasure depends on another set, so it cannot be repeated alone: {instead}")


def _task(requested: Signature) -> str:
    """The task of a signature, without its version."""
    return requested.task.rpartition(".v")[0]


def _evaluate_pairs(
    requested: Signature, paths: Sequence[str], run: Run | None, folder: Path, store: Store | None
) -> Run:
    """A run with the cell of a signature of pairs, on the set that the rows are a part of."""
    digest = requested.data.rpartition("#")[2]
    entries = [
        entry for entry in (run.info.get("datasets", ()) if run is not None else ()) if entry["digest"] == digest
    ]
    recorded = [path for entry in entries if entry["source"] for path in entry["source"]["paths"]]
    language = next((entry["language"] for entry in entries), None)
    problems: list[str] = []
    for path in (*paths, *recorded):
        try:
            for data, source in read_pairs(path, language):
                if any(pair_set.data == digest for pair_set in pair_sets(data, source)):
                    names = [] if requested.enc in PAIR_BASELINES else [requested.enc.partition(LAYER)[0]]
                    similarity, half = requested.probe or "cosine", requested.kept == "float16"
                    return evaluate_pairs(names, data, folder, similarity=similarity, half=half, store=store)
        except SentProbeError as e:
            problems.append(str(e))
    searched = listed_names([*paths, *recorded])
    where = f"was not found in {searched}" if searched else "was not looked for, since no file was named"
    got = f" ({'; '.join(problems)})" if problems else ""
    raise UsageError(f"The set {requested.data} {where}{got}. Name its file with --data.")


def _evaluate(requested: Signature, dataset: Dataset, folder: Path, store: Store | None) -> Run:
    """A run with the cell of a signature, and what it refers to."""
    try:
        limit = int(requested.limit) if requested.limit else None
        folds = int(requested.folds or 0)
        seed, rows = int(requested.seed), int(requested.n.partition("/")[0])
    except ValueError:
        raise UsageError(
            f"Invalid signature: expected numbers as seed, limit, folds and n, got {requested.seed!r}, "
            f"{requested.limit!r}, {requested.folds!r} and {requested.n!r}."
        ) from None
    is_baseline = requested.enc in BASELINES
    variants = [requested.variant] if requested.variant is not None else []
    return evaluate(
        [] if is_baseline else [requested.enc],
        [dataset],
        folder,
        probes=[requested.probe or "linear"],
        probe_seeds=[seed],
        limit=limit,
        folds=folds,
        store=None if is_baseline else store,
        device=requested.device,
        half=requested.kept == "float16",
        resample=0,
        baselines=[requested.enc] if is_baseline else [],
        controls=[name for name in variants if name in CONTROLS],
        measures=[name for name in variants if name not in CONTROLS],
        measure_rows=max(2, rows),
    )


def _reproduced_result(requested: Signature, run: Run) -> Result:
    """The result of the cell of a signature; RunError if it failed."""
    data = requested.data.rpartition("#")[2]
    facts = (data, requested.enc, requested.layer, requested.variant)
    for result in (*run.results, *run.extras):
        if (result.cell.data, result.cell.encoder, result.cell.layer, result.cell.variant) == facts:
            return result
    why = "; ".join(failure.error for failure in run.failures) or f"there is no layer {requested.layer}"
    raise RunError(f"The result could not be repeated: {why}")


def _notes(recorded: Signature, reproduced: Signature) -> list[str]:
    """What differs between two signatures of the same cell."""
    texts = {
        "id": "the encoder has changed",
        "l2": "another L2 penalty was chosen on dev",
        "hidden": "another number of hidden units was chosen on dev",
        "dropout": "another dropout was chosen on dev",
        "n": "the numbers of rows differ",
        "task": "the task has another version",
        "sentprobe": "the version of sentprobe differs",
    }
    notes = [
        f"{text}: {getattr(recorded, name)} then, {getattr(reproduced, name)} now"
        for name, text in texts.items()
        if getattr(recorded, name) != getattr(reproduced, name)
    ]
    if reproduced.id is None:
        notes.append("the encoder has no identity, so it may have changed")
    return notes


def _find_dataset(requested: Signature, paths: Sequence[str], run: Run | None) -> Dataset:
    """The dataset with the digest of a signature."""
    name, _, digest = requested.data.rpartition("#")
    task = _task(requested)
    recorded = _recorded_sources(run, digest) if run is not None else []
    mismatches: list[str] = []
    for source in (*_find_sources(paths, requested.labels == "merged"), *recorded):
        if source.task != task and source.name != name:
            continue
        try:
            dataset = source.load()
        except SentProbeError as e:
            mismatches.append(f"{source.name} ({e})")
            continue
        if dataset.digest == digest:
            return dataset
        mismatches.append(f"{source.name}#{dataset.digest}")
    searched = listed_names([*paths, *(source.paths[0] for source in recorded)])
    where = f"was not found in {searched}" if searched else "was not looked for, since no folder was named"
    got = f"; got {listed_names(mismatches)}" if mismatches else ""
    raise UsageError(f"The dataset {requested.data} {where}{got}. Name its folder with --data.")


def _recorded_sources(run: Run, digest: str) -> list[Source]:
    """Where a run has read the dataset of this digest, or where it is now if the run was moved with it."""
    entries = [entry["source"] for entry in run.info.get("datasets", ()) if entry["digest"] == digest]
    sources = [msgspec.convert(entry, Source) for entry in entries if entry]
    folders = base_folders(run.folder, run.info)
    return [resolve_source(source, folders, working_folders(run.info)) for source in sources]


def _find_sources(paths: Sequence[str], merge_labels: bool) -> list[Source]:
    """The sets in files and folders; an error only if none of them has any."""
    sources: list[Source] = []
    errors: list[SentProbeError] = []
    for path in paths:
        try:
            sources += find_sets([path], merge_labels=merge_labels)
        except SentProbeError as e:
            errors.append(e)
    if errors and not sources:
        raise errors[0]
    return sources
