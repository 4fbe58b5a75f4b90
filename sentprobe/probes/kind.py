"""What a kind of probe is, what fitting one gives, and where kinds are found.

A kind is one file with a ``ProbeKind``. Those in ``sentprobe/probes/kinds`` are built in; other packages offer theirs
as entry points of the group ``sentprobe.probes``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, Protocol, Self

from sentprobe.core.plugins import Kind, part_repr
from sentprobe.errors import DataError
from sentprobe.probes.features import Array, Features, Floats, Ints
from sentprobe.stats.training import NETWORK_GROUPS

if TYPE_CHECKING:
    from sentprobe.probes.convex import TrainingStatistics
    from sentprobe.probes.probe import Probe

COMMON_SETTINGS = ("kind", "pairs")
"""Settings of all kinds: ``pairs`` makes the vectors that a probe is given."""
Arrays = Mapping[str, Array]
Setting = bool | int | float | str | tuple[int, ...] | tuple[float, ...] | tuple[str, ...]


class Model(Protocol):
    """A trained classifier."""

    @property
    def shape(self) -> tuple[int, int]:
        """The number of classes it knows, and of dimensions it reads."""
        ...

    def scores(self, features: Features) -> Floats:
        """Log-probabilities of the classes, (n, classes)."""
        ...

    def to_arrays(self, centre: Array | None = None) -> dict[str, Array]:
        """The classifier as arrays by name; ``centre`` (d,) is a central point of the vectors it was trained on."""
        ...

    @classmethod
    def from_arrays(cls, arrays: Arrays) -> Self:
        """The classifier that was saved. DataError if the arrays are not those of one."""
        ...


@dataclass(frozen=True)
class Fit:
    """A classifier, and how it was found."""

    model: Model
    seed: int
    chosen: Mapping[str, float | int]
    """The point of the grid that dev chose: l2, and hidden and dropout where the probe has them."""
    dev: float
    """Accuracy on dev."""
    tried: Sequence[Mapping[str, Any]]
    """The points of the grid that were tried: settings, accuracy and loss on dev, and passes over the training rows."""
    candidates: Sequence[Model] = ()
    """The classifier of each of these points."""


def check_arrays(valid: bool, arrays: Arrays) -> None:
    """Raise DataError, with the shapes of the arrays, if they are not valid for a model."""
    if not valid:
        shapes = ", ".join(f"{name} {array.shape}" for name, array in arrays.items()) or "none"
        raise DataError(f"These are not the arrays of a probe: got {shapes}; expected what `to_arrays` returns.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Preset:
    """A probe that has a name: settings of its kind, and what the docs say about it."""

    name: str
    summary: str
    """What it is, in the docs and in ``sentprobe ls probes``."""
    chosen_on_dev: str = ""
    """Which settings dev chooses."""
    settings: Mapping[str, Setting] = field(default_factory=dict)
    """Settings of ``Probe`` that differ from the defaults."""
    version: int = 1
    """Raised whenever the settings change, as ``ProbeKind.version`` is."""


class Fitter(Protocol):
    """The function that fits a probe of some kind, once per seed."""

    def __call__(
        self,
        probe: Probe,
        train: Features,
        labels: Ints,
        dev: Features,
        dev_labels: Ints,
        classes: int,
        /,
        *,
        seeds: Sequence[int],
        device: str | None,
        statistics: TrainingStatistics | None,
    ) -> list[Fit]:
        """One fit per seed. ``labels`` are 0 … classes - 1; a dev label of -1 is not in train, and always a miss.

        Without ``device``, on the CPU without torch. ``statistics`` are given only to kinds that use them.
        """
        ...


class Resampler(Protocol):
    """The function that trains a probe again without parts of its training rows."""

    def __call__(
        self,
        probe: Probe,
        fitted: Fit,
        train: Features,
        labels: Ints,
        dev: Features,
        dev_labels: Ints,
        classes: int,
        groups: Ints,
        /,
        *,
        statistics: TrainingStatistics | None,
        device: str | None,
    ) -> Iterator[Model]:
        """The model without each group of each round, at the settings of ``fitted``; ``groups`` are (rounds, n)."""
        ...


class Refitter(Protocol):
    """The function that fits one point of the grid where there is no dev."""

    def __call__(
        self, probe: Probe, train: Features, labels: Ints, classes: int, /, *, seed: int, device: str | None
    ) -> Model:
        """The model; rows that training has to be stopped on are taken from ``train``."""
        ...


def select_first_best(probe: Probe, accuracies: Sequence[float], losses: Sequence[float]) -> int:
    """The index of the best point of the grid on dev, the first of several; accuracies are rounded as in SentEval."""
    by_accuracy = probe.watch == "accuracy"
    scores = [round(100 * a, 2) for a in accuracies] if by_accuracy else [-loss for loss in losses]
    return max(range(len(scores)), key=lambda i: (-math.inf if math.isnan(scores[i]) else scores[i], -i))


def _nothing(probe: Probe) -> Mapping[str, str]:
    return {}


def _accept(probe: Probe) -> None:
    return None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ProbeKind:
    """A kind of probe: how it is fitted, saved and resampled, the settings it reads, and its presets.

    Parameters
    ----------
    name
        As in ``Probe(kind=…)``.
    summary
        What it is, in one line; the docs and ``sentprobe ls probes`` show it.
    settings
        The settings of ``Probe`` that it reads. Others are refused when typed, apart from ``pairs``, which is decided
        before a probe is given its vectors.
    fit
        Fits the grid, once per seed.
    model
        The class of its models, which says how they are saved and loaded.
    presets
        The probes of this kind that have a name.
    order
        The place of a built-in kind in lists.
    version
        Raised whenever its results change: a resumed run then computes them again. It is in the signature from 2 on.
    ignores
        Why the settings that it does not read have no effect.
    unused
        Settings that it reads, but that have no effect given the others of a probe, and why.
    check
        Raises UsageError for a probe that it cannot train.
    select_best
        Which point of a grid dev chooses, from the accuracy and the loss of each.
    leave_groups_out
        Trains a probe again without groups of its training rows; by default, with ``fit`` at the chosen settings.
    refit
        Fits one point of the grid without dev; by default, ``fit`` with dev rows that decide nothing.
    groups
        Into how many groups training rows are divided to be left out in turn. See ``sentprobe.stats.training``.
    resamples
        How many probes are trained again by default; a multiple of ``groups``.
    seeded
        Whether the result depends on the seed.
    uses_statistics
        Whether ``fit`` saves time with the ``TrainingStatistics`` of the rows.
    marker
        An array that all its saved models have, and no models of other kinds. Without one, an array ``kind`` with the
        name of the kind is saved with the others.

    Examples
    --------
    >>> from sentprobe.probes.kind import PROBE_KINDS
    >>> PROBE_KINDS.get("convex")
    ProbeKind('convex')
    >>> [preset.name for preset in PROBE_KINDS.get("convex").presets]
    ['linear']
    """

    name: str
    summary: str
    settings: tuple[str, ...]
    fit: Fitter
    model: type[Model]
    presets: tuple[Preset, ...] = ()
    order: int = 0
    version: int = 1
    ignores: str = "this kind of probe does not read it"
    unused: Callable[[Probe], Mapping[str, str]] = _nothing
    check: Callable[[Probe], None] = _accept
    select_best: Callable[[Probe, Sequence[float], Sequence[float]], int] = select_first_best
    leave_groups_out: Resampler | None = None
    refit: Refitter | None = None
    groups: int = NETWORK_GROUPS
    resamples: int = 10
    seeded: bool = True
    uses_statistics: bool = False
    marker: str = ""

    __repr__ = part_repr

    def without_effect(self, probe: Probe) -> dict[str, str]:
        """The settings that have no effect on a probe of this kind, and why."""
        ignored = {f.name: self.ignores for f in fields(probe) if f.name not in (*COMMON_SETTINGS, *self.settings)}
        return {**ignored, **self.unused(probe)}


PROBE_KINDS: Kind[ProbeKind] = Kind("probe", "sentprobe.probes.kinds", ProbeKind)
"""The kinds of probes, by name."""


def kind_of(probe: Probe) -> ProbeKind:
    """The kind of a probe."""
    return PROBE_KINDS.parts()[probe.kind]
