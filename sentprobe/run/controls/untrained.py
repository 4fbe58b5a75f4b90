"""The same encoder before training: its architecture and tokenizer with random weights."""

from __future__ import annotations

from sentprobe.data.splits import any_set
from sentprobe.encoders import SCHEMES, Spec
from sentprobe.errors import SentProbeError
from sentprobe.run.control import Control
from sentprobe.run.variant import scores_as_high

OPTION = "random"
"""The option of a scheme for the seed of random weights."""


def untrained(name: str, seed: int = 0) -> str | None:
    """The untrained counterpart of an encoder: ``hf:NAME?layer=2`` → ``hf:NAME?layer=2&random=0``.

    Checkpoints of one encoder have the same one: ``trained:F?epoch=3`` → ``trained:F?random=0``.

    None if there is none: word vectors, APIs and functions have no random counterpart, nor do encoders whose weights
    are random already. Schemes with the option ``random`` have one.
    """
    scheme = name.partition(":")[0]
    if ":" not in name or scheme not in SCHEMES:
        return None
    try:
        spec, scheme_part = Spec.parse(name), SCHEMES.get(scheme)
    except SentProbeError:  # loading the encoder itself reports what is wrong
        return None
    if OPTION not in scheme_part.options or OPTION in dict(spec.options):
        return None
    options = ((key, value) for key, value in spec.options if key not in scheme_part.replaced_by_random)
    return str(Spec(spec.scheme, spec.name, spec.revision, (*options, (OPTION, str(seed)))))


control = Control(
    name="untrained",
    order=110,
    interpretation=(
        "The score of the same architecture and tokenizer with random weights: what the score has above it is due to "
        "training."
    ),
    encodes=True,
    applies_to=any_set,
    encoder=untrained,
    objection=scores_as_high("untrained", "the untrained encoder"),
)
