"""What ``hf:`` and ``st:`` do with tokenizers and hidden states: count tokens, pool, and find the longest input."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from sentprobe.core.words import replace_surrogates
from sentprobe.encoders import hub
from sentprobe.encoders.identity import Spec
from sentprobe.errors import UsageError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    FloatArray = npt.NDArray[np.float32]

MAX_BATCH_TOKENS = 64 * 512
"""Maximum number of tokens, padding included, in one forward pass."""


def pool(torch: Any, hidden: Any, mask: Any, how: str) -> Any:
    """Pool hidden states (n, tokens, d) under a mask (n, tokens) to (n, d), by one of the poolings of ``hf:``.

    Padding may be on either side; every text has at least one token.
    """
    if how == "mean":
        return hidden.masked_fill(~mask[:, :, None], 0).sum(1) / mask.sum(1, keepdim=True)
    if how == "weightedmean":  # Muennighoff 2022: token i of a text has the weight i, since it has seen i tokens
        weights = (mask.cumsum(1) * mask)[:, :, None].float()
        return (hidden.masked_fill(~mask[:, :, None], 0) * weights).sum(1) / weights.sum(1)
    if how == "max":
        return hidden.masked_fill(~mask[:, :, None], float("-inf")).amax(1)
    ones = mask.long()
    at = ones.argmax(1) if how == "cls" else mask.shape[1] - 1 - ones.flip(1).argmax(1)
    return hidden[torch.arange(len(hidden), device=hidden.device), at]


def spans(lengths: Sequence[int]) -> Iterator[slice]:
    """Runs of texts for one forward pass each: a long list or a long context must not exhaust the memory."""
    start = max_length = 0
    for i, length in enumerate(lengths):
        if i > start and max(max_length, length) * (i + 1 - start) > MAX_BATCH_TOKENS:
            yield slice(start, i)
            start, max_length = i, 0
        max_length = max(max_length, length)
    if lengths:
        yield slice(start, len(lengths))


def count_tokens(tokenizer: Any, texts: Sequence[str], *, max_length: int, prompt: str = "") -> list[int]:
    """The number of tokens of each text after truncation, at least 1."""
    prompted = [prompt + replace_surrogates(text) for text in texts]
    less = {"return_attention_mask": False, "return_token_type_ids": False, "verbose": False}
    subwords = tokenizer(prompted, truncation=True, max_length=max_length, **less)["input_ids"] if prompted else []
    return [max(1, len(ids)) for ids in subwords]


def input_embeddings(tokenizer: Any, table: Any, words: Sequence[str]) -> FloatArray:
    """The mean of the rows of an embedding table over each word's subwords, without special tokens (words, d)."""
    torch = hub.import_optional("torch")
    subwords = tokenizer(list(words), add_special_tokens=False, verbose=False)["input_ids"] if words else []
    sizes = torch.tensor([len(ids) for ids in subwords], dtype=torch.long)
    with torch.inference_mode():
        flat = torch.tensor([i for ids in subwords for i in ids], dtype=torch.long, device=table.weight.device)
        rows = table.weight[flat].float().cpu()
        sums = torch.zeros(len(subwords), rows.shape[1]).index_add_(
            0, torch.arange(len(subwords)).repeat_interleave(sizes), rows
        )
        vectors: FloatArray = (sums / sizes.clamp(min=1)[:, None]).numpy()
    return vectors


def first_special_token_id(tokenizer: Any, *roles: str) -> int:
    """The id of the first of these special tokens that the tokenizer has; 0 if it has none of them."""
    ids = (getattr(tokenizer, f"{role}_token_id", None) for role in roles)
    return next((i for i in ids if i is not None), 0)


def parse_layers(spec: Spec, text: str, depth: int, expected: str) -> tuple[int, ...]:
    """The layers that ``text`` names, of ``depth`` in all: in this order, each once, counted from 0."""
    indices: list[int] = []
    for part in ("0..-1" if text == "*" else text).split(","):
        if not (ends := re.fullmatch(r"(-?\d+)(?:\.\.(-?\d+))?", part)):
            raise UsageError(f"{spec} has layer={text}; expected {expected}.")
        low, high = int(ends[1]), int(ends[2] or ends[1])
        if not (-depth <= low < depth and -depth <= high < depth and low % depth <= high % depth):
            raise UsageError(
                f"{spec} has layer={part}; this model has layers 0..{depth - 1}, and a range is ascending."
            )
        indices += range(low % depth, high % depth + 1)
    return tuple(dict.fromkeys(indices))


def resolve_max_length(spec: Spec, tokenizer: Any, model: Any, requested: int | None) -> int:
    """The length in tokens to which texts are truncated."""
    positions = getattr(model.config, "max_position_embeddings", None) or 0
    for module in model.modules():
        table: Any = getattr(module, "position_embeddings", None)
        if getattr(table, "padding_idx", None) is not None:  # RoBERTa and similar models count positions from there
            positions = table.num_embeddings - table.padding_idx - 1
    least = tokenizer.num_special_tokens_to_add() + 1
    if requested is not None and (requested < least or 0 < positions < requested):
        most = positions if positions > 0 else "any number"
        raise UsageError(f"{spec} has max={requested}; this model takes {least} to {most} tokens.")
    # a tokenizer without a limit has 1e30
    limits = [n for n in (tokenizer.model_max_length, positions) if 0 < n < 1e9]
    return requested or int(min(limits, default=512))
