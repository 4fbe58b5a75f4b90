"""The encoders of a run, loaded when they are first asked, kept, and asked one thread at a time."""

from __future__ import annotations

from collections.abc import Sequence
from threading import Lock
from typing import Any

from sonde.core.arguments import StringsOrPaths, as_strings
from sonde.encoders import Spec, encoder_info, load, refuse_untrusted, scheme_names
from sonde.encoders.embed import Embeddings, embed
from sonde.errors import EncoderError, SondeError, UsageError, describe_error
from sonde.result import FLOAT16_FACT


class Encoders:
    """What a server holds in memory. ``named`` are the encoders of the scheme ``py:`` that may be loaded."""

    def __init__(self, trusted: StringsOrPaths = ()) -> None:
        self.trusted = frozenset(as_strings(trusted, "an encoder"))
        self._lock = Lock()
        self._locks: dict[str, Lock] = {}
        self._loaded: dict[str, Any] = {}

    def vectors(self, name: str, identity: str | None, sentences: Sequence[str]) -> Embeddings:
        """The vectors of texts, from the very encoder that the run had: (n, d), or (layers, n, d)."""
        with self._lock:
            lock = self._locks.setdefault(name, Lock())
        with lock:
            if name not in self._loaded:
                self._loaded[name] = self._load(name)
            encoder = self._loaded[name]
            half = identity is not None and FLOAT16_FACT in identity
            _check(name, encoder, identity, half=half)
            return embed(encoder, sentences, half=half)

    def _load(self, name: str) -> Any:
        try:
            scheme = Spec.parse(name).scheme
        except SondeError:
            scheme = ""
        if scheme not in scheme_names():
            raise UsageError(
                f"{name} was given to the run as a function, not by a name such as st:all-MiniLM-L6-v2, so that it "
                "cannot be loaded again."
            )
        refuse_untrusted(name, self.trusted)  # a server is asked only if the user ticks it
        try:
            encoder = load(name)
        except (SondeError, KeyboardInterrupt):
            raise
        except BaseException as e:
            raise EncoderError(f"{name} cannot be loaded: {describe_error(e)}") from e
        if getattr(encoder, "needs_fit", False):
            raise UsageError(
                f"{name} is fitted on the texts of all sets of its run, so that it cannot be loaded by itself."
            )
        return encoder


def _check(name: str, encoder: Any, identity: str | None, *, half: bool) -> None:
    """Refuse an encoder that is not the one whose vectors the probes were trained on."""
    now = encoder_info(encoder).identity
    if identity is None or now is None:
        raise EncoderError(
            f"{name} does not say what it is, so that it may be another one than in the run. Give it an identity, as "
            "in ?version=1, and run again."
        )
    met = str(now.with_facts(kept="float16") if half else now)
    if met != identity:
        raise EncoderError(
            f"{name} is not what it was in the run: met {met}, expected {identity}. Its probes cannot read these "
            "vectors; run again in a new folder."
        )
