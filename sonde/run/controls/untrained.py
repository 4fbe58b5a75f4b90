"""The same encoder before it learned anything: its architecture and tokeniser, with weights drawn anew."""

from __future__ import annotations

from sonde.encoders import Spec, load_scheme, scheme_names
from sonde.errors import SondeError
from sonde.run.control import Control
from sonde.run.parts import any_set

OPTION = "random"
"""What a scheme calls the seed of weights that are drawn and not read."""


def untrained(name: str, seed: int = 0) -> str | None:
    """The text that names the untrained counterpart of an encoder: ``hf:NAME?layer=2`` → ``hf:NAME?layer=2&random=0``.

    None where there is none: nothing is drawn at random in word vectors, an API or a function, and an encoder that has
    drawn its weights already has no other counterpart. A scheme that knows the option ``random`` has one.
    """
    scheme = name.partition(":")[0]
    if ":" not in name or scheme not in scheme_names():
        return None
    try:
        spec, known = Spec.parse(name), load_scheme(scheme).options
    except SondeError:  # whoever loads the encoder itself says what is wrong
        return None
    if OPTION not in known or OPTION in dict(spec.options):
        return None
    return str(Spec(spec.scheme, spec.name, spec.revision, (*spec.options, (OPTION, str(seed)))))


control = Control(
    name="untrained",
    order=110,
    interpretation=(
        "The score of the same architecture and tokeniser with random weights: what the score has above it is due to "
        "training."
    ),
    encodes=True,
    applies_to=any_set,
    encoder=untrained,
)
