"""Any model of the sentence-transformers library, encoded by its own method.

    st:NAME_OR_FOLDER[@revision][?normalize=…&prompt=…&max=…&dtype=…&device=…]

A name without an owner is one of sentence-transformers' own: ``st:all-MiniLM-L6-v2``. A model without the modules of
that library is rejected, since the library would silently add mean pooling; with ``hf:`` the pooling is explicit.
Code that comes with a model is never run.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sentprobe.core.arguments import as_texts
from sentprobe.core.third_party import summarise_error
from sentprobe.core.words import replace_surrogates
from sentprobe.encoders import hub
from sentprobe.encoders.encoder import short_repr
from sentprobe.encoders.identity import Identity, Spec
from sentprobe.encoders.languages import card_languages, unknown_pieces
from sentprobe.encoders.transformer import count_tokens, input_embeddings, resolve_max_length
from sentprobe.errors import EncoderError, UsageError

if TYPE_CHECKING:
    from sentprobe.encoders.transformer import FloatArray

named_file = attrgetter("folder")
OPTIONS = {
    "normalize": "false (default) or true: whether vectors are scaled to length 1",
    "prompt": "a text that is put before every text (default: the model's own default prompt, if it has one)",
    "max": "maximum length in tokens, special ones included; longer texts are truncated (default: the model's limit)",
    "dtype": "float32 (default, whatever the dtype of the weights), float16, bfloat16; vectors are always float32",
    "device": "cuda if available (default), else cpu; or cuda:1, mps, …",
}
"""What may follow the question mark."""


@dataclass(frozen=True, eq=False, repr=False)
class SentenceEncoder:
    """A sentence-transformers model as an encoder (n, d)."""

    identity: Identity
    model: Any
    normalize: bool
    prompt: str
    width: int
    cost: Callable[[Sequence[str]], list[int]] | None
    """The number of tokens of each text after truncation; None for a model without a transformer."""
    words: Callable[[Sequence[str]], FloatArray] | None
    """The mean of the input embeddings of each word's subwords (words, d); None for a model without a transformer."""
    batch_size: int = 64
    languages: tuple[str, ...] = ()
    """Those of the model card."""

    def __repr__(self) -> str:
        return short_repr(self, f"st:{self.identity.name}", f"{self.width} dimensions")

    def __call__(self, texts: Sequence[str], /) -> FloatArray:
        """One vector per text."""
        texts = as_texts(texts)
        np = hub.import_optional("numpy")
        output = self.model.encode(
            [replace_surrogates(text) for text in texts],
            prompt=self.prompt,
            batch_size=self.batch_size,
            normalize_embeddings=self.normalize,
            convert_to_numpy=True,
            show_progress_bar=False,
        )
        vectors: FloatArray = np.asarray(output, dtype=np.float32)
        return vectors if len(texts) else vectors.reshape(0, self.width)

    def unknown_share(self, texts: Sequence[str], /) -> float:
        """The share of the pieces of texts that the tokenizer does not know; 0 for a model without a transformer."""
        return unknown_pieces(self.model.tokenizer, as_texts(texts)) if self.cost is not None else 0.0


def load(spec: Spec) -> SentenceEncoder:
    """The encoder that ``st:NAME_OR_FOLDER…`` names."""
    options = spec.check_options(OPTIONS)
    normalize = spec.choice("normalize", ("false", "true")) == "true"
    dtype = spec.choice("dtype", hub.MODEL_DTYPES)
    limit = spec.integer("max")
    hub.require("sentence_transformers", "torch", "huggingface_hub")
    location = hub.locate(spec, "modules.json", recursive=True, owner="sentence-transformers/")
    library, torch = hub.import_optional("sentence_transformers"), hub.import_optional("torch")
    device = hub.find_device(spec, options.get("device"))
    if [*location.folder.rglob("adapter_config.json")]:
        raise EncoderError(
            f"{spec} has an adapter; merge it into its model, save that, and use the folder of the result."
        )
    with hub.loading(spec):
        _check_dense(location.folder)
        model = library.SentenceTransformer(
            str(location.folder),
            device=str(device),
            trust_remote_code=False,
            local_files_only=True,
            model_kwargs={"dtype": getattr(torch, dtype)},
        )
    hub.check_unchanged(spec, location)
    inner = model.transformers_model
    if inner is None and (not_applicable := {"dtype", "max"} & set(options)):
        raise UsageError(
            f"{spec} has {min(not_applicable)}=…, which is for models with a transformer; this one has none."
        )
    if inner is not None:
        hub.check_vocabulary(spec, model.tokenizer, location.folder)
    if limit is not None:
        model.max_seq_length = resolve_max_length(spec, model.tokenizer, inner, limit)
    prompt = options.get("prompt", model.prompts.get(model.default_prompt_name) or "")
    identity = Identity.of(
        "st",
        location.name,
        revision=location.revision,
        normalize=str(normalize).lower(),
        prompt=prompt or None,
        max=None if inner is None else model.max_seq_length,
        dtype=None if inner is None else dtype,
    )
    cost = words = None
    if inner is not None:
        cost = partial(count_tokens, model.tokenizer, max_length=model.max_seq_length, prompt=prompt)
        words = partial(input_embeddings, model.tokenizer, inner.get_input_embeddings())
    try:
        (_, width) = model.encode(["a"], convert_to_numpy=True, show_progress_bar=False).shape
    except Exception as why:
        raise EncoderError(f"{spec} does not return one vector per text: {summarise_error(why)}.") from why
    languages = card_languages(location.folder)
    return SentenceEncoder(identity, model, normalize, prompt, width, cost, words, languages=languages)


def _check_dense(folder: Path) -> None:
    """Reject an activation that is not torch's: the library would replace it and only log that."""
    for module in json.loads((folder / "modules.json").read_bytes()):
        if module["type"].endswith(".Dense"):
            config = json.loads((folder / module["path"] / "config.json").read_bytes())
            if not config.get("activation_function", "torch.").startswith("torch."):
                raise ValueError(f"{config['activation_function']} needs trust_remote_code")
