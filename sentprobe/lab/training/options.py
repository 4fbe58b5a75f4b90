"""How training goes on: optimiser, learning rate, batches, stopping."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
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
