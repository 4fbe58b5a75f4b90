"""Any encoder or decoder of the transformers library; all layers from one forward pass.

    hf:NAME_OR_FOLDER[@revision][?layer=…&pool=…&special=…&max=…&prompt=…&lang=…&random=…&dtype=…&device=…
        &base=…&trust_remote_code=…]

Layer 0 is the output of the embeddings, layer 1 that of the first block, and so on. Of an encoder-decoder, such as T5,
the encoder is used. Texts are padded on the right whatever the tokenizer says: then neither absolute positions nor
causal attention see the padding, and a text has the same vector in any batch. A text without tokens (the empty one, for
most decoders) is encoded as the one token that begins or ends a text.

Models such as XLM add a vector of the language to that of each token: ``lang=fr`` names it.

With ``random=SEED`` the model is untrained: its configuration and tokenizer are read, its weights are initialised at
random as before training. The same seed gives the same weights with the same versions of torch and transformers.

The folder may be one of a PEFT adapter, such as LoRA; the model that it changes is part of the identity.

Code that comes with a model is run with ``trust_remote_code=true`` only, and is part of the identity. Weights are read
from safetensors if there are any; a model that has only ``pytorch_model.bin`` is read by torch's restricted unpickler
(``weights_only``), which builds tensors and nothing else.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from sentprobe.core.arguments import as_texts
from sentprobe.core.third_party import summarise_error
from sentprobe.core.words import replace_surrogates
from sentprobe.encoders import adapters, hub
from sentprobe.encoders.encoder import short_repr
from sentprobe.encoders.identity import Identity, Spec
from sentprobe.encoders.languages import card_languages, unknown_pieces
from sentprobe.encoders.transformer import (
    count_tokens,
    first_special_token_id,
    input_embeddings,
    parse_layers,
    pool,
    resolve_max_length,
    spans,
)
from sentprobe.errors import EncoderError, SentProbeWarning, UsageError

if TYPE_CHECKING:
    from sentprobe.encoders.transformer import FloatArray

named_file = attrgetter("folder")
OPTIONS = {
    "layer": "a number (-1, the last, is the default), a range 0..12, a list 0,6,12, or * for all",
    "pool": "mean (default), max, cls (first token), last (last token), weightedmean (token i has the weight i, for "
    "decoders), first-last (mean of layers 1 and last)",
    "special": "keep (default) or drop: whether means and maxima include the special tokens that the tokenizer adds",
    "max": "maximum length in tokens, special ones included; longer texts are truncated (default: the model's limit)",
    "prompt": "a text that is put before every text; its tokens are pooled like any others",
    "lang": "the language of the texts, for models that have learned vectors of languages, such as XLM",
    "random": "a seed, 0 or more: weights are initialised at random instead of read, as before training",
    "dtype": "float32 (default, whatever the dtype of the weights), float16, bfloat16; vectors are always float32",
    "device": "cuda if available (default), else cpu; or cuda:1, mps, …; auto: spread over all devices by accelerate",
    "base": "the model that a PEFT adapter changes, by name or folder (default: the one that the adapter names)",
    "trust_remote_code": "true: run the code that comes with the model; read it first",
}
"""What may follow the question mark."""

RANDOM_INIT_PACKAGES = ("torch", "transformers")
"""Packages on which random weights depend."""
ONE_TOKEN = ("cls", "last")
"""Poolings that take the state of one token."""
POOLINGS = ("mean", "max", "cls", "last", "weightedmean", "first-last")


class TokenisedText(NamedTuple):
    """One text as a model reads it."""

    ids: list[int]
    token_type_ids: list[int]
    """Segment numbers, for models that have segments."""
    special_tokens_mask: list[int]
    """1 for each special token that the tokenizer added."""


@dataclass(frozen=True, eq=False, repr=False)
class Transformer:
    """A transformers model as an encoder: (n, d) for one layer, (layers, n, d) for several."""

    identity: Identity
    layers: tuple[str, ...] | None
    """Names of the layers if there are several, else None."""
    model: Any
    tokenizer: Any
    layer_indices: tuple[int, ...]
    """The hidden states that are pooled, by number."""
    pool: str
    special: str
    max: int
    prompt: str
    width: int
    language: int | None = None
    """The number of the language of all texts, for models that have vectors of languages."""
    batch_size: int = 64
    languages: tuple[str, ...] = ()
    """Those of the model card."""

    def __repr__(self) -> str:
        layers = ", ".join(map(str, self.layer_indices))
        return short_repr(self, f"hf:{self.identity.name}", f"layer {layers}", f"{self.width} dimensions")

    def __call__(self, texts: Sequence[str], /) -> FloatArray:
        """One vector per text and layer."""
        texts = as_texts(texts)
        torch = hub.import_optional("torch")
        rows = self.tokens(texts)
        parts = [self._encode(torch, rows[span]) for span in spans([len(row.ids) for row in rows])]
        vectors: FloatArray = torch.cat(parts or [torch.zeros(len(self.layer_indices), 0, self.width)], dim=1).numpy()
        if self.pool == "first-last":
            vectors = vectors.mean(0, keepdims=True)
        return vectors if self.layers else vectors[0]

    def cost(self, texts: Sequence[str], /) -> list[int]:
        """The number of tokens of each text after truncation, which is what it costs to encode."""
        texts = as_texts(texts)
        return count_tokens(self.tokenizer, texts, max_length=self.max, prompt=self.prompt)

    def unknown_share(self, texts: Sequence[str], /) -> float:
        """The share of the pieces of texts that the tokenizer does not know."""
        return unknown_pieces(self.tokenizer, as_texts(texts))

    def words(self, words: Sequence[str], /) -> FloatArray:
        """The mean of the input embeddings of each word's subwords (words, d); zeros for a word without any."""
        words = as_texts(words)
        return input_embeddings(self.tokenizer, self.model.get_input_embeddings(), words)

    def tokens(self, texts: Sequence[str]) -> list[TokenisedText]:
        """The texts as the model reads them, truncated."""
        texts = as_texts(texts)
        if not texts:
            return []
        prompted = [self.prompt + replace_surrogates(text) for text in texts]
        options = {"truncation": True, "max_length": self.max, "return_special_tokens_mask": True, "verbose": False}
        got = self.tokenizer(prompted, **options)
        ids = got["input_ids"]
        token_type_ids = got.get("token_type_ids") or [[0] * len(row) for row in ids]
        blank = TokenisedText([first_special_token_id(self.tokenizer, "bos", "cls", "eos", "pad")], [0], [0])
        return [
            TokenisedText(*row) if row[0] else blank
            for row in zip(ids, token_type_ids, got["special_tokens_mask"], strict=True)
        ]

    def _encode(self, torch: Any, rows: Sequence[TokenisedText]) -> Any:
        """The pooled hidden states (layers, n, d), on the CPU."""
        device, length = self.model.device, max(len(row.ids) for row in rows)

        def square(column: Iterable[list[int]], fill: int) -> Any:
            return torch.tensor([cells + [fill] * (length - len(cells)) for cells in column], device=device)

        mask = square(([1] * len(row.ids) for row in rows), 0)
        # without a padding token any other will do, since it is masked
        inputs = {
            "input_ids": square((row.ids for row in rows), first_special_token_id(self.tokenizer, "pad", "eos")),
            "attention_mask": mask,
        }
        if "token_type_ids" in self.tokenizer.model_input_names:
            inputs["token_type_ids"] = square((row.token_type_ids for row in rows), self.tokenizer.pad_token_type_id)
        if self.language is not None:
            inputs["langs"] = torch.full_like(mask, self.language)
        if self.special == "drop":
            is_text = square((row.special_tokens_mask for row in rows), 1) == 0
            mask = torch.where(is_text.any(1, keepdim=True), is_text, mask > 0)
        with torch.inference_mode():
            hidden = self.model(**inputs, output_hidden_states=True).hidden_states
            how = "mean" if self.pool == "first-last" else self.pool
            return torch.stack([pool(torch, hidden[i].float(), mask > 0, how) for i in self.layer_indices]).cpu()


def load(spec: Spec) -> Transformer:
    """The encoder that ``hf:NAME_OR_FOLDER…`` names."""
    options = spec.check_options(OPTIONS)
    dtype = spec.choice("dtype", hub.MODEL_DTYPES)
    trusted = hub.trusts_code(spec)
    seed = options.get("random")
    if seed is not None and not re.fullmatch(r"\d{1,9}", seed, re.ASCII):
        raise UsageError(f"{spec} has random={seed}; expected {OPTIONS['random']}.")
    _check_pooling(spec)
    hub.require("torch", "transformers", "huggingface_hub")
    location = hub.locate(spec, "config.json", adapters.CONFIG)
    base = adapters.locate_base(spec, location)
    if base is not None and seed is not None:
        raise UsageError(f"{spec} has random=…, and is an adapter; use the name of its model, without the adapter.")
    torch = hub.import_optional("torch")
    requested_device = options.get("device")
    device = None if requested_device == "auto" else hub.find_device(spec, requested_device)
    tokenizer, model = _load(
        spec, location.folder, base, getattr(torch, dtype), None if seed is None else int(seed), spread=device is None
    )
    for part in filter(None, (location, base)):
        hub.check_unchanged(spec, part)
    if device is not None:
        model = model.to(device)
    identity = Identity.of(
        "hf",
        location.name,
        revision=location.revision,
        base=None if base is None else f"{base.name}@{base.revision}",
        dtype=dtype,
        random=None if seed is None else int(seed),
        drawn_by=None
        if seed is None
        else ", ".join(f"{p} {hub.import_optional(p).__version__}" for p in RANDOM_INIT_PACKAGES),
        code=hub.code_digest(tokenizer, model, model.config) if trusted else None,
    )
    card = card_languages(location.folder) or (card_languages(base.folder) if base is not None else ())
    return build(spec, tokenizer, model, identity, card if seed is None else ())


def build(spec: Spec, tokenizer: Any, model: Any, identity: Identity, languages: tuple[str, ...] = ()) -> Transformer:
    """The encoder of a model in memory with the options of a spec, which become part of the identity."""
    options, torch = spec.check_options(OPTIONS), hub.import_optional("torch")
    how, special = _check_pooling(spec)
    model = model.eval()
    max_length = resolve_max_length(spec, tokenizer, model, spec.integer("max"))
    try:  # the only reliable way to find out how many layers a model has, and whether it reads texts at all
        with torch.inference_mode():
            trial = torch.ones(1, 1, dtype=torch.long, device=model.device)
            hidden = model(input_ids=trial, attention_mask=trial, output_hidden_states=True).hidden_states
            depth, width = len(hidden), hidden[-1].shape[-1]
    except Exception as why:
        raise EncoderError(
            f"{spec} is a {type(model).__name__}, which does not read texts: {summarise_error(why)}."
        ) from why
    layer_indices = (
        (1, depth - 1)
        if how == "first-last"
        else parse_layers(spec, options.get("layer", "-1"), depth, OPTIONS["layer"])
    )
    layers = tuple(map(str, layer_indices)) if len(layer_indices) > 1 and how != "first-last" else None
    prompt = options.get("prompt", "")
    identity = identity.with_facts(
        layer=layer_indices[0] if len(layer_indices) == 1 else None,
        pool=how,
        special=None if how in ONE_TOKEN else special,
        max=max_length,
        prompt=prompt or None,
        lang=options.get("lang"),
    )
    language = _language(spec, model, options.get("lang"))
    return Transformer(
        identity, layers, model, tokenizer, layer_indices, how, special, max_length, prompt, width, language,
        languages=languages,
    )  # fmt: skip


def _check_pooling(spec: Spec) -> tuple[str, str]:
    """The pooling, and what is done with special tokens; UsageError if other options contradict it."""
    options, how = dict(spec.options), spec.choice("pool", POOLINGS)
    special = spec.choice("special", ("keep", "drop"))
    if how == "first-last" and "layer" in options:
        raise UsageError(f"{spec} has pool=first-last, which uses layer 1 and the last; leave layer=… out.")
    if how in ONE_TOKEN and "special" in options:
        raise UsageError(f"{spec} has special=…, which is for means and maxima; pool={how} uses one token.")
    return how, special


def _language(spec: Spec, model: Any, name: str | None) -> int | None:
    """The number of a language; None if the model has no vectors of languages."""
    languages = dict(getattr(model.config, "lang2id", None) or {})
    if not hasattr(model, "lang_embeddings") or not languages:
        if name is not None:
            raise UsageError(f"{spec} has lang={name}, and this model has no vectors of languages; leave it out.")
        return None
    if name is None:
        warnings.warn(
            f"{spec} has vectors of languages ({', '.join(map(str, languages))}), and none is added: it was trained "
            "with them, so add lang=….",
            SentProbeWarning,
            stacklevel=3,
        )
        return None
    if name not in languages:
        raise UsageError(f"{spec} has lang={name}; expected one of {', '.join(map(str, languages))}.")
    return int(languages[name])


def _load(
    spec: Spec,
    folder: Path,
    base: hub.ModelLocation | None,
    dtype: Any,
    seed: int | None = None,
    *,
    spread: bool = False,
) -> tuple[Any, Any]:
    """Tokenizer and model from a folder, and nothing else; with a seed, weights are not read."""
    torch, transformers = hub.import_optional("torch"), hub.import_optional("transformers")
    model_folder = folder if base is None else base.folder
    weights = [m[1] for path in model_folder.iterdir() if (m := hub.WEIGHTS.fullmatch(path.name))]
    if not weights and seed is None:
        raise EncoderError(f"{spec} has no weights: expected model.safetensors, got {hub.list_contents(model_folder)}.")
    local = {"local_files_only": True, "trust_remote_code": hub.trusts_code(spec)}
    options = {"use_safetensors": "safetensors" in weights, "weights_only": True, "dtype": dtype}
    if spread:
        options["device_map"] = "auto"
    has_tokenizer = base is None or (folder / "tokenizer_config.json").is_file()
    tokenizer_folder = folder if has_tokenizer else model_folder
    with hub.loading(spec):
        config = transformers.AutoConfig.from_pretrained(model_folder, **local)
        # of T5 and similar models this does not load the decoder
        encodes = type(config) in transformers.MODEL_FOR_TEXT_ENCODING_MAPPING
        kind = transformers.AutoModelForTextEncoding if encodes else transformers.AutoModel
        if base is not None:
            kind = adapters.model_class(folder, kind)
        tokenizer = transformers.AutoTokenizer.from_pretrained(tokenizer_folder, **local)
        if seed is None:
            model, info = kind.from_pretrained(
                model_folder, config=config, output_loading_info=True, **options, **local
            )
        else:
            with torch.random.fork_rng(devices=[]):  # which keeps the global random state
                torch.manual_seed(seed)
                trust = local["trust_remote_code"]
                model, info = kind.from_config(config, dtype=dtype, trust_remote_code=trust), {"missing_keys": ()}
    hub.check_vocabulary(spec, tokenizer, tokenizer_folder)
    # hidden states do not depend on poolers and decoders; any other missing weight was initialised at random
    both = model.config.is_encoder_decoder
    unread = {"pooler", "decoder"} if both else {"pooler"}
    if missing := sorted(key for key in info["missing_keys"] if unread.isdisjoint(key.split("."))):
        raise EncoderError(
            f"{spec} lacks {len(missing)} of its weights, such as {missing[0]}; download or save it again."
        )
    if base is not None:
        model = adapters.apply(spec, model, folder)
    model.config.use_cache = False
    return tokenizer, model.get_encoder() if both else model
