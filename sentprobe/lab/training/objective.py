"""What an objective and a preset are: what an encoder is trained for, and the encoders of a paper."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from sentprobe.core.arguments import Setting, Value
from sentprobe.core.plugins import part_repr

if TYPE_CHECKING:
    from torch import Tensor, nn

    from sentprobe.lab.training.examples import Stream
    from sentprobe.lab.training.plan import EncoderInputs, TrainingPlan


class Loss(NamedTuple):
    """What the forward pass of a model returns for a batch."""

    total: Tensor
    """The sum over what is counted; the gradient is that of the mean."""
    units: int
    """Sentences, or target tokens."""
    words: int
    """Words read, on all sides, for the speed."""


class Chance(NamedTuple):
    """What a score on dev is for a model that has learned nothing."""

    limit: float
    """No better than this is chance."""
    maximise: bool = True
    """Whether a higher score is better."""

    def includes(self, score: float) -> bool:
        """Whether a score is no better than chance."""
        return score <= self.limit if self.maximise else score >= self.limit


FEWEST_ROWS = 20
"""In fewer rows of dev, what is chance cannot be told."""


def guessing(share: float, rows: int) -> Chance:
    """What guesses get in percent: right for a share of all rows, and by luck for 1.6 standard errors more (95 %).

    In a handful of rows, no score counts as chance.
    """
    if rows < FEWEST_ROWS:
        return Chance(-math.inf)
    return Chance(100 * (share + 1.645 * math.sqrt(share * (1 - share) / rows)))


def perplexity_of(total: float, units: int) -> float:
    """The perplexity per unit of a summed cross-entropy; infinite where it is too large for a number."""
    mean = total / max(1, units)  # exp of more than 709 is an OverflowError
    return math.exp(mean) if mean < math.log(1e300) else math.inf


@dataclass(frozen=True, eq=False)
class Prepared:
    """An objective with its data: all that the loop needs."""

    model: nn.Module
    """Called with a batch, returns a Loss. Its attribute ``encoder`` is the SentenceEncoder; what else has weights is
    kept in checkpoints, too. Parameters that do not require gradients are left as they are."""
    streams: tuple[Stream, ...]
    """Where batches come from; none if nothing is trained."""
    evaluate: Callable[[], Mapping[str, float]]
    """Scores on dev of the model as it is, by name."""
    selection: str
    """The score by which the best checkpoint is chosen; empty if there is none."""
    inputs: EncoderInputs
    """The words of the encoder, and their vectors."""
    maximise: bool = True
    """Whether a higher score is better."""
    chance: Mapping[str, Chance] = field(default_factory=dict)
    """By name, what scores are without any knowledge: the loop warns where they are still so after some epochs."""
    facts: Mapping[str, Any] = field(default_factory=dict)
    """What the model card says beyond the counts of rows, by name: the size of the target vocabulary, …"""
    update: Callable[[Any, float], Loss] | None = None
    """Instead of a gradient step: changes the model itself, given a batch and the learning rate. Everything that the
    next call depends on is in the model's buffers, so that training can be resumed."""
    files: Mapping[str, bytes] = field(default_factory=dict)
    """Further files of the folder by name, such as the tokenizer of the target side."""
    transformers: Mapping[str, Any] = field(default_factory=dict)
    """If `transformers` can load the model: what its configuration has. Then the folder, with the best weights, and
    each checkpoint have all files that it needs."""


@dataclass(frozen=True)
class Objective:
    """What an encoder is trained for.

    Parameters
    ----------
    name
        What users type: ``nli``.
    summary
        One line.
    data
        The data it needs, in a few words, for lists and messages.
    prepare
        Read the data and build the model.
    settings
        Its own settings, such as the units of its classifier; no name is also that of a setting of an architecture.
    optimisers
        Options of training that differ from the general defaults (lr, batch, …), by optimiser; the first is used.
    trains
        Whether it needs data at all.
    needs_dev
        Whether it needs dev data, or training rows held out, to choose a checkpoint.
    plans_epochs
        Whether its learning rate depends on the number of epochs that are to come, so that none can be added later.
    encoder
        The architecture if none is named.
    implied
        Defaults of settings that follow from those typed: the sizes of a model that training starts from.
    order
        Its place in lists.

    Examples
    --------
    >>> from sentprobe.lab.training import OBJECTIVES
    >>> OBJECTIVES.get("nli"), OBJECTIVES.get("nli").encoder
    (Objective('nli'), ...)
    """

    name: str
    summary: str
    data: str
    prepare: Callable[[TrainingPlan], Prepared]
    settings: Mapping[str, Setting] = field(default_factory=dict)
    optimisers: Mapping[str, Mapping[str, Any]] = field(default_factory=lambda: {"adam": {}})
    trains: bool = True
    needs_dev: bool = True
    plans_epochs: bool = False
    encoder: str = ""
    implied: Callable[[Mapping[str, Value]], Mapping[str, Value]] = lambda _: {}
    order: int = 0

    __repr__ = part_repr


@dataclass(frozen=True)
class TrainingPreset:
    """An encoder of a paper.

    Parameters
    ----------
    name
        What users type: ``conneau2018/bilstm-max``.
    summary
        One line.
    encoder
        The name of an architecture.
    settings
        Its sizes, complete where the paper prints them.
    training
        Options of training by name.
    objective
        What the paper trains this encoder for: names of objectives, with settings that are not their defaults.
    inputs
        Options of word vectors by name: ``width`` of learned ones, ``projection``.
    objective_training
        Options of training that are others for an objective.
    fine_tune
        Objectives for which given word vectors are changed.
    paper
        Authors, year and title.
    size
        Dimensions of a sentence vector, if the paper prints them.
    parameters
        How many the paper prints, rounded, without word vectors; sizes that it prints may not agree with them.
    order
        Its place in lists.

    Examples
    --------
    >>> from sentprobe.lab.training import PRESETS
    >>> preset = PRESETS.get("conneau2018/bilstm-max")
    >>> preset, preset.encoder, preset.size
    (TrainingPreset('conneau2018/bilstm-max'), 'bilstm-max', ...)
    """

    name: str
    summary: str
    encoder: str
    settings: Mapping[str, Value] = field(default_factory=dict)
    training: Mapping[str, Any] = field(default_factory=dict)
    objective: Mapping[str, Mapping[str, Value]] = field(default_factory=dict)
    inputs: Mapping[str, Value] = field(default_factory=dict)
    objective_training: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    fine_tune: tuple[str, ...] = ()
    paper: str = ""
    size: int | None = None
    parameters: int | None = None
    order: int = 0

    __repr__ = part_repr

    @property
    def width(self) -> int:
        """Dimensions of what the network reads: of word vectors, or of their projection."""
        return int(self.inputs.get("projection", self.inputs.get("width", 300)))
