"""Probes as a callback of transformers' ``Trainer``."""

# ruff: noqa: ARG002 - the library calls these methods with arguments by name

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from transformers import TrainerCallback

from sentprobe.callbacks.monitor import TrainingMonitor
from sentprobe.core.arguments import check_integer

BATCH = 32
PREFIX = "probing/"
"""Of the names in the trainer's logs."""

EncodeModel = Callable[[Any, Sequence[str]], Any]


class SentProbeCallback(TrainerCallback):
    """Probe the model of a ``Trainer`` every epoch, or every so many steps, and report the scores to its logs.

    Parameters
    ----------
    trainer
        The trainer, which the callback is then added to: ``trainer.add_callback(SentProbeCallback(trainer, …))``.
    sets, folder, options
        As for ``TrainingMonitor``.
    every
        Probe after this many steps. Default: after each epoch.
    encode
        A function from the model and a list of texts to vectors. Default: the mean of the last hidden states over the
        tokens, without special tokens' padding, of the body of the model.
    """

    def __init__(
        self,
        trainer: Any,
        sets: Any,
        folder: Any,
        *,
        every: int | None = None,
        encode: EncodeModel | None = None,
        **options: Any,
    ) -> None:
        if every is not None:
            check_integer(every, "a number of steps (every)", 1)
        self.trainer, self.every = trainer, every
        self.monitor = TrainingMonitor(sets, folder, **options)
        self.encode = encode or self._mean_of_states
        self._last_step = -1

    def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Probe after every so many steps."""
        if self.every is not None and state.global_step % self.every == 0:
            self._probe(state, kwargs["model"])

    def on_epoch_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Probe after an epoch."""
        if self.every is None:
            self._probe(state, kwargs["model"])

    def on_train_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Probe the trained model with intervals, and say what probing has cost."""
        self._probe(state, kwargs["model"], final=True)
        if state.is_world_process_zero:
            self.trainer.log({f"{PREFIX}share_of_time": round(self.monitor.share, 4)})

    def _probe(self, state: Any, model: Any, *, final: bool = False) -> None:
        if not state.is_world_process_zero or (state.global_step == self._last_step and not final):
            return
        self._last_step = state.global_step
        with _evaluating(model):
            scores = self.monitor.probe(lambda texts: self.encode(model, texts), state.global_step, final=final)
        if scores:
            self.trainer.log({f"{PREFIX}{name}": score for name, score in scores.items()})

    def _mean_of_states(self, model: Any, texts: Sequence[str]) -> Any:
        """The mean of the last hidden states over the tokens of each text."""
        tokenizer = self.trainer.processing_class
        body = getattr(model, getattr(model, "base_model_prefix", ""), model)
        vectors = []
        for start in range(0, len(texts), BATCH):
            batch = tokenizer(list(texts[start : start + BATCH]), return_tensors="pt", padding=True, truncation=True)
            batch = {name: values.to(model.device) for name, values in batch.items()}
            states = body(**batch).last_hidden_state.float()
            mask = batch["attention_mask"].unsqueeze(-1).float()
            vectors.append(((states * mask).sum(1) / mask.sum(1).clamp(min=1)).cpu().numpy())
        return np.concatenate(vectors)


@contextmanager
def _evaluating(model: Any) -> Iterator[None]:
    """The model without dropout and gradients; the mode of each module, and torch's generators, are restored."""
    modes = [(module, module.training) for module in model.modules()]  # some may be frozen in a model that is trained
    model.eval()
    try:
        with torch.no_grad(), torch.random.fork_rng(enabled=True):
            yield
    finally:
        for module, training in modes:
            module.training = training
