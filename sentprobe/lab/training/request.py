"""What a training is to do, as it was typed, resolved and complete; kept in ``config.json``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from sentprobe.core.arguments import Value, check_options, resolve_settings
from sentprobe.corpus.tokenisers import tokeniser
from sentprobe.errors import UsageError
from sentprobe.lab.networks import ARCHITECTURES
from sentprobe.lab.training import OBJECTIVES, PRESETS
from sentprobe.lab.training.options import Options


@dataclass(frozen=True)
class Request:
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
    """Whether given word vectors are changed by training."""
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
    options: Options = field(default_factory=Options)

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
    **more: Any,
) -> Request:
    """A request with all defaults: those of the preset come before those of the objective, what is given before both.

    ``settings`` are those of the encoder and of the objective together: no name is used by both. ``more`` are the other
    fields of a request; None stands for the default.
    """
    chosen = OBJECTIVES.get(objective)
    given = dict(settings or {})
    options = dict(options or {})
    known_by_preset: dict[str, Value] = {}
    training: dict[str, Any] = {}
    if preset:
        found = PRESETS.get(preset)
        if encoder and encoder != found.encoder:
            raise UsageError(f"--preset {preset} has the encoder {found.encoder}; leave --encoder {encoder} out.")
        encoder = found.encoder
        known_by_preset = {**found.settings, **found.objective.get(objective, {})}
        training = {**found.training, **found.objective_training.get(objective, {})}
        fine_tune = {"fine_tune": True} if objective in found.fine_tune and more.get("vectors") else {}
        more = {**found.inputs, **fine_tune, **{key: value for key, value in more.items() if value is not None}}
    encoder = encoder or chosen.encoder
    if not encoder:
        raise UsageError(f"Name an encoder: --encoder with one of {', '.join(ARCHITECTURES)}, or --preset.")
    network = ARCHITECTURES.get(encoder)
    given = {**chosen.implied(given), **known_by_preset, **given}
    what = f"the encoder {encoder} and the objective {objective}"
    resolved = resolve_settings({**network.settings, **chosen.settings}, given, what)
    optimiser = options.get("optimiser") or training.get("optimiser") or next(iter(chosen.optimisers))
    if training.get("optimiser", optimiser) != optimiser:  # a paper's learning rate is for its own optimiser
        training = {key: value for key, value in training.items() if key in ("batch", "epochs")}
    if options.get("momentum") and optimiser != "sgd":
        raise UsageError(
            f"--momentum {options['momentum']} is for --optimiser sgd, and this is {optimiser}: leave it out."
        )
    training = {**chosen.optimisers.get(optimiser, {}), **training, "optimiser": optimiser}
    if more.get("tokenise") is not None:
        tokeniser(more["tokenise"])  # it may not be installed
    return Request(
        objective,
        encoder,
        preset=preset,
        encoder_settings={name: resolved[name] for name in network.settings},
        objective_settings={name: resolved[name] for name in chosen.settings},
        options=Options().with_values({**training, **options}, f"{objective} {preset}".strip()),
        **{key: value for key, value in more.items() if value is not None},
    )
