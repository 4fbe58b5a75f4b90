"""What an objective is: what an encoder is trained for, and how its data become batches and a loss."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from sentprobe.core.arguments import Setting, Value

if TYPE_CHECKING:
    from torch import Tensor, nn

    from sentprobe.lab.training.plan import EncoderInputs, TrainingPlan
    from sentprobe.lab.training.streams import Stream


class Loss(NamedTuple):
    """What the forward pass of a model returns for a batch."""

    total: Tensor
    """The sum over what is counted; the gradient is that of the mean."""
    units: int
    """Sentences, or target tokens."""
    words: int
    """Words read, on all sides, for the speed."""


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
    """What an encoder is trained for."""

    name: str
    """What users type: ``nli``."""
    summary: str
    """One line."""
    data: str
    """The data it needs, in a few words, for lists and messages."""
    prepare: Callable[[TrainingPlan], Prepared]
    """Read the data and build the model."""
    settings: Mapping[str, Setting] = field(default_factory=dict)
    """Its own settings, such as the units of its classifier; no name is also that of a setting of an architecture."""
    optimisers: Mapping[str, Mapping[str, Any]] = field(default_factory=lambda: {"adam": {}})
    """Options of training that differ from the general defaults (lr, batch, …), by optimiser; the first is used."""
    trains: bool = True
    """Whether it needs data at all."""
    needs_dev: bool = True
    """Whether it needs dev data, or training rows held out, to choose a checkpoint."""
    plans_epochs: bool = False
    """Whether its learning rate depends on the number of epochs that are to come, so that none can be added later."""
    encoder: str = ""
    """The architecture that is meant if none is named."""
    implied: Callable[[Mapping[str, Value]], Mapping[str, Value]] = lambda _: {}
    """Defaults of settings that follow from those given: the sizes of a model that training starts from."""
    order: int = 0
