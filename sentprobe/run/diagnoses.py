"""Symptoms of broken encoders, kept under ``diagnoses`` in run.json; the last entry of an encoder counts."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from sentprobe.core.files import write_atomically
from sentprobe.encoders.diagnosis import REENCODING_CODES, Symptom, diagnose
from sentprobe.errors import DataError, RunError
from sentprobe.results.records import INFO
from sentprobe.results.run import Run

if TYPE_CHECKING:
    from sentprobe.data.splits import Splits
    from sentprobe.encoders.embed import Embeddings
    from sentprobe.encoders.store import Store
    from sentprobe.results.log import Log

DIAGNOSES_KEY = "diagnoses"


class Diagnosis(msgspec.Struct, frozen=True):
    """The symptoms of one encoder."""

    name: str
    identity: str | None
    number: int
    """How many diagnoses were written before this one."""
    symptoms: list[Symptom]
    digest: str
    """Of all fields, by which joined runs tell two diagnoses apart."""


def write_diagnosis(
    log: Log, store: Store | None, name: str, identity: str | None, encoder: Any, found: Embeddings,
    sets: Sequence[Splits], *, half: bool,
) -> None:  # fmt: skip
    """Diagnose an encoder by its vectors, once; again only if it has no identity, as it may have changed."""
    before = _last(log.folder, log.info).get((name, identity))
    if before is not None and identity is not None:
        return
    # sentences only: other inputs are mostly single words
    texts = (text for parts in sets for part in (parts.train, parts.dev, parts.test) for text in part.texts)
    kept = _Kept(store, identity)
    calls = None if found.encoded else kept.read()
    symptoms = diagnose(encoder, found, texts, half=half, call_symptoms=calls)
    if calls is None:
        kept.write(symptoms)
    if before is not None and before.symptoms == symptoms:
        return
    number = len(log.info.get(DIAGNOSES_KEY, ()))
    digest = _digest(f"{name} {identity} {number} {symptoms}")
    log.describe(**{DIAGNOSES_KEY: [msgspec.to_builtins(Diagnosis(name, identity, number, symptoms, digest))]})


@dataclass(frozen=True)
class _Kept:
    """Symptoms found by encoding texts again, kept with the vectors, for runs that only read these."""

    store: Store | None
    identity: str | None

    @property
    def path(self) -> Path | None:
        """The file."""
        if self.store is None or self.identity is None:
            return None
        # the folder name of the store
        return self.store.root / hashlib.blake2b(self.identity.encode(), digest_size=16).hexdigest() / "symptoms.json"

    def read(self) -> list[Symptom] | None:
        """The symptoms; None if there are none, or if the file is damaged."""
        if self.path is None:
            return None
        try:
            content = msgspec.json.decode(self.path.read_bytes(), type=dict[str, str])
            if content["digest"] != _digest(content["symptoms"]):
                return None
            return msgspec.json.decode(content["symptoms"], type=list[Symptom])
        except (OSError, KeyError, ValueError, msgspec.MsgspecError):
            return None

    def write(self, symptoms: Sequence[Symptom]) -> None:
        """Save the symptoms that need calls; a store that is not writable has already been reported."""
        if self.path is not None and self.path.parents[1].is_dir():
            encoded = msgspec.json.encode(
                [symptom for symptom in symptoms if symptom.code in REENCODING_CODES]
            ).decode()
            with suppress(OSError, DataError):
                self.path.parent.mkdir(exist_ok=True)
                write_atomically(self.path, msgspec.json.encode({"symptoms": encoded, "digest": _digest(encoded)}))


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode(errors="backslashreplace"), digest_size=8).hexdigest()


def read_diagnoses(run: Run) -> list[Diagnosis]:
    """The diagnosis of each encoder that has results, in their order."""
    last = _last(run.folder, run.info)
    shown = dict.fromkeys((result.cell.encoder, result.cell.identity) for result in run.results)
    return [last[each] for each in shown if each in last]


def _last(folder: Path, info: Mapping[str, Any]) -> dict[tuple[str, str | None], Diagnosis]:
    try:
        written = msgspec.convert(info.get(DIAGNOSES_KEY, []), list[Diagnosis])
    except msgspec.ValidationError as e:
        raise RunError(
            f"{folder / INFO} cannot be read: {DIAGNOSES_KEY}: {e}. It was edited; choose a new folder."
        ) from e
    return {(found.name, found.identity): found for found in written}
