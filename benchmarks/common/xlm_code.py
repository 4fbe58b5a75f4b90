"""XLM's own training code, made to run on a CPU: what `sentprobe train mlm` is measured beside.

A checkout of https://github.com/facebookresearch/XLM at commit cd281d3 is copied, calls of CUDA and apex are taken out,
and masks, arguments of Adam and ``getargspec`` are as today's torch and Python want them. None of it changes what is
computed, or how fast.
"""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

REPLACED = (
    (r"^import apex$", ""),
    (r"\.cuda\(\)", ""),
    (r"torch\.uint8", "torch.bool"),
    (r"np\.uint8", "np.bool_"),
    (r"inspect\.getargspec\(", "inspect.getfullargspec("),
    (
        r"add_\((1 - beta1|-step_size|group\['weight_decay'\] \* group\['lr'\]), (\w+(?:\.data)?)\)",
        r"add_(\2, alpha=\1)",
    ),
    (r"addcmul_\((1 - beta2), (\w+), (\w+)\)", r"addcmul_(\2, \3, value=\1)"),
    (r"addcdiv_\((-step_size), (\w+), (\w+)\)", r"addcdiv_(\2, \3, value=\1)"),
)
"""In every file: patterns and what stands in their place."""


def copy_patched(checkout: Path, folder: Path) -> None:
    """Copy the package."""
    for file in sorted((checkout / "xlm").rglob("*.py")):
        source = file.read_text("utf-8")
        for pattern, by in REPLACED:
            source = re.sub(pattern, by, source, flags=re.MULTILINE)
        copy = folder / file.relative_to(checkout)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text(source, "utf-8")


def mlm_step(folder: Path, tokens: Any, counts: Any, sizes: SimpleNamespace) -> Callable[[], None]:
    """A function that makes one step of its MLM training on the next batch of a stream of tokens.

    ``sizes`` are tokens in the vocabulary, hidden, layers, heads, batch (streams) and length.
    """
    import numpy as np
    import torch

    sys.path.insert(0, str(folder))
    trainer, model, dataset, optim = (
        importlib.import_module(f"xlm.{name}") for name in ("trainer", "model.transformer", "data.dataset", "optim")
    )
    params = SimpleNamespace(
        n_langs=2, n_words=sizes.tokens, eos_index=1, pad_index=2, mask_index=4, id2lang={0: "en", 1: "fr"},
        lang2id={"en": 0, "fr": 1}, emb_dim=sizes.hidden, n_heads=sizes.heads, n_layers=sizes.layers, dropout=0.1,
        attention_dropout=0.1, sinusoidal_embeddings=False, gelu_activation=True, asm=False, share_inout_emb=True,
        word_pred=0.15, sample_alpha=0.5, fp16=False, amp=-1, clip_grad_norm=5, encoder_only=True, bptt=sizes.length,
        batch_size=sizes.batch, pred_probs=torch.tensor([0.8, 0.1, 0.1]),
    )  # fmt: skip
    params.mask_scores = np.maximum(counts, 1) ** -params.sample_alpha
    params.mask_scores[:5] = 0
    network = model.TransformerModel(params, range(sizes.tokens), is_encoder=True, with_output=True)
    own = trainer.SingleTrainer.__new__(trainer.SingleTrainer)
    own.params, own.model, own.n_sentences = params, network, 0
    own.parameters = {"model": [p for p in network.parameters() if p.requires_grad]}
    own.optimizers = {"model": optim.get_optimizer(own.parameters["model"], "adam_inverse_sqrt,lr=0.0005")}
    own.stats = {"MLM-en": [], "processed_s": 0, "processed_w": 0}
    ends = np.flatnonzero(tokens == 1)
    places = np.stack((np.concatenate(([0], ends[:-1] + 1)), ends), 1)
    batches = dataset.StreamDataset(tokens, places, sizes.batch, params).get_iterator(shuffle=True)

    def batch(*_: Any) -> tuple[Any, ...]:
        x, lengths = next(batches)
        return x, lengths, None, torch.zeros_like(x), None

    own.generate_batch = batch
    trainer.to_cuda = lambda *values: values
    return lambda: own.mlm_step("en", None, 1)
