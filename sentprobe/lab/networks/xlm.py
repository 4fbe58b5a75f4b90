"""The Transformer of XLM, under the names that `transformers` has for its weights.

    ids, languages, positions ─▶ sum, norm, dropout ─▶ layers: attention, norm, feed-forward network, norm ─▶ states

Positions and languages are learned vectors, normalisation is after every part, the activation is GELU. As a decoder,
attention is causal, and a second attention reads the states of an encoder, as in the released code; its weights are
``encoder_attn`` and ``layer_norm15`` there and here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from sentprobe.lab.networks.kernels import attend, drop
from sentprobe.lab.networks.sequences import padding_mask

EPSILON = 1e-12
"""Of layer normalisation, as in XLM; torch has 1e-5."""


@dataclass(frozen=True)
class Sizes:
    """What a Transformer is, apart from its weights."""

    tokens: int
    """In the vocabulary."""
    languages: int
    """0: there are no vectors of languages."""
    hidden: int
    layers: int
    heads: int
    positions: int
    dropout: float
    """Of states and of the weights of attention."""
    pad: int
    """The token that fills up shorter sentences."""


class EncoderMemory(NamedTuple):
    """What a decoder reads of an encoder."""

    states: Tensor
    """(sentences, time, hidden)."""
    lengths: Tensor | None
    """(sentences,); None: all are as long as the longest."""


@dataclass(eq=False)
class Cache:
    """Keys and values of the tokens that a decoder has read, so that it reads each once."""

    past: dict[nn.Module, tuple[Tensor, Tensor]] = field(default_factory=dict)
    """Of self-attention, by its module."""
    memory: dict[nn.Module, tuple[Tensor, Tensor]] = field(default_factory=dict)
    """Of attention to the encoder."""
    length: int = 0
    """Tokens that were read."""

    def choose(self, rows: Tensor) -> None:
        """Keep the sentences with these numbers, in their order."""
        for entries in (self.past, self.memory):
            for module, (key, value) in entries.items():
                entries[module] = key[rows], value[rows]


class QueryTokens(NamedTuple):
    """The tokens of a batch whose states are computed, as rectangular queries: sentences may have different numbers."""

    times: Tensor
    """(sentences, most): their positions in the sentence, padded with any position where a sentence has fewer."""
    slots: Tensor
    """(tokens,): their indices among the flattened ``times``."""

    @classmethod
    def of(cls, tokens: Tensor, sentences: int, time: int) -> QueryTokens:
        """From the indices of tokens in the flattened batch (sentences, time), ascending."""
        rows = tokens // time
        counts = torch.bincount(rows, minlength=sentences)
        most = max(1, int(counts.max()))
        ranks = torch.arange(len(tokens), device=tokens.device) - (counts.cumsum(0) - counts)[rows]
        slots = rows * most + ranks
        times = tokens.new_zeros(sentences * most).index_copy(0, slots, tokens % time)
        return cls(times.view(sentences, most), slots)


class MultiHeadAttention(nn.Module):
    """Attention with several heads, to the states themselves or to those of an encoder."""

    def __init__(self, sizes: Sizes) -> None:
        super().__init__()
        self.heads, self.rate = sizes.heads, sizes.dropout
        self.q_lin, self.k_lin, self.v_lin, self.out_lin = (nn.Linear(sizes.hidden, sizes.hidden) for _ in range(4))

    def forward(
        self,
        states: Tensor,
        mask: Tensor | None = None,
        causal: bool = False,
        queries: QueryTokens | None = None,
        memory: Tensor | None = None,
        cache: Cache | None = None,
    ) -> Tensor:
        """New states (sentences, time, hidden); with ``queries``, of these tokens only: (tokens, hidden)."""
        query_states = states
        if queries is not None:
            query_states = states.gather(1, queries.times[:, :, None].expand(-1, -1, states.shape[2]))
            if causal:
                visible = torch.arange(states.shape[1], device=states.device) <= queries.times[:, None, :, None]
                mask, causal = visible if mask is None else mask & visible, False
        query = self._split(self.q_lin(query_states))
        if cache is not None and memory is not None and self in cache.memory:
            key, value = cache.memory[self]
        else:
            source = states if memory is None else memory
            key, value = self._split(self.k_lin(source)), self._split(self.v_lin(source))
            if cache is not None and memory is not None:
                cache.memory[self] = key, value
        if cache is not None and memory is None:
            if self in cache.past:
                past = cache.past[self]
                key, value = torch.cat((past[0], key), 2), torch.cat((past[1], value), 2)
                causal = False  # one token at a time, which sees all before it
            cache.past[self] = key, value
        mixed = attend(query, key, value, mask, causal, self.rate if self.training else 0.0)
        mixed = mixed.transpose(1, 2).flatten(2)
        output: Tensor = self.out_lin(mixed if queries is None else mixed.flatten(0, 1)[queries.slots])
        return output

    def _split(self, states: Tensor) -> Tensor:
        return states.view(*states.shape[:2], self.heads, -1).transpose(1, 2)


class FeedForward(nn.Module):
    """Two linear layers with GELU between them."""

    def __init__(self, hidden: int) -> None:
        super().__init__()
        self.lin1, self.lin2 = nn.Linear(hidden, 4 * hidden), nn.Linear(4 * hidden, hidden)

    def forward(self, states: Tensor) -> Tensor:
        """New states of states (…, hidden)."""
        output: Tensor = self.lin2(functional.gelu(self.lin1(states)))
        return output


class XLM(nn.Module):
    """Token numbers in, states of every layer out."""

    def __init__(self, sizes: Sizes, *, decoder: bool = False) -> None:
        """Build with random weights, drawn as in the released code."""
        super().__init__()
        self.sizes, self.size = sizes, sizes.hidden
        hidden = sizes.hidden
        self.position_embeddings = nn.Embedding(sizes.positions, hidden)
        if sizes.languages:
            self.lang_embeddings = nn.Embedding(sizes.languages, hidden)
        self.embeddings = nn.Embedding(sizes.tokens, hidden)
        self.layer_norm_emb = nn.LayerNorm(hidden, EPSILON)
        count = range(sizes.layers)
        self.attentions: Any = nn.ModuleList(MultiHeadAttention(sizes) for _ in count)
        self.layer_norm1: Any = nn.ModuleList(nn.LayerNorm(hidden, EPSILON) for _ in count)
        if decoder:
            self.layer_norm15: Any = nn.ModuleList(nn.LayerNorm(hidden, EPSILON) for _ in count)
            self.encoder_attn: Any = nn.ModuleList(MultiHeadAttention(sizes) for _ in count)
        self.ffns: Any = nn.ModuleList(FeedForward(hidden) for _ in count)
        self.layer_norm2: Any = nn.ModuleList(nn.LayerNorm(hidden, EPSILON) for _ in count)
        self.decodes = decoder
        for module in self.modules():
            if isinstance(module, nn.Embedding):
                nn.init.normal_(module.weight, std=hidden**-0.5)
        with torch.no_grad():
            self.embeddings.weight[sizes.pad] = 0

    def forward(
        self,
        ids: Tensor,
        languages: Tensor | None = None,
        positions: Tensor | None = None,
        lengths: Tensor | None = None,
        *,
        causal: bool = False,
        token_indices: Tensor | None = None,
        memory: EncoderMemory | None = None,
        cache: Cache | None = None,
    ) -> Tensor:
        """States of the top layer (sentences, time, hidden), or of some tokens of the batch (tokens, hidden)."""
        return self.states(ids, languages, positions, lengths, causal, token_indices, memory, cache)[-1]

    def states(
        self,
        ids: Tensor,
        languages: Tensor | None = None,
        positions: Tensor | None = None,
        lengths: Tensor | None = None,
        causal: bool = False,
        token_indices: Tensor | None = None,
        memory: EncoderMemory | None = None,
        cache: Cache | None = None,
    ) -> Sequence[Tensor]:
        """The states of all layers, first what they read.

        Parameters
        ----------
        ids : Tensor
            Tokens (sentences, time), padded at the end; with a cache, those that were not read yet.
        languages, positions : Tensor or None
            Their languages and positions, of a shape that broadcasts to that of ids; by default no language, and
            positions from 0.
        lengths : Tensor or None
            Of the sentences; None: there is no padding.
        causal : bool
            Whether a token sees those before it only.
        token_indices : Tensor or None
            Indices in the flattened batch of the tokens whose states in the top layer are returned, ascending; the
            others are not computed where they are not needed.
        memory : EncoderMemory or None
            What a decoder reads.
        cache : Cache or None
            What it has read.
        """
        rate = self.sizes.dropout if self.training else 0.0
        begin = cache.length if cache else 0
        if positions is None:
            positions = torch.arange(begin, begin + ids.shape[1], device=ids.device)
        inputs = self.embeddings(ids) + self.position_embeddings(positions)
        if languages is not None and self.sizes.languages:
            inputs = inputs + self.lang_embeddings(languages)
        states = drop(self.layer_norm_emb(inputs), rate)
        mask = None if lengths is None else ~padding_mask(lengths, ids.shape[1])[:, None, None]
        if cache is not None:
            mask, cache.length = None, cache.length + ids.shape[1]
        memory_mask = None
        if memory is not None and memory.lengths is not None:
            memory_mask = ~padding_mask(memory.lengths, memory.states.shape[1])[:, None, None]
        layers = [states]
        for i in range(self.sizes.layers):
            selects = token_indices is not None and i == self.sizes.layers - 1 and not self.decodes
            queries = QueryTokens.of(token_indices, *ids.shape) if token_indices is not None and selects else None
            mixed = self.attentions[i](states, mask, causal, queries, None, cache)
            if token_indices is not None and selects:
                states = states.flatten(0, 1)[token_indices]
            states = self.layer_norm1[i](states + drop(mixed, rate))
            if memory is not None:
                mixed = self.encoder_attn[i](states, memory_mask, memory=memory.states, cache=cache)
                states = self.layer_norm15[i](states + drop(mixed, rate))
            states = self.layer_norm2[i](states + drop(self.ffns[i](states), rate))
            layers.append(states)
        if token_indices is not None and states.dim() == 3:
            layers[-1] = states.flatten(0, 1)[token_indices]
        return layers
