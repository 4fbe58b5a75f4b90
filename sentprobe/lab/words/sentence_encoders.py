"""Systems of sentence encoders: one for each language, or one for both, with all vectors in one space.

ENCODER,ENCODER             of the first and of the second language: trained:lm?lang=en,trained:lm?lang=fr
ENCODER                     of both: st:paraphrase-multilingual-MiniLM-L12-v2, or family:FILE.toml, by language
NAME=ENCODER,ENCODER        the same, called NAME in tables

An encoder with several layers is a system for each. Encoders are asked for sentences only.
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
    found = tuple(_NEXT.split(match["encoders"]))
    if len(found) > 2:
        raise UsageError(f"{text}: got {len(found)} encoders; expected one for each of two languages, or one for both.")
    return EncoderNames(match["encoders"], match["name"], found)


def check_aliases(texts: Sequence[str], taken: str) -> None:
    """Raise UsageError if two systems would have one name in tables, one system two, or one that is ``taken``."""
    names = {found for text in texts if (found := encoder_names(text)) is not None}
    for one in names:
        if one.alias == taken:
            raise UsageError(f"{one.alias}={one.text}: {taken} is the name of a baseline; choose another one.")
        for other in names - {one}:
            if one.text == other.text:
                raise UsageError(f"{one.text} has two names, {one.alias or one.text} and {other.alias or other.text}.")
            if one.alias is not None and one.alias == other.alias:
                raise UsageError(f"Two systems are called {one.alias!r}; expected different names.")


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
    _kept: dict[tuple[int, str | None, tuple[str, ...]], Embeddings] = field(default_factory=dict, repr=False)

    @property
    def dimension(self) -> int:
        """Of the vectors that were computed."""
        return int(next(iter(self._kept.values())).vectors.shape[-1])

    def each_layer(self) -> Iterator[EncoderPair]:
        """A pair for each layer; this one if there is one only."""
        one, two = (encoder_info(encoder).layers for encoder in self.encoders)
        if one != two:
            raise UsageError(
                f"{self.name}: the encoders have the layers {', '.join(one) or 'none'} and {', '.join(two) or 'none'}; "
                "expected the same, or one of each, such as layer=1."
            )
        if not one:
            yield self
        for layer in one:
            more, own = f", layer {layer}", self.identity and f"{self.identity} layer={layer}"
            yield replace(
                self, name=self.name + more, alias=self.alias and self.alias + more, identity=own, layer=layer
            )

    def vectors(self, side: int, texts: Sequence[str], language: str | None) -> Matrix:
        """The vectors (n, d) of texts, by the first or the second encoder."""
        encoder, key = self.encoders[side], (side, language, tuple(texts))
        if key not in self._kept:
            own = encoder.in_language(texts, language) if isinstance(encoder, Family) else texts
            self._kept[key] = embed(encoder, own, store=self.store)
        found = self._kept[key]
        if found.layers and self.layer is None:
            raise UsageError(f"{self.name} has {len(found.layers)} layers without names; expected vectors (n, d).")
        return np.asarray(found.vectors if self.layer is None else found.layer(self.layer), np.float32)


def load_encoders(names: EncoderNames, store: Store | None) -> EncoderPair:
    """Load both encoders."""
    with third_party_code:
        loaded = [load(name) for name in names.encoders]
    for name, encoder in zip(names.encoders, loaded, strict=True):
        if getattr(encoder, "needs_fit", False):
            raise UsageError(
                f"{name} learns from the texts that it is given, and would do so in either language alone."
            )
    about = [encoder_info(encoder).identity for encoder in loaded]
    identity = None if None in about else f"sentences encoders={','.join(map(str, about))}"
    return EncoderPair(names.text, (loaded[0], loaded[-1]), identity, names.alias, store)
