"""Transformers that predict tokens, or classify pairs of sentences, as XLM does.

Weights have the names that `transformers` has for them in ``XLMWithLMHeadModel`` and ``XLMForSequenceClassification``.
The output layer of a language model shares its weights with the vectors of the tokens; a classifier is a linear layer
on the state of the first token.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from sentprobe.core.arguments import Settings
from sentprobe.errors import UsageError
from sentprobe.lab.networks.kernels import drop, output_loss
from sentprobe.lab.networks.xlm import XLM, Sizes
from sentprobe.lab.training.examples import Sequences
from sentprobe.lab.training.lm.batches import LanguageModelBatch
from sentprobe.lab.training.lm.tokens import BEGIN, END, MASK, PAD, UNKNOWN
from sentprobe.lab.training.objective import Loss

ARCHITECTURE = "transformer"
"""The encoder of language models, whose sizes theirs are."""


class Bias(nn.Module):
    """The weights of the output layer that are its own."""

    def __init__(self, tokens: int) -> None:
        super().__init__()
        self.bias = nn.Parameter(torch.zeros(tokens))


class TokenPredictor(nn.Module):
    """A Transformer with an output layer whose other weights are vectors of tokens."""

    transformer: XLM
    pred_layer: nn.ModuleDict

    @property
    def encoder(self) -> XLM:
        """The part without the output layer."""
        return self.transformer

    @property
    def bias(self) -> Tensor:
        """Of the output layer (tokens,)."""
        bias: Any = self.pred_layer["proj"].bias
        return bias  # type: ignore[no-any-return]


class LanguageModel(TokenPredictor):
    """Weights have the names that `transformers` has for them in its XLM."""

    def __init__(self, sizes: Sizes) -> None:
        super().__init__()
        self.transformer = XLM(sizes)
        self.pred_layer = nn.ModuleDict({"proj": Bias(sizes.tokens)})

    def forward(self, batch: LanguageModelBatch) -> Loss:
        """The cross-entropy of the targets."""
        states = self.transformer(
            batch.ids,
            batch.languages,
            batch.positions,
            batch.lengths,
            causal=batch.causal,
            token_indices=batch.token_indices,
        )
        loss = output_loss(states.flatten(0, -2), batch.targets, self.transformer.embeddings.weight, self.bias)
        read = batch.ids.numel() if batch.lengths is None else int(batch.lengths.sum())
        return Loss(loss, len(batch.targets), read)


def build_model(sizes: Sizes, seed: int) -> LanguageModel:
    """A model with random weights: the same for the same seed, whatever was drawn before."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return LanguageModel(sizes)


def model_sizes(settings: Settings, tokens: int, languages: int) -> Sizes:
    """The sizes of a request; with one language, there are no vectors of languages."""
    hidden, heads, inner = (int(settings[name]) for name in ("hidden", "heads", "feedforward"))
    if hidden % heads:
        raise UsageError(f"hidden={hidden} and heads={heads}: expected hidden to be a multiple of heads.")
    if inner not in (0, 4 * hidden):
        raise UsageError(f"feedforward={inner}: XLM has four times hidden, {4 * hidden}; leave it out.")
    return Sizes(
        tokens,
        languages if languages > 1 else 0,
        hidden,
        int(settings["layers"]),
        heads,
        int(settings["positions"]),
        float(settings["dropout"]),
        PAD,
    )


def transformers_config(sizes: Sizes, languages: Sequence[str], causal: bool) -> Mapping[str, Any]:
    """The ``config.json`` with which `transformers` loads the model as its XLM."""
    return {
        "model_type": "xlm",
        "architectures": ["XLMWithLMHeadModel"],
        "vocab_size": sizes.tokens,
        "emb_dim": sizes.hidden,
        "n_layers": sizes.layers,
        "n_heads": sizes.heads,
        "dropout": sizes.dropout,
        "attention_dropout": sizes.dropout,
        "gelu_activation": True,
        "sinusoidal_embeddings": False,
        "causal": causal,
        "asm": False,
        "n_langs": len(languages),
        "use_lang_emb": bool(sizes.languages),
        "lang2id": {language: number for number, language in enumerate(languages)},
        "id2lang": {str(number): language for number, language in enumerate(languages)},
        "lang_id": 0,
        "max_position_embeddings": sizes.positions,
        "embed_init_std": sizes.hidden**-0.5,
        "bos_token_id": BEGIN,
        "eos_token_id": END,
        "pad_token_id": PAD,
        "unk_index": UNKNOWN,
        "mask_index": MASK,
        "mask_token_id": MASK,
        "tie_word_embeddings": True,
        "dtype": "float32",
    }


class PairBatch(NamedTuple):
    """Labelled pairs of one language."""

    ids: Tensor
    """(pairs, time): ``</s> premise </s> </s> hypothesis </s>``."""
    languages: Tensor
    """(pairs, 1)."""
    lengths: Tensor
    labels: Tensor
    """(pairs,)."""


class PairClassifier(nn.Module):
    """A Transformer and a classifier."""

    def __init__(self, sizes: Sizes, classes: int) -> None:
        super().__init__()
        self.transformer = XLM(sizes)
        self.sequence_summary = nn.ModuleDict({"summary": nn.Linear(sizes.hidden, classes)})
        self.rate = sizes.dropout

    @property
    def encoder(self) -> XLM:
        """The part without the classifier."""
        return self.transformer

    def logits(self, batch: PairBatch) -> Tensor:
        """(pairs, classes)."""
        pairs, time = batch.ids.shape
        first = torch.arange(0, pairs * time, time, device=batch.ids.device)
        states = self.transformer(batch.ids, batch.languages, None, batch.lengths, token_indices=first)
        logits: Tensor = self.sequence_summary["summary"](drop(states, self.rate if self.training else 0.0))
        return logits

    def forward(self, batch: PairBatch) -> Loss:
        """The cross-entropy."""
        loss = nn.functional.cross_entropy(self.logits(batch), batch.labels, reduction="sum")
        return Loss(loss, len(batch.labels), int(batch.lengths.sum()))


def collate_pairs(first: Sequences, second: Sequences, labels: Any, language: int, rows: Sequence[int]) -> PairBatch:
    """A batch of some pairs; positions continue from the first sentence to the second."""
    texts = [(first[row], second[row]) for row in rows]
    lengths = [len(premise) + len(hypothesis) + 4 for premise, hypothesis in texts]
    ids = np.full((len(texts), max(lengths)), PAD, np.int64)
    for line, (premise, hypothesis) in zip(ids, texts, strict=True):
        joined = np.concatenate(([END], premise, [END, END], hypothesis, [END]))
        line[: len(joined)] = joined
    return PairBatch(
        torch.from_numpy(ids),
        torch.full((len(texts), 1), language),
        torch.tensor(lengths),
        torch.as_tensor(np.asarray(labels)[list(rows)].astype(np.int64)),
    )
