"""A signature → the same cell computed again → whether the score is the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec
import numpy as np

from sentprobe.core.arguments import StringsOrPaths, as_strings
from sentprobe.core.folders import scratch_folder
from sentprobe.data.dataset import Dataset
from sentprobe.data.sources import Source, find_sets
from sentprobe.encoders import load, refuse_untrusted
from sentprobe.encoders.store import Store
from sentprobe.errors import RunError, SentProbeError, UsageError
from sentprobe.probes.baselines import BASELINES
from sentprobe.results.result import Result, Signature
from sentprobe.run import Run, evaluate
from sentprobe.run.control import CONTROLS
from sentprobe.run.measure import ERASED, GIVEN
from sentprobe.run.places import PLACES, find_source, places_of

WORD_TASKS = ("word_translation", "word_similarity", "sentence_retrieval", "word_by_word", "translation_closeness")
"""Tasks of `sentprobe words`."""


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
    every = (*run.results, *run.extras) if run is not None else ()
    recorded = next((r for r in every if r.signature == str(requested)), None)
    if run is not None and recorded is None:
        raise UsageError(
            f"{run.folder} has no result with this signature; `sentprobe show {run.folder} --signatures` lists them."
        )
    if requested.task.rpartition(".v")[0] in WORD_TASKS:
        raise UsageError(
            f"{requested.data} is of `sentprobe words`, whose results are not repeated alone: run the command of the "
            "run again, with another folder."
        )
    if requested.enc not in BASELINES and requested.probe is None and requested.n.startswith("0/"):
        raise UsageError(
            f"{requested.data} is of `sentprobe data xnli zero-shot`, whose results are not repeated alone: run the "
            "command of the run again, with another folder."
        )
    if requested.enc not in BASELINES and getattr(load(requested.enc), "needs_fit", False):
        raise UsageError(
            f"{requested.enc} is fitted on the texts of all sets of a run, so a single result cannot be repeated: run "
            "the command of the run again, with another folder."
        )
    if requested.variant is not None and requested.variant.startswith(ERASED):
        raise UsageError(
            "A score after erasure depends on another set, so it cannot be repeated alone: run the command of the run "
            "again, with another folder."
        )
    dataset = _find(requested, paths, run)
    try:
        limit = int(requested.limit) if requested.limit else None
        seed, rows = int(requested.seed), int(requested.n.partition("/")[0])
    except ValueError:
        raise UsageError(
            f"Invalid signature: expected numbers as seed, limit and n, got {requested.seed!r}, {requested.limit!r} "
            f"and {requested.n!r}."
        ) from None
    variants = [requested.variant] if requested.variant is not None else []
    with scratch_folder() as folder:
        learner = requested.enc in BASELINES
        again = evaluate(
            [] if learner else [requested.enc], [dataset], folder / "run", probes=[requested.probe or "linear"],
            seeds=[seed], limit=limit, store=None if learner else store, device=requested.device,
            half=requested.kept == "float16", resample=0, baselines=[requested.enc] if learner else [],
            controls=[v for v in variants if v in CONTROLS],
            measures=[v for v in variants if v not in CONTROLS], measure_rows=max(2, rows),
        )  # fmt: skip
        place = (requested.enc, requested.layer, requested.variant)
        found = (*again.results, *again.extras)
        reproduced = next((r for r in found if (r.cell.encoder, r.cell.layer, r.cell.variant) == place), None)
        if reproduced is None:
            why = "; ".join(f.error for f in again.failures) or f"there is no layer {requested.layer}"
            raise RunError(f"The result could not be repeated: {why}")
        changed_rows = None
        if run is not None and recorded is not None and recorded.metric == "accuracy":
            old, new = (r.predictions(c)["predicted"] for r, c in ((run, recorded), (again, reproduced)))
            changed_rows = int((np.asarray(old) != np.asarray(new)).sum())
    return Reproduction(
        reproduced, recorded, changed_rows, tuple(_notes(requested, Signature.parse(reproduced.signature)))
    )


def _notes(recorded: Signature, reproduced: Signature) -> list[str]:
    what = {
        "id": "the encoder has changed",
        "l2": "another L2 penalty was chosen on dev",
        "hidden": "another number of hidden units was chosen on dev",
        "dropout": "another dropout was chosen on dev",
        "n": "the numbers of rows differ",
        "task": "the task has another version",
        "sentprobe": "the version of sentprobe differs",
    }
    found = [
        f"{text}: {getattr(recorded, name)} then, {getattr(reproduced, name)} now"
        for name, text in what.items()
        if getattr(recorded, name) != getattr(reproduced, name)
    ]
    if reproduced.id is None:
        found.append("the encoder has no identity, so it may have changed")
    return found


def _find(requested: Signature, paths: Sequence[str], run: Run | None) -> Dataset:
    """The dataset with the digest of a signature."""
    name, _, digest = requested.data.rpartition("#")
    task = requested.task.rpartition(".v")[0]
    there = run.info.get("datasets", ()) if run is not None else ()
    known = [msgspec.convert(d["source"], Source) for d in there if d["digest"] == digest and d["source"]]
    if run is not None:
        recorded = [here for here, _ in run.info.get(PLACES, ())]
        known = [find_source(source, places_of(run.folder, run.info), recorded) for source in known]
    others: list[str] = []
    for source in (*_sources(paths, requested.labels == "merged"), *known):
        if source.task != task and source.name != name:
            continue
        try:
            found = source.load()
        except SentProbeError as e:
            others.append(f"{source.name} ({e})")
            continue
        if found.digest == digest:
            return found
        others.append(f"{source.name}#{found.digest}")
    looked = ", ".join([*paths, *(source.paths[0] for source in known)]) or "no folder"
    raise UsageError(
        f"The dataset {requested.data} was not found in {looked}{'; got ' if others else ''}{', '.join(others)}. "
        "Name its folder with --data."
    )


def _sources(paths: Sequence[str], merge_labels: bool) -> list[Source]:
    found: list[Source] = []
    problems: list[SentProbeError] = []
    for path in paths:
        try:
            found += find_sets([path], merge_labels=merge_labels)
        except SentProbeError as e:
            problems.append(e)
    if problems and not found:
        raise problems[0]
    return found
