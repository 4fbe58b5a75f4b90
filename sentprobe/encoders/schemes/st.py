"""Any model of the sentence-transformers library, encoded by its own method.

    st:NAME_OR_FOLDER[@revision][?prompt_name=…&prompt=…&truncate_dim=…&precision=…&normalize=…&layer=…&max=…
        &dtype=…&device=…&base=…&max_active_dims=…&trust_remote_code=…]

A name without an owner is one of sentence-transformers' own: ``st:all-MiniLM-L6-v2``. A model without the modules of
that library is rejected, since the library would silently add mean pooling; with ``hf:`` the pooling is explicit.

The type of the model is read from its folder. Vectors of a SparseEncoder are sparse. A CrossEncoder, which scores pairs
and has no vectors, and a MultiVectorEncoder, which has one per token, are rejected: the library would silently make
another model of either.

``truncate_dim=64,128,256`` and ``precision=float32,int8,ubinary`` stand for several encoders. They are computed from
the same vectors, which the store keeps, so that texts are encoded once.

Code that comes with a model is run with ``trust_remote_code=true`` only, and is part of the identity.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import product
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sentprobe.core.arguments import as_texts
from sentprobe.core.third_party import summarise_error
from sentprobe.core.words import replace_surrogates
from sentprobe.encoders import adapters, hub
from sentprobe.encoders.encoder import short_repr
from sentprobe.encoders.identity import Identity, Spec
from sentprobe.encoders.languages import card_languages, unknown_pieces
from sentprobe.encoders.transformer import count_tokens, input_embeddings, parse_layers, resolve_max_length
from sentprobe.errors import EncoderError, UsageError

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from sentprobe.encoders.encoder import Encoder
    from sentprobe.encoders.transformer import FloatArray

named_file = attrgetter("folder")
PRECISIONS = ("float32", "int8", "ubinary")
OPTIONS = {
    "normalize": "false (default) or true: whether vectors are scaled to length 1",
    "prompt": "a text that is put before every text (default: the model's own default prompt, if it has one)",
    "prompt_name": "one of the model's own prompts, such as query, by its name",
    "truncate_dim": "the number of dimensions to keep, the first ones (Matryoshka); several, as in 64,128,256, stand "
    "for as many encoders",
    "precision": "float32 (default), int8 or ubinary: vectors quantised as the library does it, binary ones with a "
    "dimension per bit; several, as in float32,ubinary, stand for as many encoders",
    "layer": "a layer's states, pooled as the model pools its last ones: a number, a range 0..12, a list 0,6,12, or * "
    "for all (default: the model's vector)",
    "max": "maximum length in tokens, special ones included; longer texts are truncated (default: the model's limit)",
    "max_active_dims": "of a sparse model, the number of largest values to keep",
    "dtype": "float32 (default, whatever the dtype of the weights), float16, bfloat16; vectors are always float32",
    "device": "cuda if available (default), else cpu; or cuda:1, mps, …; several, as in cuda:0,cuda:1, encode together",
    "base": "the model that a PEFT adapter changes, by name or folder (default: the one that the adapter names)",
    "trust_remote_code": "true: run the code that comes with the model; read it first",
}
"""What may follow the question mark."""
DENSE_ONLY = ("normalize", "truncate_dim", "precision", "layer")
"""Options that a sparse model does not have."""
EXCLUDE_EACH_OTHER = (("prompt", "prompt_name"), ("layer", "precision"))
TRANSFORMER_ONLY = ("dtype", "max", "layer")
ALL_DIMENSIONS = 1 << 30
TEXTS_PER_PROCESS = 1024
"""Texts that one of several devices is sent at a time."""

NO_VECTORS = {
    "CrossEncoder": "a CrossEncoder, which scores pairs of texts and has no vectors of single ones. Its transformer "
    "can be probed with hf:.",
    "MultiVectorEncoder": "a MultiVectorEncoder, which has a vector for every token and none for a text. Its "
    "transformer can be probed with hf:.",
}
"""Types of models that cannot be probed, and what they are."""


def expand(spec: Spec) -> list[str]:
    """The encoders that a spec with lists of dimensions or precisions stands for."""
    options = dict(spec.options)
    lists = {key: options[key].split(",") for key in ("truncate_dim", "precision") if key in options}
    choices = [options | dict(zip(lists, values, strict=True)) for values in product(*lists.values())]
    # a default is not written: the encoder has the name that it has without the option
    named = [[item for item in choice.items() if item != ("precision", "float32")] for choice in choices]
    return [str(Spec(spec.scheme, spec.name, spec.revision, tuple(pairs))) for pairs in named]


@dataclass(frozen=True, eq=False, repr=False)
class SentenceEncoder:
    """A sentence-transformers model as an encoder (n, d), or of several layers (layers, n, d)."""

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
    layers: tuple[str, ...] | None = None
    """Names of the layers if there are several."""
    layer_indices: tuple[int, ...] = ()
    """The hidden states that are pooled in place of the model's own vector, by number."""
    devices: tuple[str, ...] = ()
    """Where it encodes, if there are several."""
    keep: int | None = None
    """How many dimensions to keep in place of what the model says."""

    def __repr__(self) -> str:
        layers = f"layer {', '.join(map(str, self.layer_indices))}" if self.layer_indices else ""
        return short_repr(self, f"st:{self.identity.name}", layers, f"{self.width} dimensions")

    def __call__(self, texts: Sequence[str], /) -> FloatArray:
        """One vector per text."""
        texts = as_texts(texts)
        np = hub.import_optional("numpy")
        if self.layer_indices:
            return self._states(texts)
        output = self.model.encode(
            [replace_surrogates(text) for text in texts],
            prompt=self.prompt,
            batch_size=min(self.batch_size, 64),
            normalize_embeddings=self.normalize,
            convert_to_numpy=True,
            show_progress_bar=False,
            truncate_dim=self.keep,
            **({"device": list(self.devices)} if self.devices else {}),
        )
        vectors: FloatArray = np.asarray(output, dtype=np.float32)
        return vectors if len(texts) else vectors.reshape(0, self.width)

    def _states(self, texts: Sequence[str]) -> FloatArray:
        """The hidden states of layers as the model's own pooling module pools them."""
        torch, util = hub.import_optional("torch"), hub.import_optional("sentence_transformers.util")
        parts = [torch.zeros(len(self.layer_indices), 0, self.width)]
        self.model.eval()
        with torch.inference_mode():
            for start in range(0, len(texts), self.batch_size):
                batch = [replace_surrogates(text) for text in texts[start : start + self.batch_size]]
                features = util.batch_to_device(self.model.preprocess(batch, prompt=self.prompt), self.model.device)
                features = self.model[0](features)
                states = features["all_layer_embeddings"]
                pooled = [
                    pooling_of(self.model)({**features, "token_embeddings": states[i]})["sentence_embedding"].float()
                    for i in self.layer_indices
                ]
                parts.append(torch.stack(pooled).cpu())
            vectors = torch.cat(parts, dim=1)
            if self.normalize:
                vectors = torch.nn.functional.normalize(vectors, dim=-1)
        array: FloatArray = vectors.numpy()
        return array if self.layers else array[0]

    def unknown_share(self, texts: Sequence[str], /) -> float:
        """The share of the pieces of texts that the tokenizer does not know; 0 for a model without a transformer."""
        return unknown_pieces(self.model.tokenizer, as_texts(texts)) if self.cost is not None else 0.0


@dataclass(frozen=True, eq=False, repr=False)
class SparseSentenceEncoder:
    """A SparseEncoder of sentence-transformers, such as SPLADE: sparse vectors (n, vocabulary)."""

    identity: Identity
    model: Any
    prompt: str
    width: int
    max_active_dims: int | None = None
    batch_size: int = 64
    languages: tuple[str, ...] = ()
    cacheable: bool = False
    """The store would keep tens of thousands of zeros for every text."""

    def __repr__(self) -> str:
        return short_repr(self, f"st:{self.identity.name}", f"{self.width:,} dimensions, sparse")

    def __call__(self, texts: Sequence[str], /) -> FloatArray:
        """One dense vector per text."""
        vectors: FloatArray = self.sparse_vectors(texts).toarray()
        return vectors

    def sparse_vectors(self, texts: Sequence[str], /) -> csr_array:
        """One sparse vector per text."""
        from scipy.sparse import csr_array

        texts = as_texts(texts)
        if not texts:
            return csr_array((0, self.width), dtype="float32")
        output = self.model.encode(
            [replace_surrogates(text) for text in texts],
            prompt=self.prompt,
            batch_size=self.batch_size,
            show_progress_bar=False,
            save_to_cpu=True,
            max_active_dims=self.max_active_dims,
        ).coalesce()
        cells = tuple(output.indices().numpy())
        return csr_array((output.values().float().numpy(), cells), shape=(len(texts), self.width))

    def unknown_share(self, texts: Sequence[str], /) -> float:
        """The share of the pieces of texts that the tokenizer does not know."""
        return unknown_pieces(self.model.tokenizer, as_texts(texts))


def load(spec: Spec) -> Encoder:
    """The encoder that ``st:NAME_OR_FOLDER…`` names."""
    options = spec.check_options(OPTIONS)
    _check_options(spec)
    dtype = spec.choice("dtype", hub.MODEL_DTYPES)
    hub.require("sentence_transformers", "torch", "huggingface_hub")
    location = hub.locate(spec, "modules.json", recursive=True, owner="sentence-transformers/")
    base = adapters.locate_base(spec, location)
    library, torch = hub.import_optional("sentence_transformers"), hub.import_optional("torch")
    devices = [hub.find_device(spec, name) for name in (options.get("device") or "").split(",") if name]
    device = devices[0] if devices else hub.find_device(spec, None)
    kind = _model_type(spec, location.folder)
    trusted = hub.trusts_code(spec)
    with hub.loading(spec), _with_base(location.folder, base) as folder:
        if not trusted:
            _check_modules(folder)
        model = getattr(library, kind)(
            str(folder),
            device=str(device),
            trust_remote_code=trusted,
            local_files_only=True,
            model_kwargs={"dtype": getattr(torch, dtype)},
        )
    for part in filter(None, (location, base)):
        hub.check_unchanged(spec, part)
    inner = model.transformers_model
    if inner is not None:
        with_tokenizer = location.folder if [*location.folder.rglob("tokenizer*")] or base is None else base.folder
        hub.check_vocabulary(spec, model.tokenizer, with_tokenizer)
    identity = Identity.of(
        "st",
        location.name,
        revision=location.revision,
        base=None if base is None else f"{base.name}@{base.revision}",
        dtype=None if inner is None else dtype,
        code=hub.code_digest(*model, *(() if inner is None else (inner, inner.config, model.tokenizer)))
        if trusted
        else None,
    )
    return build(spec, model, identity, card_languages(location.folder))


def build(spec: Spec, model: Any, identity: Identity, languages: tuple[str, ...] = ()) -> Encoder:
    """The encoder of a model in memory with the options of a spec, which become part of the identity."""
    options, inner = spec.check_options(OPTIONS), model.transformers_model
    _check_options(spec)
    is_sparse = any(cls.__name__ == "SparseEncoder" for cls in type(model).__mro__)
    if is_sparse and (not_applicable := set(DENSE_ONLY) & set(options)):
        raise UsageError(
            f"{spec} has {min(not_applicable)}=…, which is for dense vectors; those of this model are sparse."
        )
    if not is_sparse and "max_active_dims" in options:
        raise UsageError(f"{spec} has max_active_dims=…, which is for sparse models; this one is dense.")
    if inner is None and (not_applicable := set(TRANSFORMER_ONLY) & set(options)):
        raise UsageError(
            f"{spec} has {min(not_applicable)}=…, which is for models with a transformer; this one has none."
        )
    if (limit := spec.integer("max")) is not None:
        model.max_seq_length = resolve_max_length(spec, model.tokenizer, inner, limit)
    prompt = _prompt(spec, model)
    identity = identity.with_facts(prompt=prompt or None, max=None if inner is None else model.max_seq_length)
    if is_sparse:
        most = spec.integer("max_active_dims")
        (_, width) = model.encode(["a"], show_progress_bar=False).shape
        identity = identity.with_facts(max_active_dims=model.max_active_dims if most is None else most, sparse="yes")
        return SparseSentenceEncoder(identity, model, prompt, width, most, languages=languages)
    return _dense(spec, model, identity, prompt, languages)


def _dense(spec: Spec, model: Any, identity: Identity, prompt: str, languages: tuple[str, ...]) -> Encoder:
    """The encoder of a SentenceTransformer, or what is computed from its vectors."""
    from sentprobe.encoders.compressed import compress

    normalize, precision = spec.choice("normalize", ("false", "true")) == "true", spec.choice("precision", PRECISIONS)
    truncate_dim, inner = spec.integer("truncate_dim"), model.transformers_model
    indices = _layer_indices(spec, model, dict(spec.options).get("layer"))
    source_normalize = normalize and truncate_dim is None
    identity = identity.with_facts(
        normalize=str(source_normalize).lower(),
        truncate_dim=model.truncate_dim if truncate_dim is None else None,
        layer=indices[0] if len(indices) == 1 else None,
        layer_pooling="model" if indices else None,
    )
    cost = words = None
    if inner is not None:
        cost = partial(count_tokens, model.tokenizer, max_length=model.max_seq_length, prompt=prompt)
        words = partial(input_embeddings, model.tokenizer, inner.get_input_embeddings())
    try:
        # what is truncated here is neither truncated nor scaled before
        keep = None if truncate_dim is None else ALL_DIMENSIONS
        (_, width) = model.encode(["a"], convert_to_numpy=True, show_progress_bar=False, truncate_dim=keep).shape
    except Exception as why:
        raise EncoderError(f"{spec} does not return one vector per text: {summarise_error(why)}.") from why
    if indices:
        width = pooling_of(model).get_embedding_dimension()
    devices = tuple(name for name in dict(spec.options).get("device", "").split(",") if name)
    encoder = SentenceEncoder(
        identity, model, source_normalize, prompt, width, cost, words,
        batch_size=64 if len(devices) < 2 else TEXTS_PER_PROCESS * len(devices),
        languages=languages,
        layers=tuple(map(str, indices)) if len(indices) > 1 else None,
        layer_indices=indices,
        devices=devices if len(devices) > 1 else (),
        keep=keep,
    )  # fmt: skip
    return compress(spec, encoder, truncate_dim, precision, normalize=normalize and truncate_dim is not None)


def _check_options(spec: Spec) -> None:
    """UsageError if options contradict each other, which needs no model to know."""
    options = dict(spec.options)
    for first, second in EXCLUDE_EACH_OTHER:
        if first in options and second in options:
            raise UsageError(f"{spec} has {first}= and {second}=, which exclude each other; leave one out.")
    spec.choice("normalize", ("false", "true"))
    spec.choice("precision", PRECISIONS)
    spec.integer("truncate_dim")
    hub.trusts_code(spec)
    if "layer" in options and "," in options.get("device", ""):
        raise UsageError(f"{spec} has layer= and several devices; expected one device.")


def _model_type(spec: Spec, folder: Path) -> str:
    """The class of the library that a folder was saved by; EncoderError for models without a vector per text."""
    path = folder / "config_sentence_transformers.json"
    try:
        kind = json.loads(path.read_bytes()).get("model_type", "SentenceTransformer") if path.is_file() else None
    except (OSError, ValueError, AttributeError) as why:
        raise EncoderError(f"{spec}: {path.name} cannot be read: {summarise_error(why)}.") from why
    if kind in NO_VECTORS:
        raise EncoderError(f"{spec} is {NO_VECTORS[kind]}")
    if kind not in (None, "SentenceTransformer", "SparseEncoder"):
        raise EncoderError(f"{spec} is a {str(kind)[:60]}; expected a SentenceTransformer or a SparseEncoder.")
    return kind or "SentenceTransformer"


def _prompt(spec: Spec, model: Any) -> str:
    """The text before every text: the requested one, the model's of the requested name, or its default."""
    options = dict(spec.options)
    if "prompt" in options:
        return options["prompt"]
    name = options.get("prompt_name", model.default_prompt_name)
    if name is not None and name not in model.prompts:
        names = ", ".join(sorted(model.prompts)) or "none"
        raise UsageError(f"{spec} has prompt_name={name}; expected one of this model's prompts: {names}.")
    return str(model.prompts.get(name) or "")


def pooling_of(model: Any) -> Any:
    """The module of a model that pools the states of tokens; None if it has none."""
    return next((module for module in model if type(module).__name__ == "Pooling"), None)


def _layer_indices(spec: Spec, model: Any, requested: str | None) -> tuple[int, ...]:
    """The layers whose states are pooled in place of the model's own vector."""
    if requested is None:
        return ()
    if pooling_of(model) is None:
        raise UsageError(f"{spec} has layer={requested}, which is for models with a Pooling module; this one has none.")
    model.transformers_model.config.output_hidden_states = True
    torch, util = hub.import_optional("torch"), hub.import_optional("sentence_transformers.util")
    with torch.inference_mode():
        features = model[0](util.batch_to_device(model.preprocess(["a"]), model.device))
    if "all_layer_embeddings" not in features:
        raise UsageError(f"{spec} has layer={requested}, and this model does not return the states of its layers.")
    return parse_layers(spec, requested, len(features["all_layer_embeddings"]), OPTIONS["layer"])


@contextmanager
def _with_base(folder: Path, base: hub.ModelLocation | None) -> Iterator[Path]:
    """The folder to load; of an adapter one that names exactly the model that was found, and not what a name may be."""
    if base is None:
        yield folder
        return
    with tempfile.TemporaryDirectory(prefix="sentprobe-") as name:
        for path in folder.iterdir():
            if path.name != adapters.CONFIG:
                (Path(name) / path.name).symlink_to(path.resolve())
        config = json.loads((folder / adapters.CONFIG).read_bytes())
        config |= {"base_model_name_or_path": str(base.folder.resolve()), "revision": None}
        (Path(name) / adapters.CONFIG).write_text(json.dumps(config), "utf-8")
        yield Path(name)


def _check_modules(folder: Path) -> None:
    """Reject code that is not the library's, and an activation that is not torch's, which would be replaced in a log.

    Whether the library itself refuses the code of a folder depends on its version.
    """
    for module in json.loads((folder / "modules.json").read_bytes()):
        if not module["type"].startswith("sentence_transformers."):
            raise ValueError(f"{module['type']} needs trust_remote_code")
        if module["type"].endswith(".Dense"):
            config = json.loads((folder / module["path"] / "config.json").read_bytes())
            if not config.get("activation_function", "torch.").startswith("torch."):
                raise ValueError(f"{config['activation_function']} needs trust_remote_code")
