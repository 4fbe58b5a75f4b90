"""How well encoders do what they were trained for, kept under ``training`` in run.json."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import msgspec

from sentprobe.encoders import TrainingScore
from sentprobe.errors import RunError
from sentprobe.results.records import INFO
from sentprobe.results.run import Run

if TYPE_CHECKING:
    from sentprobe.results.log import Log

TRAINING_KEY = "training"


class _Kept(msgspec.Struct, frozen=True):
    name: str
    """The encoder."""
    identity: str | None
    metric: str
    value: float
    maximise: bool
    digest: str
    """Of all fields, by which joined runs tell two of them apart."""


def write_training_score(log: Log, name: str, identity: str | None, score: TrainingScore | None) -> None:
    """Keep the training score of an encoder, if it has one."""
    if score is None:
        return
    facts = (name, identity, score.metric, score.value, score.maximise)
    digest = hashlib.blake2b(repr(facts).encode(errors="backslashreplace"), digest_size=8).hexdigest()
    log.describe(**{TRAINING_KEY: [msgspec.to_builtins(_Kept(*facts, digest))]})


def read_training_scores(run: Run) -> dict[tuple[str, str | None], TrainingScore]:
    """Training scores by the name and identity of the encoder; the last one counts."""
    try:
        written = msgspec.convert(run.info.get(TRAINING_KEY, []), list[_Kept])
    except msgspec.ValidationError as e:
        raise RunError(
            f"{run.folder / INFO} cannot be read: {TRAINING_KEY}: {e}. It was edited; choose a new folder."
        ) from e
    return {(kept.name, kept.identity): TrainingScore(kept.metric, kept.value, kept.maximise) for kept in written}
