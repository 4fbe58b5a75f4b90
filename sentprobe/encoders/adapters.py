"""Adapters of PEFT, such as LoRA: weights that change a model, in a folder of their own that names the model.

An adapter is read as PEFT reads it, and its model as `hf:` or `st:` does. Of both the content is part of the identity.
"""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

from sentprobe.core.third_party import summarise_error
from sentprobe.encoders import hub
from sentprobe.encoders.identity import Spec
from sentprobe.errors import EncoderError, UsageError

CONFIG = "adapter_config.json"
"""The file that makes a folder one of an adapter."""


def locate_base(spec: Spec, location: hub.ModelLocation) -> hub.ModelLocation | None:
    """Where the model is that an adapter changes; None if the folder is not one of an adapter."""
    requested = dict(spec.options).get("base")
    if not (location.folder / CONFIG).is_file():
        if requested is not None:
            raise UsageError(f"{spec} has base={requested}, which is for adapters; this is a model. Leave it out.")
        return None
    hub.require("peft")
    config = _read(spec, location.folder)
    name, revision = requested or config.get("base_model_name_or_path"), config.get("revision")
    if not isinstance(name, str) or not name:
        raise EncoderError(f"{spec} is an adapter that names no model: add base=, a name or folder.")
    named = Spec(spec.scheme, name, revision if requested is None and isinstance(revision, str) else None)
    if requested is not None and not Path(requested).expanduser().is_dir():
        named = Spec.parse(f"{spec.scheme}:{requested}")
    try:
        return hub.locate(named, "config.json")
    except UsageError as e:
        raise UsageError(f"{spec} is an adapter of {name}. {e} Add base=, the name or folder of that model.") from e


def model_class(folder: Path, plain: Any) -> Any:
    """The class of transformers with which an adapter was trained: its weights are named after it."""
    transformers = hub.import_optional("transformers")
    task = json.loads((folder / CONFIG).read_bytes()).get("task_type")
    return transformers.AutoModelForCausalLM if task == "CAUSAL_LM" else plain


def apply(spec: Spec, model: Any, folder: Path) -> Any:
    """The model with the adapter, without a head; EncoderError if weights of the adapter do not fit it."""
    peft = hub.import_optional("peft")
    with hub.loading(spec), warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # of peft, about names in transformers
        config = peft.PeftConfig.from_pretrained(str(folder))
        if config.is_prompt_learning:
            raise ValueError(f"{config.peft_type.value} changes inputs and not weights")
        config.inference_mode, config.base_model_name_or_path = True, model.name_or_path
        changed = peft.get_peft_model(model, config)
        weights = peft.load_peft_weights(str(folder), device="cpu")
        outcome = peft.set_peft_model_state_dict(changed, weights)
    if unexpected := sorted(outcome.unexpected_keys):
        raise EncoderError(
            f"{spec}: {len(unexpected)} of {len(weights)} weights of the adapter do not fit its model, such as "
            f"{unexpected[0]}. Was it trained on another model?"
        )
    inner = changed.get_base_model()
    return getattr(inner, inner.base_model_prefix, inner)


def _read(spec: Spec, folder: Path) -> dict[str, Any]:
    try:
        config = json.loads((folder / CONFIG).read_bytes())
    except (OSError, ValueError) as e:
        raise EncoderError(f"{spec}: {CONFIG} cannot be read: {summarise_error(e)}.") from e
    return config if isinstance(config, dict) else {}
