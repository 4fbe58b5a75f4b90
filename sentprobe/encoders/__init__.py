"""Texts → vectors: encoders by scheme, their identities, and the store of the vectors they returned.

An encoder is any callable from a list of texts to an array (n, d), or (layers, n, d). A module of ``schemes`` has

    def load(spec: Spec) -> Encoder

and that is all it takes to add a scheme; other packages offer theirs as entry points of the group
``sentprobe.encoders``.
"""

from __future__ import annotations

from sentprobe.encoders.encoder import Encoder, EncoderInfo, TrainingScore, encoder_info
from sentprobe.encoders.identity import Identity, Spec
from sentprobe.encoders.scheme import (
    SCHEMES,
    Scheme,
    check_name,
    expand_names,
    load,
    refuse_untrusted,
    sends_texts,
)

__all__ = [
    "SCHEMES",
    "Encoder",
    "EncoderInfo",
    "Identity",
    "Scheme",
    "Spec",
    "TrainingScore",
    "check_name",
    "encoder_info",
    "expand_names",
    "load",
    "refuse_untrusted",
    "sends_texts",
]
