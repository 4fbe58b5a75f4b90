"""Lists of architectures, objectives, presets, alignment methods and word evaluations."""

from __future__ import annotations

from collections.abc import Iterator

from sentprobe.cli.listings import Listing, Row, description_of, name_of
from sentprobe.core.arguments import defaults_text, value_text


def _architectures() -> Iterator[Row]:
    from sentprobe.lab.training import require_training

    require_training()
    from sentprobe.lab.networks import ARCHITECTURES

    yield "architecture", "description", "settings"
    for name, part in ARCHITECTURES.parts().items():
        yield name, part.summary, defaults_text(part.settings)


def _objectives() -> Iterator[Row]:
    from sentprobe.lab.training import require_training

    require_training()
    from sentprobe.lab.training import OBJECTIVES

    yield "objective", "description", "data", "settings"
    for name, part in OBJECTIVES.parts().items():
        yield name, part.summary, part.data, defaults_text(part.settings)


listings = (
    Listing(
        name="architectures",
        summary="networks that `sentprobe train` trains",
        order=80,
        kind="sentprobe.lab.networks:ARCHITECTURES",
        rows=_architectures,
    ),
    Listing(
        name="objectives",
        summary="what they are trained for",
        order=90,
        kind="sentprobe.lab.training:OBJECTIVES",
        rows=_objectives,
    ),
    Listing(
        name="presets",
        summary="encoders of papers",
        order=100,
        kind="sentprobe.lab.training:PRESETS",
        columns={
            "preset": name_of,
            "description": description_of,
            "settings": lambda part: " ".join(f"{key}={value_text(value)}" for key, value in part.settings.items()),
        },
    ),
    Listing(
        name="alignment-methods",
        summary="methods of `sentprobe align`",
        order=110,
        kind="sentprobe.lab.alignment:METHODS",
        columns={
            "method": name_of,
            "description": description_of,
            "dictionary": lambda part: part.dictionary,
            "steps": lambda part: ",".join(part.steps) or "none",
            "settings": lambda part: defaults_text(part.settings),
        },
    ),
    Listing(
        name="word-evaluations",
        summary="what spaces of words are evaluated on",
        order=180,
        kind="sentprobe.lab.words:WORD_EVALUATIONS",
    ),
)
