"""A checkpoint of a language model of `sonde train` as an encoder: what ``hf:`` makes of it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sonde.encoders.identity import Identity, Spec
from sonde.encoders.schemes import hf
from sonde.errors import UsageError

if TYPE_CHECKING:
    from sonde.networks.folder import Checkpoint, TrainedFolder

CHOSEN = ("epoch", "step")
"""Options that choose a checkpoint."""


def load_language_model(spec: Spec, folder: TrainedFolder, checkpoint: Checkpoint) -> hf.Transformer:
    """The encoder that ``trained:FOLDER?…`` names; with ``random``, of the configuration of this checkpoint."""
    given = dict(spec.options)
    if "backend" in given:
        raise UsageError(f"{spec}: language models are computed by torch; leave backend={given['backend']} out.")
    options = tuple((key, value) for key, value in spec.options if key not in CHOSEN)
    found = hf.load(Spec("hf", str(folder.path / checkpoint.name), None, options))
    name, facts = folder.path.resolve().name, dict(found.identity.facts)
    chosen = None if "random" in given else checkpoint.name
    return replace(found, identity=Identity.of("trained", name, checkpoint=chosen, **facts))
