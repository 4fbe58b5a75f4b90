"""Any model of the sentence-transformers library, through its own encode.

    st:NAME_OR_FOLDER[@revision][?normalize=…&prompt=…&max=…&dtype=…&device=…]

A name without an owner is one of sentence-transformers' own: ``st:all-MiniLM-L6-v2``. A model without modules of that
library is refused, for the library would pool it by a mean of its own accord; ``hf:`` says how. Code that comes with a
model is never run.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sonde.core.arguments import as_texts
from sonde.encoders import hub
from sonde.encoders.identity import Identity, Spec
from sonde.encoders.schemes import hf
from sonde.errors import EncoderError, UsageError

if TYPE_CHECKING:
    from sonde.encoders.schemes.hf import Vectors

OPTIONS = {
    "normalize": "false (default) or true: whether vectors are scaled to length 1",
    "prompt": "a text put before every text (default: the model's own default, if it has one)",
    "max": "longest text in tokens, special ones included; the rest is cut off (default: what the model says)",
    "dtype": "float32 (default, whatever the weights are kept in), float16, bfloat16; vectors are float32 in any case",
    "device": "cuda where there is one (default), cpu, cuda:1, mps, …",
}
"""What may stand after the question mark."""


@dataclass(frozen=True, eq=False)
class SentenceEncoder:
    """A sentence-transformers model as an encoder (n, d)."""

    identity: Identity
    model: Any
    normalize: bool
    prompt: str
    width: int
    cost: Callable[[Sequence[str]], list[int]] | None
    """How many tokens each text has once it is cut off; None for a model without a transformer."""
    words: Callable[[Sequence[str]], Vectors] | None
    """The mean of the input embeddings of each word's sub-tokens (words, d); None for a model without a transformer."""
    batch: int = 64

    def __call__(self, texts: Sequence[str], /) -> Vectors:
        """One vector per text."""
        texts = as_texts(texts)
        np = hub.import_optional("numpy")
        found = self.model.encode(
            [hf.replace_surrogates(text) for text in texts],
            prompt=self.prompt,
            batch_size=self.batch,
            normalize_embeddings=self.normalize,
            convert_to_numpy=True,
            show_progress_bar=False,
        )
        vectors: Vectors = np.asarray(found, dtype=np.float32)
        return vectors if len(texts) else vectors.reshape(0, self.width)


def load(spec: Spec) -> SentenceEncoder:
    """The encoder that ``st:NAME_OR_FOLDER…`` names."""
    given = spec.known(OPTIONS)
    normalize = hub.choice_option(spec, given, "normalize", ("false", "true")) == "true"
    dtype = hub.choice_option(spec, given, "dtype", hub.MODEL_DTYPES)
    limit = hub.positive_option(spec, given, "max")
    library, torch = hub.import_optional("sentence_transformers"), hub.import_optional("torch")
    device = hub.find_device(spec, given.get("device"))
    found = hub.locate(spec, "modules.json", recursive=True, owner="sentence-transformers/")
    if [*found.folder.rglob("adapter_config.json")]:
        raise EncoderError(f"{spec} has an adapter; merge it into its model, save that, and give that folder.")
    with hub.loading(spec):
        _check_dense(found.folder)
        model = library.SentenceTransformer(
            str(found.folder),
            device=str(device),
            trust_remote_code=False,
            local_files_only=True,
            model_kwargs={"dtype": getattr(torch, dtype)},
        )
    hub.check_unchanged(spec, found)
    inner = model.transformers_model
    if inner is None and (more := {"dtype", "max"} & set(given)):
        raise UsageError(f"{spec} has {min(more)}=…, which is for models with a transformer; this one has none.")
    if inner is not None:
        hub.check_vocabulary(spec, model.tokenizer, found.folder)
    if limit is not None:
        model.max_seq_length = hf.resolve_max_length(spec, model.tokenizer, inner, limit)
    prompt = given.get("prompt", model.prompts.get(model.default_prompt_name) or "")
    identity = Identity.of(
        "st",
        found.name,
        revision=found.revision,
        normalize=str(normalize).lower(),
        prompt=prompt or None,
        max=None if inner is None else model.max_seq_length,
        dtype=None if inner is None else dtype,
    )
    cost = words = None
    if inner is not None:
        cost = partial(hf.count_tokens, model.tokenizer, max_length=model.max_seq_length, prompt=prompt)
        words = partial(hf.input_embeddings, model.tokenizer, inner.get_input_embeddings())
    try:
        (_, width) = model.encode(["a"], convert_to_numpy=True, show_progress_bar=False).shape
    except Exception as why:
        raise EncoderError(f"{spec} does not give one vector per text: {hub.summarise_error(why)}.") from why
    return SentenceEncoder(identity, model, normalize, prompt, width, cost, words)


def _check_dense(folder: Path) -> None:
    """Refuse an activation that is not torch's: the library would put another in its place and only log it."""
    for module in json.loads((folder / "modules.json").read_bytes()):
        if module["type"].endswith(".Dense"):
            config = json.loads((folder / module["path"] / "config.json").read_bytes())
            if not config.get("activation_function", "torch.").startswith("torch."):
                raise ValueError(f"{config['activation_function']} needs trust_remote_code")
