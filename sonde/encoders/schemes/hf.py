"""Any encoder or decoder of the transformers library, with every layer from one forward pass.

    hf:NAME_OR_FOLDER[@revision][?layer=…&pool=…&special=…&max=…&prompt=…&random=…&dtype=…&device=…]

Layer 0 is what the embeddings give, layer 1 what the first block gives, and so on. Of a model with both parts, such as
T5, the encoder is read. Texts are padded on the right whatever the tokenizer says: then neither absolute positions nor
causal attention see the padding, and a text has the same vector in any batch. A text without tokens (the empty one, for
most decoders) is read as the one token that begins or ends a text.

With ``random=SEED`` the model is untrained: its configuration and tokenizer are read, its weights are drawn as its
architecture draws them before training. The same seed gives the same weights with the same torch and transformers.

Code that comes with a model is never run. Weights are safetensors where there are any; a model that has only
``pytorch_model.bin`` is read by torch's restricted unpickler (``weights_only``), which builds tensors and nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from sonde.core.arguments import as_texts
from sonde.encoders import hub
from sonde.encoders.identity import Identity, Spec
from sonde.errors import EncoderError, UsageError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Vectors = npt.NDArray[np.float32]

OPTIONS = {
    "layer": "a number (-1, the last, is the default), a range 0..12, a list 0,6,12, or * for all",
    "pool": "mean (default), max, cls (first token), last (last token), first-last (mean of layers 1 and last)",
    "special": "keep (default) or drop: whether means and maxima take in the special tokens that the tokenizer adds",
    "max": "longest text in tokens, special ones included; the rest is cut off (default: what the model is made for)",
    "prompt": "a text put before every text; its tokens are pooled like any other",
    "random": "a seed, 0 or more: weights are drawn at random instead of read, as before any training",
    "dtype": "float32 (default, whatever the weights are kept in), float16, bfloat16; vectors are float32 in any case",
    "device": "cuda where there is one (default), cpu, cuda:1, mps, …",
}
"""What may stand after the question mark."""

RANDOM_INIT_PACKAGES = ("torch", "transformers")
"""Packages that random weights depend on."""
POOLINGS = ("mean", "max", "cls", "last", "first-last")
MAX_BATCH_TOKENS = 64 * 512
"""Most tokens, padding included, that go through a model at once."""


class Tokens(NamedTuple):
    """One text as a model reads it."""

    ids: list[int]
    token_type_ids: list[int]
    """Segment numbers, for models that have segments."""
    special_tokens_mask: list[int]
    """1 for each token that the tokenizer added."""


@dataclass(frozen=True, eq=False)
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
    batch: int = 64

    def __call__(self, texts: Sequence[str], /) -> Vectors:
        """One vector per text and layer."""
        texts = as_texts(texts)
        torch = hub.import_optional("torch")
        rows = self.tokens(texts)
        parts = [self._encode(torch, rows[span]) for span in spans([len(row.ids) for row in rows])]
        found: Vectors = torch.cat(parts or [torch.zeros(len(self.layer_indices), 0, self.width)], dim=1).numpy()
        if self.pool == "first-last":
            found = found.mean(0, keepdims=True)
        return found if self.layers else found[0]

    def cost(self, texts: Sequence[str], /) -> list[int]:
        """How many tokens each text has once it is cut off: what it costs to encode."""
        texts = as_texts(texts)
        return count_tokens(self.tokenizer, texts, max_length=self.max, prompt=self.prompt)

    def words(self, words: Sequence[str], /) -> Vectors:
        """The mean of the input embeddings of each word's sub-tokens (words, d); zeros for a word that has none."""
        words = as_texts(words)
        return input_embeddings(self.tokenizer, self.model.get_input_embeddings(), words)

    def tokens(self, texts: Sequence[str]) -> list[Tokens]:
        """The texts as the model reads them, cut off."""
        texts = as_texts(texts)
        if not texts:
            return []
        whole = [self.prompt + replace_surrogates(text) for text in texts]
        more = {"truncation": True, "max_length": self.max, "return_special_tokens_mask": True, "verbose": False}
        got = self.tokenizer(whole, **more)
        ids = got["input_ids"]
        token_type_ids = got.get("token_type_ids") or [[0] * len(row) for row in ids]
        blank = Tokens([first_special_token_id(self.tokenizer, "bos", "cls", "eos", "pad")], [0], [0])
        return [
            Tokens(*row) if row[0] else blank
            for row in zip(ids, token_type_ids, got["special_tokens_mask"], strict=True)
        ]

    def _encode(self, torch: Any, rows: Sequence[Tokens]) -> Any:
        """(wanted hidden states, n, d), on the CPU."""
        device, length = self.model.device, max(len(row.ids) for row in rows)

        def square(column: Iterable[list[int]], fill: int) -> Any:
            return torch.tensor([cells + [fill] * (length - len(cells)) for cells in column], device=device)

        mask = square(([1] * len(row.ids) for row in rows), 0)
        # without a padding token any other will do, for it is masked
        inputs = {
            "input_ids": square((row.ids for row in rows), first_special_token_id(self.tokenizer, "pad", "eos")),
            "attention_mask": mask,
        }
        if "token_type_ids" in self.tokenizer.model_input_names:
            inputs["token_type_ids"] = square((row.token_type_ids for row in rows), self.tokenizer.pad_token_type_id)
        if self.special == "drop":
            own = square((row.special_tokens_mask for row in rows), 1) == 0
            mask = torch.where(own.any(1, keepdim=True), own, mask > 0)
        with torch.inference_mode():
            hidden = self.model(**inputs, output_hidden_states=True).hidden_states
            how = "mean" if self.pool == "first-last" else self.pool
            return torch.stack([pool(torch, hidden[i].float(), mask > 0, how) for i in self.layer_indices]).cpu()


def load(spec: Spec) -> Transformer:
    """The encoder that ``hf:NAME_OR_FOLDER…`` names."""
    given = spec.known(OPTIONS)
    how = hub.choice_option(spec, given, "pool", POOLINGS)
    special = hub.choice_option(spec, given, "special", ("keep", "drop"))
    dtype = hub.choice_option(spec, given, "dtype", hub.MODEL_DTYPES)
    limit = hub.positive_option(spec, given, "max")
    seed = given.get("random")
    if seed is not None and not re.fullmatch(r"\d{1,9}", seed, re.ASCII):
        raise UsageError(f"{spec} has random={seed}; expected {OPTIONS['random']}.")
    if how == "first-last" and "layer" in given:
        raise UsageError(f"{spec} has pool=first-last, which takes layer 1 and the last; leave layer=… out.")
    if how in ("cls", "last") and "special" in given:
        raise UsageError(f"{spec} has special=…, which is for means and maxima; pool={how} takes one token.")
    torch = hub.import_optional("torch")
    device = hub.find_device(spec, given.get("device"))
    found = hub.locate(spec, "config.json")
    tokenizer, model = _load(spec, found.folder, getattr(torch, dtype), None if seed is None else int(seed))
    hub.check_unchanged(spec, found)
    model = model.to(device).eval()
    max_length = resolve_max_length(spec, tokenizer, model, limit)
    try:  # the only sure way to learn how many layers a model has, and whether it reads texts at all
        with torch.inference_mode():
            one = torch.ones(1, 1, dtype=torch.long, device=device)
            hidden = model(input_ids=one, attention_mask=one, output_hidden_states=True).hidden_states
            depth, width = len(hidden), hidden[-1].shape[-1]
    except Exception as why:
        raise EncoderError(
            f"{spec} is a {type(model).__name__}, which does not read texts: {hub.summarise_error(why)}."
        ) from why
    layer_indices = (1, depth - 1) if how == "first-last" else parse_layers(spec, given.get("layer", "-1"), depth)
    layers = tuple(map(str, layer_indices)) if len(layer_indices) > 1 and how != "first-last" else None
    prompt = given.get("prompt", "")
    identity = Identity.of(
        "hf",
        found.name,
        revision=found.revision,
        layer=layer_indices[0] if len(layer_indices) == 1 else None,
        pool=how,
        special=None if how in ("cls", "last") else special,
        max=max_length,
        prompt=prompt or None,
        dtype=dtype,
        random=None if seed is None else int(seed),
        drawn_by=None
        if seed is None
        else ", ".join(f"{p} {hub.import_optional(p).__version__}" for p in RANDOM_INIT_PACKAGES),
    )
    return Transformer(identity, layers, model, tokenizer, layer_indices, how, special, max_length, prompt, width)


def pool(torch: Any, hidden: Any, mask: Any, how: str) -> Any:
    """(n, tokens, d) under a mask (n, tokens) to (n, d), by ``mean``, ``max``, ``cls`` or ``last``.

    Right for padding on either side; every text has at least one token.
    """
    if how == "mean":
        return hidden.masked_fill(~mask[:, :, None], 0).sum(1) / mask.sum(1, keepdim=True)
    if how == "max":
        return hidden.masked_fill(~mask[:, :, None], float("-inf")).amax(1)
    ones = mask.long()
    at = ones.argmax(1) if how == "cls" else mask.shape[1] - 1 - ones.flip(1).argmax(1)
    return hidden[torch.arange(len(hidden), device=hidden.device), at]


def parse_layers(spec: Spec, text: str, depth: int) -> tuple[int, ...]:
    """The layers that ``text`` names, of ``depth`` that there are: in its order, each once, counted from 0."""
    found: list[int] = []
    for part in ("0..-1" if text == "*" else text).split(","):
        if not (ends := re.fullmatch(r"(-?\d+)(?:\.\.(-?\d+))?", part)):
            raise UsageError(f"{spec} has layer={text}; expected {OPTIONS['layer']}.")
        low, high = int(ends[1]), int(ends[2] or ends[1])
        if not (-depth <= low < depth and -depth <= high < depth and low % depth <= high % depth):
            raise UsageError(
                f"{spec} has layer={part}; this model has the layers 0..{depth - 1}, a range goes upwards."
            )
        found += range(low % depth, high % depth + 1)
    return tuple(dict.fromkeys(found))


def spans(lengths: Sequence[int]) -> Iterator[slice]:
    """Runs of texts that go through a model at once: a long list or a long context must not exhaust the memory."""
    start = max_length = 0
    for i, length in enumerate(lengths):
        if i > start and max(max_length, length) * (i + 1 - start) > MAX_BATCH_TOKENS:
            yield slice(start, i)
            start, max_length = i, 0
        max_length = max(max_length, length)
    if lengths:
        yield slice(start, len(lengths))


def replace_surrogates(text: str) -> str:
    """The text with replacement characters for halves of characters, which no tokenizer takes."""
    return text.encode(errors="surrogatepass").decode(errors="replace")


def count_tokens(tokenizer: Any, texts: Sequence[str], *, max_length: int, prompt: str = "") -> list[int]:
    """How many tokens each text has once it is cut off, at least 1."""
    whole = [prompt + replace_surrogates(text) for text in texts]
    less = {"return_attention_mask": False, "return_token_type_ids": False, "verbose": False}
    pieces = tokenizer(whole, truncation=True, max_length=max_length, **less)["input_ids"] if whole else []
    return [max(1, len(ids)) for ids in pieces]


def input_embeddings(tokenizer: Any, table: Any, words: Sequence[str]) -> Vectors:
    """The mean of the rows of an embedding table that a word's sub-tokens have, without special tokens (words, d)."""
    torch = hub.import_optional("torch")
    pieces = tokenizer(list(words), add_special_tokens=False, verbose=False)["input_ids"] if words else []
    sizes = torch.tensor([len(ids) for ids in pieces], dtype=torch.long)
    with torch.inference_mode():
        flat = torch.tensor([i for ids in pieces for i in ids], dtype=torch.long, device=table.weight.device)
        rows = table.weight[flat].float().cpu()
        sums = torch.zeros(len(pieces), rows.shape[1]).index_add_(
            0, torch.arange(len(pieces)).repeat_interleave(sizes), rows
        )
        found: Vectors = (sums / sizes.clamp(min=1)[:, None]).numpy()
    return found


def first_special_token_id(tokenizer: Any, *roles: str) -> int:
    """The number of the first of these special tokens that the tokenizer has; 0 if it has none of them."""
    numbers = (getattr(tokenizer, f"{role}_token_id", None) for role in roles)
    return next((i for i in numbers if i is not None), 0)


def _load(spec: Spec, folder: Path, dtype: Any, seed: int | None = None) -> tuple[Any, Any]:
    """Tokenizer and model of a folder; nothing but the folder is read, and with a seed no weights."""
    torch, transformers = hub.import_optional("torch"), hub.import_optional("transformers")
    if (folder / "adapter_config.json").is_file():
        raise EncoderError(f"{spec} is an adapter; merge it into its model, save that, and give that folder.")
    weights = [m[1] for path in folder.iterdir() if (m := hub.WEIGHTS.fullmatch(path.name))]
    if not weights and seed is None:
        raise EncoderError(f"{spec} has no weights: expected model.safetensors, met {hub.listed(folder)}.")
    local = {"local_files_only": True, "trust_remote_code": False}
    more = {"use_safetensors": "safetensors" in weights, "weights_only": True, "dtype": dtype}
    with hub.loading(spec):
        config = transformers.AutoConfig.from_pretrained(folder, **local)
        # of T5 and its kin this leaves the decoder on the disk
        encodes = type(config) in transformers.MODEL_FOR_TEXT_ENCODING_MAPPING
        kind = transformers.AutoModelForTextEncoding if encodes else transformers.AutoModel
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder, **local)
        if seed is None:
            model, info = kind.from_pretrained(folder, config=config, output_loading_info=True, **more, **local)
        else:
            with torch.random.fork_rng(devices=[]):  # which leaves everybody else's random numbers alone
                torch.manual_seed(seed)
                model, info = kind.from_config(config, dtype=dtype, trust_remote_code=False), {"missing_keys": ()}
    hub.check_vocabulary(spec, tokenizer, folder)
    # poolers and decoders have no part in hidden states; anything else that is missing was drawn at random
    both = model.config.is_encoder_decoder
    unread = {"pooler", "decoder"} if both else {"pooler"}
    if missing := sorted(key for key in info["missing_keys"] if unread.isdisjoint(key.split("."))):
        raise EncoderError(f"{spec} lacks {len(missing)} of its weights, such as {missing[0]}; fetch or save it again.")
    model.config.use_cache = False
    return tokenizer, model.get_encoder() if both else model


def resolve_max_length(spec: Spec, tokenizer: Any, model: Any, requested: int | None) -> int:
    """The length at which texts are cut off, in tokens."""
    room = getattr(model.config, "max_position_embeddings", None) or 0
    for module in model.modules():
        table: Any = getattr(module, "position_embeddings", None)
        if getattr(table, "padding_idx", None) is not None:  # RoBERTa and its kin count positions from there
            room = table.num_embeddings - table.padding_idx - 1
    least = tokenizer.num_special_tokens_to_add() + 1
    if requested is not None and (requested < least or 0 < room < requested):
        most = room if room > 0 else "any number"
        raise UsageError(f"{spec} has max={requested}; this model takes from {least} to {most} tokens.")
    # a tokenizer that knows no limit says 1e30
    limits = [n for n in (tokenizer.model_max_length, room) if 0 < n < 1e9]
    return requested or int(min(limits, default=512))
