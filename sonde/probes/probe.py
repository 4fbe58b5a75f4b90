"""Which classifier is trained on the vectors: a plain description, and the names that the papers' choices go by."""

from __future__ import annotations

import difflib
import math
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Literal, assert_never, get_type_hints
from urllib.parse import quote, unquote

import msgspec

from sonde.core.literals import check_literals
from sonde.errors import UsageError

AS_INPUT = -1
"""As many hidden units as the vectors have dimensions."""


Kind = Literal["convex", "network"]
Activation = Literal["sigmoid", "relu"]
Optimiser = Literal["adam", "adagrad", "rmsprop", "sgd"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """A classifier and how it is trained. Tuples are a grid: every combination is fitted, and dev decides."""

    kind: Kind = "network"
    """The optimum of a convex loss, found by L-BFGS; or minibatch descent that is stopped on dev."""
    hidden: tuple[int, ...] = (0,)
    """Units of the one hidden layer: 0 for none, which is logistic regression; -1 for as many as dimensions."""
    dropout: tuple[float, ...] = (0.0,)
    l2: tuple[float, ...] = (1e-5, 1e-4, 1e-3, 1e-2)
    """Weight of half the squared norm of the parameters, against the mean loss; a convex probe spares the biases."""
    activation: Activation = "sigmoid"
    drop: Literal["before", "after"] = "before"
    """Whether dropout comes before the activation, as in SentEval, or after it."""
    optimiser: Optimiser = "adam"
    rate: float = 1e-3
    batch: int = 64
    every: int = 4
    """Passes over the training rows between two looks at dev."""
    patience: int = 5
    """Looks at dev without improvement that are borne; the next one ends the training."""
    reset: bool = False
    """Whether an improvement gives all patience back. SentEval never does."""
    passes: int = 200
    """After this many passes, no more looks."""
    watch: Literal["accuracy", "loss"] = "accuracy"
    """What must improve on dev, and what chooses among the grid."""
    standardise: bool = False
    """Whether each dimension is brought to mean 0 and deviation 1 on the training rows."""
    reduction: Literal["mean", "sum"] = "mean"
    """Whether the loss of a batch is the mean, or, as with torch before 0.4.1, the sum over its rows."""
    flat: tuple[str, ...] = ()
    """Tasks for which there is no hidden layer whatever ``hidden`` says."""

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
                f"A probe has hidden units -1, 0 or more, an L2 of 0 or more and a dropout below 1, got {self}."
            )
        if self.kind == "convex" and self.hidden != (0,):
            raise UsageError("A convex probe has no hidden layer: hidden must be 0.")

    def of_task(self, task: str) -> Probe:
        """The probe as it is used for a task."""
        return replace(self, hidden=(0,), dropout=(0.0,)) if task in self.flat and self.hidden != (0,) else self


PROBES: Mapping[str, Probe] = {
    "linear": Probe(kind="convex", standardise=True, l2=(1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0)),
    "mlp": Probe(hidden=(50, 100, 200), dropout=(0.0, 0.1, 0.2), every=2, flat=("word_content",)),
    "senteval": Probe(flat=("word_content",)),
    "conneau2018": Probe(hidden=(50, 100, 200), dropout=(0.0, 0.1, 0.2), flat=("word_content",)),
    "adi2017": Probe(
        hidden=(AS_INPUT,), activation="relu", dropout=(0.8,), drop="after", optimiser="adagrad", rate=0.01, l2=(0.0,),
        every=1, reset=True, watch="loss", passes=100,
    ),
    "xprobe2019": Probe(hidden=(150,), l2=(0.0,), batch=10, every=1, reset=True, passes=100),
}  # fmt: skip
"""The probes by name: ours, SentEval's classifier, and those of the papers.

``linear`` is the default. ``mlp`` is the grid of Conneau et al. (2018, appendix) with a look at dev after every two
passes instead of four, which halves the time; ``conneau2018`` is the same with four. ``senteval`` is SentEval's own
logistic regression; give it hidden units as in ``senteval?hidden=50``. Adi et al. (2017, appendix) stop after five
epochs without gain in dev loss; they do not say the batch size. Şahin et al. (2019) do not say when they stop.
"""


def is_relu(activation: Activation) -> bool:
    """Whether an activation is the one or the other; a third would have to be taught to every engine."""
    match activation:
        case "relu":
            return True
        case "sigmoid":
            return False
        case _:
            assert_never(activation)


def parse(text: str) -> tuple[str, Probe]:
    """``name[?field=value&…]``, such as ``senteval?hidden=50,100``: its canonical text, and the probe."""
    name, mark, query = text.partition("?")
    if name not in PROBES:
        near = difflib.get_close_matches(name, PROBES, n=1)
        hint = f" Did you mean {near[0]}?" if near else ""
        raise UsageError(f"There is no probe {name!r}.{hint} The probes are {', '.join(PROBES)}.")
    changed: dict[str, Any] = {}
    for part in query.split("&") if mark else ():
        key, equals, value = part.partition("=")
        key = unquote(key)
        if not equals or key in changed:
            raise UsageError(f"{text!r} has the option {part!r}; expected field=value, each field once, joined by &.")
        changed[key] = _value(text, key, unquote(value))
    probe = replace(PROBES[name], **changed)
    if idle := [key for key in changed if key in _idle(probe)]:
        raise UsageError(f"{text!r} changes {idle[0]}, which has no effect: {_idle(probe)[idle[0]]}. Leave it out.")
    query = differences(probe, PROBES[name])
    return f"{name}?{query}" if query else name, probe


def _idle(probe: Probe) -> dict[str, str]:
    """The fields that do nothing for a probe, and why."""
    if probe.kind == "convex":
        why = "a convex probe is brought to its optimum, and has no hidden layer"
        used = ("kind", "hidden", "l2", "watch", "standardise", "passes", "flat")
        return {f.name: why for f in fields(Probe) if f.name not in used}
    found = {}
    if probe.hidden == (0,):
        found = dict.fromkeys(("activation", "dropout", "drop", "flat"), "there is no hidden layer; add hidden=50")
    elif not any(probe.dropout):
        found["drop"] = "there is no dropout"
    return found


def differences(probe: Probe, other: Probe | None = None) -> str:
    """What sets a probe apart from another one, or from ``Probe()``, as it would be typed."""
    other = Probe() if other is None else other
    differing = [f.name for f in fields(Probe) if getattr(probe, f.name) != getattr(other, f.name)]
    return "&".join(f"{key}={_written(getattr(probe, key))}" for key in sorted(differing))


def _value(text: str, key: str, value: str) -> Any:
    kinds = get_type_hints(Probe)
    if key not in kinds:
        near = difflib.get_close_matches(key, kinds, n=1)
        hint = f" Did you mean {near[0]}?" if near else f" The fields are {', '.join(kinds)}."
        raise UsageError(f"{text!r} changes {key!r}, which no probe has.{hint}")
    several = str(kinds[key]).startswith("tuple")
    try:
        return msgspec.convert(value.split(",") if several else value, kinds[key], strict=False)
    except msgspec.ValidationError as e:
        raise UsageError(f"{text!r}: {key}={value}: {e}.") from None


def _written(value: Any) -> str:
    values = value if isinstance(value, tuple) else (value,)
    return ",".join(quote(_number(v) if isinstance(v, float) else str(v).lower(), safe="") for v in values)


def _number(value: float) -> str:
    """As short as it can be and still be the same number."""
    short = f"{value:g}"
    return short if float(short) == value else repr(value)
