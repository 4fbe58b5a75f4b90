"""Systems of sentence encoders: one for each language, or one for both, with all vectors in one space.

ENCODER,ENCODER             of the first and of the second language: trained:lm?lang=en,trained:lm?lang=fr
ENCODER                     of both: st:paraphrase-multilingual-MiniLM-L12-v2, or family:FILE.toml, by language
NAME=ENCODER,ENCODER        the same, called NAME in tables

An encoder with several layers is a system for each. Encoders are evaluated on sentences only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from sentprobe.core.third_party import third_party_code
from sentprobe.encoders.embed import Embeddings, embed
from sentprobe.encoders.encoder import encoder_info
from sentprobe.encoders.scheme import SCHEMES, load
from sentprobe.encoders.schemes.family import Family
from sentprobe.encoders.store import Store
from sentprobe.errors import UsageError
from sentprobe.lab.alignment.space import Matrix

_NAMED = re.compile(r"(?:(?P<name>[^=:?/\\|,]+)=)?(?P<encoders>(?P<scheme>[a-z][\w-]*):.*)", re.DOTALL)
_NEXT = re.compile(r",(?=[a-z][\w-]*:)")
"""A comma before another scheme."""


@dataclass(frozen=True)
class EncoderNames:
    """What a system of sentence encoders is typed as."""

    text: str
    """Without the name that it is given."""
    alias: str | None
    encoders: tuple[str, ...]
    """One, or two."""


def encoder_names(text: str) -> EncoderNames | None:
    """The encoders of a system, if it is one of encoders."""
    match = None if Path(text).exists() else _NAMED.fullmatch(text)
    if match is None or match["scheme"] not in SCHEMES:
        return None
    encoders = tuple(_NEXT.split(match["encoders"]))
    if len(encoders) > 2:
        raise UsageError(
            f"{text}: got {len(encoders)} encoders; expected one for each of two languages, or one for both."
        )
    return EncoderNames(match["encoders"], match["name"], encoders)


def check_aliases(texts: Sequence[str], taken: str) -> None:
    """Raise UsageError if two systems would have one name in tables, one system two, or one that is ``taken``."""
    names = {parsed for text in texts if (parsed := encoder_names(text)) is not None}
    for system in names:
        if system.alias == taken:
            raise UsageError(f"{system.alias}={system.text}: {taken} is the name of a baseline; choose another one.")
        for second_system in names - {system}:
            if system.text == second_system.text:
                raise UsageError(
                    f"{system.text} has two names, {system.alias or system.text} and "
                    f"{second_system.alias or second_system.text}."
                )
            if system.alias is not None and system.alias == second_system.alias:
                raise UsageError(f"Two systems are called {system.alias!r}; expected different names.")


@dataclass(frozen=True, eq=False)
class EncoderPair:
    """Encoders of two languages in one space."""

    name: str
    """As it was typed, without an alias; with the layer, if there are several."""
    encoders: tuple[Any, Any]
    """Of the first and of the second language; the same one twice if there is one for both."""
    identity: str | None
    """What both are, in full; None if that is not known."""
    alias: str | None = None
    store: Store | None = None
    layer: str | None = None
    criterion: None = None
    _embeddings: dict[tuple[int, str | None, tuple[str, ...]], Embeddings] = field(default_factory=dict, repr=False)

    @property
    def dimension(self) -> int:
        """Of the vectors that were computed."""
        return int(next(iter(self._embeddings.values())).vectors.shape[-1])

    def each_layer(self) -> Iterator[EncoderPair]:
        """A pair for each layer; this one if there is one only."""
        source_layers, target_layers = (encoder_info(encoder).layers for encoder in self.encoders)
        if source_layers != target_layers:
            raise UsageError(
                f"{self.name}: the encoders have the layers {', '.join(source_layers) or 'none'} and "
                f"{', '.join(target_layers) or 'none'}; expected the same, or one of each, such as layer=1."
            )
        if not source_layers:
            yield self
        for layer in source_layers:
            suffix, identity = f", layer {layer}", self.identity and f"{self.identity} layer={layer}"
            yield replace(
                self, name=self.name + suffix, alias=self.alias and self.alias + suffix, identity=identity, layer=layer
            )

    def vectors(self, side: int, texts: Sequence[str], language: str | None) -> Matrix:
        """The vectors (n, d) of texts, by the first or the second encoder."""
        encoder, key = self.encoders[side], (side, language, tuple(texts))
        if key not in self._embeddings:
            inputs = encoder.in_language(texts, language) if isinstance(encoder, Family) else texts
            self._embeddings[key] = embed(encoder, inputs, store=self.store)
        embeddings = self._embeddings[key]
        if embeddings.layers and self.layer is None:
            raise UsageError(f"{self.name} has {len(embeddings.layers)} layers without names; expected vectors (n, d).")
        return np.asarray(embeddings.vectors if self.layer is None else embeddings.layer(self.layer), np.float32)


def load_encoders(names: EncoderNames, store: Store | None) -> EncoderPair:
    """Load both encoders."""
    with third_party_code:
        loaded = [load(name) for name in names.encoders]
    for name, encoder in zip(names.encoders, loaded, strict=True):
        if getattr(encoder, "needs_fit", False):
            raise UsageError(
                f"{name} is fitted to the texts that it encodes, and would be to each language separately."
            )
    about = [encoder_info(encoder).identity for encoder in loaded]
    identity = None if None in about else f"sentences encoders={','.join(map(str, about))}"
    return EncoderPair(names.text, (loaded[0], loaded[-1]), identity, names.alias, store)
