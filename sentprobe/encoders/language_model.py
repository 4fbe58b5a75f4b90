"""A checkpoint of a language model of `sentprobe train` as an encoder: what ``hf:`` makes of it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sentprobe.encoders.identity import Identity, Spec
from sentprobe.encoders.schemes import hf
from sentprobe.errors import UsageError

if TYPE_CHECKING:
    from sentprobe.networks.folder import Checkpoint, TrainedFolder

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
    if "random" not in given:
        return replace(found, identity=Identity.of("trained", name, checkpoint=checkpoint.name, **facts))
    facts["drawn_by"] = _draw(found.model, int(given["random"]))
    return replace(found, identity=Identity.of("trained", name, **facts))


def _draw(model: Any, seed: int) -> str:
    """Give a model the random weights that training would begin with, since `transformers` draws others; by what."""
    import torch

    from sentprobe.networks.xlm import XLM, Sizes

    config = model.config
    sizes = Sizes(
        config.vocab_size, config.n_langs if hasattr(model, "lang_embeddings") else 0, config.emb_dim, config.n_layers,
        config.n_heads, config.max_position_embeddings, config.dropout, config.pad_token_id,
    )  # fmt: skip
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model.load_state_dict(XLM(sizes).state_dict())
    return f"torch {torch.__version__}"
