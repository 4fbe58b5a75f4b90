"""A signature → the same cell again → whether the number came out the same."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass

import msgspec
import numpy as np

from sonde import __version__
from sonde.baselines import BASELINES
from sonde.core.arguments import StringsOrPaths, as_strings
from sonde.data.dataset import Dataset
from sonde.data.sources import Source, find_sets
from sonde.encoders import load, refuse_untrusted
from sonde.encoders.store import Store
from sonde.errors import RunError, SondeError, UsageError
from sonde.result import Result, Signature
from sonde.run import Run, evaluate
from sonde.run.control import CONTROLS
from sonde.run.measure import ERASED, GIVEN


@dataclass(frozen=True, slots=True)
class Reproduction:
    """A result made again, beside the one on record if there is one."""

    reproduced: Result
    recorded: Result | None
    changed_rows: int | None
    """Test rows that are labelled otherwise than on record."""
    notes: tuple[str, ...]
    """What is not as it was: the encoder's identity, the version, what dev chose."""

    @property
    def same(self) -> bool:
        """Whether the number is the same, and so is every label."""
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
    """Do one cell again; the set is looked for by its digest, in ``paths`` and where the run's sets were read from.

    A signature may come from somebody else: an encoder that is a program (``py:``), or that sends texts to a server, is
    used only if it is among ``encoders``.
    """
    paths, encoders = as_strings(paths, "a path"), as_strings(encoders, "an encoder")
    said = Signature.parse(signature)
    for name in (said.enc, (said.variant or "").removeprefix(GIVEN)):
        refuse_untrusted(name, encoders, remote=True)
    every = (*run.results, *run.extras) if run is not None else ()
    recorded = next((r for r in every if r.signature == str(said)), None)
    if run is not None and recorded is None:
        raise UsageError(
            f"{run.folder} has no result with this signature; `sonde show {run.folder} --signatures` lists them."
        )
    if said.enc not in BASELINES and getattr(load(said.enc), "needs_fit", False):
        raise UsageError(
            f"{said.enc} is fitted on the texts of all sets of a run, so that one number of it cannot be had alone: "
            "give the command of the run again, with another folder."
        )
    if said.variant is not None and said.variant.startswith(ERASED):
        raise UsageError(
            "What is left after an erasure depends on another set, so that it cannot be had alone: give the command of "
            "the run again, with another folder."
        )
    dataset = _find(said, paths, run)
    try:
        limit = int(said.limit) if said.limit else None
        seed = int(said.seed)
    except ValueError:
        raise UsageError(
            f"This signature has the seed {said.seed!r} and the limit {said.limit!r}; expected numbers."
        ) from None
    variants = [said.variant] if said.variant is not None else []
    with tempfile.TemporaryDirectory() as folder:
        learner = said.enc in BASELINES
        again = evaluate(
            [] if learner else [said.enc], [dataset], folder, probes=[said.probe or "linear"], seeds=[seed],
            limit=limit, store=store, device=said.device, half=said.kept == "float16",
            resample=0, baselines=[said.enc] if learner else [], controls=[v for v in variants if v in CONTROLS],
            measures=[v for v in variants if v not in CONTROLS],
        )  # fmt: skip
        wanted = (said.enc, said.layer, said.variant)
        found = (*again.results, *again.extras)
        reproduced = next((r for r in found if (r.cell.encoder, r.cell.layer, r.cell.variant) == wanted), None)
        if reproduced is None:
            why = "; ".join(f.error for f in again.failures) or f"there is no layer {said.layer}"
            raise RunError(f"The cell could not be done again: {why}")
        changed_rows = None
        if run is not None and recorded is not None and recorded.metric == "accuracy":
            old, new = (r.predictions(c)["predicted"] for r, c in ((run, recorded), (again, reproduced)))
            changed_rows = int((np.asarray(old) != np.asarray(new)).sum())
    return Reproduction(reproduced, recorded, changed_rows, tuple(_notes(said, Signature.parse(reproduced.signature))))


def _notes(recorded: Signature, reproduced: Signature) -> list[str]:
    what = {
        "id": "the encoder is not what it was",
        "l2": "dev chose another L2",
        "hidden": "dev chose another number of hidden units",
        "dropout": "dev chose another dropout",
        "n": "other numbers of rows were used",
        "task": "the task has another version",
        "sonde": f"the signature is of another version of sonde than {__version__}",
    }
    found = [
        f"{text}: {getattr(recorded, name)} then, {getattr(reproduced, name)} now"
        for name, text in what.items()
        if getattr(recorded, name) != getattr(reproduced, name)
    ]
    if reproduced.id is None:
        found.append("the encoder does not say what it is, so that it may be another one")
    return found


def _find(said: Signature, paths: Sequence[str], run: Run | None) -> Dataset:
    """The set with the digest of a signature."""
    name, _, digest = said.data.rpartition("#")
    task = said.task.rpartition(".v")[0]
    there = run.info.get("datasets", ()) if run is not None else ()
    known = [msgspec.convert(d["source"], Source) for d in there if d["digest"] == digest and d["source"]]
    met: list[str] = []
    for source in (*_sources(paths), *known):
        if source.task != task and source.name != name:
            continue
        try:
            found = source.load()
        except SondeError as e:
            met.append(f"{source.name} ({e})")
            continue
        if found.digest == digest:
            return found
        met.append(f"{source.name}#{found.digest}")
    looked = ", ".join([*paths, *(source.paths[0] for source in known)]) or "no folder"
    raise UsageError(
        f"The set {said.data} was not found in {looked}{'; met ' if met else ''}{', '.join(met)}. "
        "Name the folder of the set with --data."
    )


def _sources(paths: Sequence[str]) -> list[Source]:
    found: list[Source] = []
    problems: list[SondeError] = []
    for path in paths:
        try:
            found += find_sets([path])
        except SondeError as e:
            problems.append(e)
    if problems and not found:
        raise problems[0]
    return found
