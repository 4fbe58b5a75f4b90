"""The learning rate, and when to stop: a small state that is kept in checkpoints."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from sentprobe.lab.training.options import TrainingOptions

WITHOUT_GAIN = "without gain"
"""How a reason to stop ends if it is patience that was exceeded."""


@dataclass
class Schedule:
    """Where training is in its schedule."""

    options: TrainingOptions
    maximise: bool
    lr: float
    """The base learning rate of this epoch."""
    best: float | None = None
    """The best score on dev."""
    best_epoch: int = 0
    without_gain: int = 0
    """Epochs without gain, in a row or in all."""
    stopped: str = ""
    """Why training has ended, or nothing."""
    first_loss: float | None = None
    """The loss of the first step, before anything is learned."""

    @classmethod
    def start(cls, options: TrainingOptions, maximise: bool) -> Schedule:
        """The state before the first epoch."""
        return cls(options, maximise, options.lr)

    def begin_epoch(self, epoch: int) -> None:
        """Epochs are counted from 1; InferSent's decay begins with the second."""
        if epoch > 1:
            self.lr *= self.options.decay

    def step_lr(self, step: int) -> float:
        """The learning rate of a step, counted from 1."""
        warmup = self.options.warmup
        if not warmup:
            return self.lr
        return self.lr * (step / warmup if step < warmup else math.sqrt(warmup / step))

    def end_epoch(self, epoch: int, score: float | None) -> bool:
        """Take the score on dev, and decide whether to stop; returns whether it is the best so far."""
        options = self.options
        better = score is not None and (
            self.best is None or (score > self.best if self.maximise else score < self.best)
        )
        if better:
            self.best, self.best_epoch = score, epoch
            if options.consecutive:
                self.without_gain = 0
        elif score is not None:
            self.without_gain += 1
            self.lr /= options.shrink
            if options.patience and self.without_gain >= options.patience:
                epochs = f"{self.without_gain} epoch{'s' * (self.without_gain != 1)}"
                self.stopped = f"{epochs} {WITHOUT_GAIN}"
        # as in InferSent, an epoch that is better does not end training, however low its learning rate
        if not better and self.lr < options.min_lr:
            self.stopped = f"the learning rate fell below {options.min_lr:g}"
        return better

    def state(self) -> dict[str, object]:
        """What a checkpoint keeps."""
        return {key: value for key, value in asdict(self).items() if key not in ("options", "maximise")}

    def restore(self, state: dict[str, object]) -> None:
        """Go on from a checkpoint."""
        for key, value in state.items():
            setattr(self, key, value)
        self.stopped = why_stopped(state, self.options.patience)


def why_stopped(state: Mapping[str, Any], patience: int) -> str:
    """Why training has ended, or nothing; with more patience than before, it goes on."""
    reason = str(state.get("stopped", ""))
    has_patience = not patience or state.get("without_gain", 0) < patience
    return "" if has_patience and reason.endswith(WITHOUT_GAIN) else reason
