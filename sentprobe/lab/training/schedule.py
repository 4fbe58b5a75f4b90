"""The options of training, and the learning rate and the end of training that follow from them.

The state of a schedule is small, and written with that of training.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from sentprobe.core.arguments import Setting, did_you_mean
from sentprobe.errors import UsageError

OPTIMISERS = ("sgd", "adam", "adagrad", "adadelta", "rmsprop")


@dataclass(frozen=True)
class TrainingOptions:
    """Options that all objectives have; an objective or a preset may have other defaults."""

    optimiser: str = "adam"
    lr: float = 1e-3
    momentum: float = 0.0
    """Of SGD."""
    batch: int = 64
    """Examples per step, over all processes."""
    clip: float = 5.0
    """The largest norm of a gradient; 0 for no limit."""
    clip_lr: bool = False
    """Whether clipping scales the learning rate of the step, as InferSent's code does, and not the gradient."""
    epochs: int = 20
    """At most."""
    decay: float = 1.0
    """The factor of the learning rate from one epoch to the next, from the second one on."""
    shrink: float = 1.0
    """What the learning rate is divided by after an epoch that is not better on dev."""
    min_lr: float = 0.0
    """Training stops when the learning rate falls below it."""
    patience: int = 0
    """Training stops after this many epochs that are not better on dev; 0: never."""
    consecutive: bool = True
    """Whether these epochs have to follow each other."""
    warmup: int = 0
    """Steps in which the learning rate rises from 0; after them it falls with the inverse square root of the step."""
    every: int = 0
    """Steps between further checkpoints; 0: only after epochs."""
    seed: int = 1111

    def __post_init__(self) -> None:
        for name, setting in SETTINGS.items():
            object.__setattr__(self, name, setting.parse(f"--{name.replace('_', '-')}", getattr(self, name)))

    def with_values(self, values: dict[str, Any], what: str) -> TrainingOptions:
        """These options with other values."""
        names = [f.name for f in fields(self)]
        if unknown := sorted(set(values) - set(names)):
            raise UsageError(
                f"There is no option {unknown[0]!r} of training ({what}).{did_you_mean(unknown[0], names)}"
            )
        return replace(self, **values)


SETTINGS: dict[str, Setting] = {
    "optimiser": Setting("adam", "the optimiser", choices=OPTIMISERS),
    "lr": Setting(1e-3, "the learning rate", low=0),
    "momentum": Setting(0.0, "momentum of SGD", low=0, high=0.9999),
    "batch": Setting(64, "examples per step"),
    "clip": Setting(5.0, "the largest norm of a gradient; 0 for no limit", low=0),
    "clip_lr": Setting(False, "clip by the learning rate"),
    "epochs": Setting(20, "epochs at most", low=0),
    "decay": Setting(1.0, "factor of the learning rate per epoch", low=0, high=1),
    "shrink": Setting(1.0, "what the learning rate is divided by after an epoch without gain"),
    "min_lr": Setting(0.0, "stop below this learning rate", low=0),
    "patience": Setting(0, "epochs without gain before training stops; 0: never", low=0),
    "consecutive": Setting(True, "whether these follow each other"),
    "warmup": Setting(0, "steps of warm-up", low=0),
    "every": Setting(0, "steps between further checkpoints; 0: none", low=0),
    "seed": Setting(1111, "the seed", low=0, high=2**31 - 1),
}
"""The type and range of each option."""


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
        # as AdamInverseSqrtWithWarmup of XLM, which has it from fairseq
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
        """Take the state of a checkpoint."""
        for key, value in state.items():
            setattr(self, key, value)
        self.stopped = why_stopped(state, self.options.patience)


def why_stopped(state: Mapping[str, Any], patience: int) -> str:
    """Why training has ended, or nothing: with more patience than before, it is resumed."""
    reason = str(state.get("stopped", ""))
    has_patience = not patience or state.get("without_gain", 0) < patience
    return "" if has_patience and reason.endswith(WITHOUT_GAIN) else reason
