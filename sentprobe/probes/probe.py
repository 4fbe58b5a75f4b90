"""The settings of a probe: which classifier is trained on the vectors, and how."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace
from typing import Literal, assert_never

from sentprobe.core.literals import check_literals
from sentprobe.errors import UsageError
from sentprobe.probes.kind import PROBE_KINDS

AS_INPUT = -1
"""As many hidden units as the vectors have dimensions."""

Activation = Literal["sigmoid", "relu"]
Optimiser = Literal["adam", "adagrad", "rmsprop", "sgd"]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Probe:
    """A classifier and how it is trained; tuples are a grid, of which every combination is fitted and dev chooses.

    Parameters
    ----------
    kind
        The kind of classifier: ``network`` is trained in minibatches and stopped early on dev; ``convex`` is logistic
        regression brought to the optimum of its convex loss by L-BFGS. Packages may add others. Each kind reads some
        of the settings below (``sentprobe ls probes``).
    hidden
        Units of the one hidden layer: 0 for none, which is logistic regression; -1 for as many as dimensions.
    dropout
        Dropout rates of the hidden layer.
    l2
        Weights of half the squared norm of the parameters, relative to the mean loss; ``convex`` does not penalise
        biases.
    activation
        ``sigmoid`` or ``relu``.
    drop
        Whether dropout is applied ``before`` the activation, as in SentEval, or ``after`` it.
    optimiser
        ``adam``, ``adagrad``, ``rmsprop`` or ``sgd``.
    rate
        Learning rate.
    batch
        Training rows per batch.
    every
        Epochs between two evaluations on dev.
    patience
        Evaluations on dev without improvement that are tolerated; the next one ends the training.
    reset
        Whether an improvement restores all patience. SentEval never does.
    passes
        No evaluation on dev after this many epochs; for ``convex``, reads of the rows after which a search gives up.
    watch
        What has to improve on dev, and what chooses from the grid: ``accuracy`` or ``loss``.
    standardise
        Whether each dimension is scaled to mean 0 and standard deviation 1 on the training rows.
    reduction
        Whether the loss of a batch is the ``mean`` over its rows or, as in torch before 0.4.1, the ``sum``.
    flat
        Tasks that are probed without a hidden layer, whatever ``hidden`` says.

    Raises
    ------
    UsageError
        If a setting has a value that cannot be trained with.

    Examples
    --------
    >>> from sentprobe import Probe
    >>> Probe(kind="convex", l2=(0.001, 0.01), standardise=True)
    Probe(kind='convex', l2=(0.001, 0.01), standardise=True)
    >>> Probe(hidden=(50,), patience=-1)
    Traceback (most recent call last):
      ...
    sentprobe.errors.UsageError: A probe's patience must be at least 0, got -1.

    Probes that have a name, with or without changes, are read from text:

    >>> from sentprobe.probes import parse
    >>> parse("senteval?hidden=50")
    ('senteval?hidden=50', Probe(hidden=(50,), flat=('word_content',)))
    """

    kind: str = "network"
    hidden: tuple[int, ...] = (0,)
    dropout: tuple[float, ...] = (0.0,)
    l2: tuple[float, ...] = (1e-5, 1e-4, 1e-3, 1e-2)
    activation: Activation = "sigmoid"
    drop: Literal["before", "after"] = "before"
    optimiser: Optimiser = "adam"
    rate: float = 1e-3
    batch: int = 64
    every: int = 4
    patience: int = 5
    reset: bool = False
    passes: int = 200
    watch: Literal["accuracy", "loss"] = "accuracy"
    standardise: bool = False
    reduction: Literal["mean", "sum"] = "mean"
    flat: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Refuse what cannot be trained."""
        check_literals(self, "A probe")
        least = {"rate": 0, "batch": 1, "every": 1, "patience": 0, "passes": 0}
        for name, low in least.items():
            if getattr(self, name) < low:
                raise UsageError(f"A probe's {name} must be at least {low}, got {getattr(self, name)}.")
        if not all(map(math.isfinite, (self.rate, *self.dropout, *self.l2))):
            raise UsageError(f"A probe's rate, dropout and l2 must be finite, got {self}.")
        if not (self.hidden and self.dropout and self.l2):
            raise UsageError("A probe's hidden, dropout and l2 must have at least one value each.")
        if min(self.hidden) < AS_INPUT or min(self.l2) < 0 or not all(0 <= p < 1 for p in self.dropout):
            raise UsageError(
                f"A probe's hidden units must be -1, 0 or more, its l2 0 or more and its dropout 0 or more and below "
                f"1, got {self}."
            )
        known = PROBE_KINDS.parts()
        if self.kind not in known:
            raise UsageError(f"A probe's kind must be {' or '.join(known)}, got {self.kind!r}.")
        known[self.kind].check(self)

    def __repr__(self) -> str:
        """The settings that are not the default, as they would be typed."""
        given = (f"{f.name}={getattr(self, f.name)!r}" for f in fields(self) if getattr(self, f.name) != f.default)
        return f"Probe({', '.join(given)})"

    def of_task(self, task: str) -> Probe:
        """The probe as it is used for a task."""
        return replace(self, hidden=(0,), dropout=(0.0,)) if task in self.flat and self.hidden != (0,) else self


def is_relu(activation: Activation) -> bool:
    """Whether an activation is ReLU and not sigmoid; every engine would have to implement a third."""
    match activation:
        case "relu":
            return True
        case "sigmoid":
            return False
        case _:
            assert_never(activation)
