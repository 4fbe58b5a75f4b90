"""The settings of a probe: which classifier is trained on the vectors, and how.

Probes are typed, and named in results and signatures, as ``name[?setting=value&…]``: a preset of some kind, and the
settings in which the probe differs from it.
"""

from __future__ import annotations

import difflib
import math
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import cache, lru_cache
from types import MappingProxyType
from typing import Any, Literal, assert_never, get_type_hints
from urllib.parse import quote, unquote

import msgspec

from sentprobe.core.arguments import check_literals, did_you_mean
from sentprobe.errors import SentProbeWarning, UsageError
from sentprobe.probes.kind import PROBE_KINDS, Preset, ProbeKind, kind_of

AS_INPUT = -1
"""As many hidden units as the vectors have dimensions."""

Activation = Literal["sigmoid", "relu"]
Optimiser = Literal["adam", "adagrad", "rmsprop", "sgd"]
ClassWeights = Literal["none", "balanced"]
PairFeatures = Literal["task", "two", "four"]


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
    weights
        ``balanced``: every class counts the same in the loss, and in what dev chooses by, however many rows it has,
        for classes of which one is rare; ``none``: every row does. For ``convex`` probes.
    pairs
        How the vectors u and v of two sentences are combined: ``two`` blocks, [|u − v|, u · v]; ``four`` blocks,
        [u, v, u · v, |u − v|]; or as usual for the ``task``. Every kind of probe has this setting.

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
    weights: ClassWeights = "none"
    pairs: PairFeatures = "task"

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
        kinds = PROBE_KINDS.parts()
        if self.kind not in kinds:
            raise UsageError(f"A probe's kind must be {' or '.join(kinds)}, got {self.kind!r}.")
        kinds[self.kind].check(self)

    def __repr__(self) -> str:
        """The settings that are not the default, as they would be typed."""
        changed = (f"{f.name}={getattr(self, f.name)!r}" for f in fields(self) if getattr(self, f.name) != f.default)
        return f"Probe({', '.join(changed)})"

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


def presets() -> Mapping[str, tuple[Preset, Probe]]:
    """The probes that have a name, kind by kind, and what the docs say about each."""
    return _presets(tuple(PROBE_KINDS.parts().values()))


def named(name: str) -> Probe:
    """The probe of this name. UsageError if there is none, with the nearest."""
    by_name = presets()
    if name not in by_name:
        hint = did_you_mean(name, by_name, n=1)
        raise UsageError(f"There is no probe {name!r}.{hint} Expected one of {', '.join(by_name)}.")
    return by_name[name][1]


def parse(text: str) -> tuple[str, Probe]:
    """Read a probe as it is typed.

    Parameters
    ----------
    text
        ``name[?setting=value&…]``, such as ``senteval?hidden=50,100``.

    Returns
    -------
    tuple
        The canonical text, and the probe.

    Examples
    --------
    >>> from sentprobe import load_probe
    >>> load_probe("linear?l2=1e-2,0.001")[0]
    'linear?l2=0.01,0.001'
    """
    return _parse(text, tuple(PROBE_KINDS.parts().values()))


@lru_cache(maxsize=256)
def _parse(text: str, kinds: tuple[ProbeKind, ...]) -> tuple[str, Probe]:
    """The same, given the kinds of probes that there are: all results of a run name one of a few probes."""
    name, mark, query = text.partition("?")
    preset = named(name)
    changed: dict[str, Any] = {}
    for part in query.split("&") if mark else ():
        key, equals, value = part.partition("=")
        key = unquote(key)
        if not equals or key in changed:
            raise UsageError(f"{text!r} has the option {part!r}; expected setting=value, each once, joined by &.")
        changed[key] = _value(text, key, unquote(value))
    probe = replace(preset, **changed)
    unused = kind_of(probe).without_effect(probe)
    for key in changed:
        if key in unused:
            raise UsageError(f"{text!r} changes {key}, which has no effect: {unused[key]}. Leave it out.")
    query = differences(probe, preset)
    return f"{name}?{query}" if query else name, probe


def differences(probe: Probe, reference: Probe | None = None) -> str:
    """The settings in which a probe differs from another one, or from ``Probe()``, as they would be typed."""
    reference = Probe() if reference is None else reference
    differing = [f.name for f in fields(Probe) if getattr(probe, f.name) != getattr(reference, f.name)]
    return "&".join(f"{key}={_written(getattr(probe, key))}" for key in sorted(differing))


@cache
def _presets(kinds: tuple[ProbeKind, ...]) -> Mapping[str, tuple[Preset, Probe]]:
    by_name: dict[str, tuple[Preset, Probe]] = {}
    settings_of_probes = {f.name for f in fields(Probe)} - {"kind"}
    for kind in kinds:
        read = {*kind.settings, *(name for preset in kind.presets for name in preset.settings)}
        if unknown := sorted(read - settings_of_probes):
            raise UsageError(
                f"The probe kind {kind.name} reads {unknown[0]!r}, which is not a setting of probes; expected some of "
                f"{', '.join(sorted(settings_of_probes))}."
            )
        for preset in kind.presets:
            if preset.name in by_name:
                message = f"The probe {preset.name!r} of the kind {kind.name} is left out: the name is taken."
                warnings.warn(SentProbeWarning(message), stacklevel=4)
                continue
            settings: dict[str, Any] = dict(preset.settings)
            by_name[preset.name] = preset, Probe(kind=kind.name, **settings)
    return MappingProxyType(by_name)


def _value(text: str, key: str, value: str) -> Any:
    types = get_type_hints(Probe)
    if key not in types:
        near = difflib.get_close_matches(key, types, n=1)
        hint = f" Did you mean {near[0]}?" if near else f" Expected one of {', '.join(types)}."
        raise UsageError(f"{text!r} changes {key!r}, which is not a setting of probes.{hint}")
    several = str(types[key]).startswith("tuple")
    try:
        return msgspec.convert(value.split(",") if several else value, types[key], strict=False)
    except msgspec.ValidationError as e:
        raise UsageError(f"{text!r}: {key}={value}: {e}.") from None


def _written(value: Any) -> str:
    values = value if isinstance(value, tuple) else (value,)
    return ",".join(quote(_number(v) if isinstance(v, float) else str(v).lower(), safe="") for v in values)


def _number(value: float) -> str:
    """The shortest text that is read as the same number."""
    short = f"{value:g}"
    return short if float(short) == value else repr(value)
