"""The request of a training: what was typed, with all defaults; written to ``config.json``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from sentprobe.core.arguments import Value, check_options, resolve_settings
from sentprobe.corpus.tokenisers import tokeniser
from sentprobe.errors import UsageError
from sentprobe.lab.networks import ARCHITECTURES
from sentprobe.lab.training import OBJECTIVES, PRESETS
from sentprobe.lab.training.schedule import TrainingOptions


@dataclass(frozen=True)
class TrainingRequest:
    """All that decides what is learned."""

    objective: str
    encoder: str
    """The name of an architecture."""
    train: tuple[str, ...] = ()
    """Sources of training examples."""
    dev: tuple[str, ...] = ()
    held_out: int = 0
    """Training examples to hold out as dev, if there are no sources of dev."""
    columns: tuple[str, ...] = ()
    """Names or numbers of columns, in the order of the objective's fields."""
    vectors: str = ""
    """A file of word vectors; empty: they are learned."""
    fine_tune: bool = False
    """Whether training changes the word vectors of the file."""
    words: int = 200_000
    """The largest vocabulary."""
    width: int = 300
    """Dimensions of word vectors that are learned."""
    projection: int = 0
    tokenise: str = "simple"
    """The name of a tokeniser."""
    case: Literal["fallback", "lower", "as-is"] = "fallback"
    max_length: int = 200
    """Words; longer training examples are left out."""
    withhold: tuple[str, ...] = ()
    """Probing sets whose sentences are left out of training."""
    preset: str = ""
    encoder_settings: Mapping[str, Value] = field(default_factory=dict)
    objective_settings: Mapping[str, Value] = field(default_factory=dict)
    options: TrainingOptions = field(default_factory=TrainingOptions)

    def __post_init__(self) -> None:
        check_options(0, held_out=self.held_out, projection=self.projection)
        check_options(1, max_length=self.max_length, words=self.words, width=self.width)


def make_request(
    objective: str,
    encoder: str = "",
    *,
    preset: str = "",
    settings: Mapping[str, Value] | None = None,
    options: Mapping[str, Any] | None = None,
    **request_fields: Any,
) -> TrainingRequest:
    """A request with all defaults: those of the preset come before those of the objective, what was typed before both.

    ``settings`` are those of the encoder and of the objective together: no name is used by both. ``request_fields`` are
    the other fields; None stands for the default.
    """
    objective_part = OBJECTIVES.get(objective)
    explicit_settings = dict(settings or {})
    options = dict(options or {})
    preset_settings: dict[str, Value] = {}
    training: dict[str, Any] = {}
    if preset:
        preset_part = PRESETS.get(preset)
        if encoder and encoder != preset_part.encoder:
            raise UsageError(
                f"--preset {preset} has the architecture {preset_part.encoder}; leave --architecture {encoder} out."
            )
        encoder = preset_part.encoder
        preset_settings = {**preset_part.settings, **preset_part.objective.get(objective, {})}
        training = {**preset_part.training, **preset_part.objective_training.get(objective, {})}
        fine_tune = {"fine_tune": True} if objective in preset_part.fine_tune and request_fields.get("vectors") else {}
        request_fields = {
            **preset_part.inputs,
            **fine_tune,
            **{key: value for key, value in request_fields.items() if value is not None},
        }
    encoder = encoder or objective_part.encoder
    if not encoder:
        raise UsageError(f"Name an architecture: --architecture with one of {', '.join(ARCHITECTURES)}, or --preset.")
    network = ARCHITECTURES.get(encoder)
    explicit_settings = {**objective_part.implied(explicit_settings), **preset_settings, **explicit_settings}
    what = f"the encoder {encoder} and the objective {objective}"
    resolved = resolve_settings({**network.settings, **objective_part.settings}, explicit_settings, what)
    optimiser = options.get("optimiser") or training.get("optimiser") or next(iter(objective_part.optimisers))
    if training.get("optimiser", optimiser) != optimiser:  # a paper's learning rate is for its own optimiser
        training = {key: value for key, value in training.items() if key in ("batch", "epochs")}
    if options.get("momentum") and optimiser != "sgd":
        raise UsageError(
            f"--momentum {options['momentum']} is for --optimiser sgd, and this is {optimiser}: leave it out."
        )
    training = {**objective_part.optimisers.get(optimiser, {}), **training, "optimiser": optimiser}
    if request_fields.get("tokenise") is not None:
        tokeniser(request_fields["tokenise"])  # it may not be installed
    return TrainingRequest(
        objective,
        encoder,
        preset=preset,
        encoder_settings={name: resolved[name] for name in network.settings},
        objective_settings={name: resolved[name] for name in objective_part.settings},
        options=TrainingOptions().with_values({**training, **options}, f"{objective} {preset}".strip()),
        **{key: value for key, value in request_fields.items() if value is not None},
    )
