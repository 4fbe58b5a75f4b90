"""Texts → vectors: encoders by scheme, their identities, and the store of what they returned.

An encoder is any callable from a list of texts to an array (n, d), or (layers, n, d). A module of ``schemes`` has

    def load(spec: Spec) -> Encoder

and that is all it takes to add a scheme.
"""

from __future__ import annotations

import difflib
import importlib
import pkgutil
from collections.abc import Collection, Sequence
from typing import Any, Protocol, runtime_checkable

from sonde.encoders import schemes as package
from sonde.encoders.identity import Identity, Spec
from sonde.errors import UsageError

__all__ = ["Encoder", "Identity", "Spec", "load", "refuse_untrusted", "scheme_names"]

CODE, REMOTE_SCHEME = "py", "openai"
"""The scheme whose encoders are programs, and the one whose encoders send texts, and a key, to a server."""


@runtime_checkable
class Encoder(Protocol):
    """A callable from texts to vectors. Anything callable will do; these attributes are looked at if they are there.

    ``identity``: an Identity, or None: vectors are not kept.
    ``layers``: names of the layers, if arrays are (layers, n, d).
    ``batch``: how many texts it likes at a time; ``cost``: a callable from texts to numbers, their lengths in tokens,
    say: texts of like cost come together, and a batch ends early rather than with far shorter ones.
    ``keep``: False if a vector is cheaper to make than to keep.
    ``words``: a callable from words to vectors, if it has input vectors of its own.
    ``trust``: a sentence about what of its identity nobody has seen to, if there is such a thing; it is shown.
    """

    def __call__(self, texts: Sequence[str], /) -> Any:
        """Vectors of the texts, in their order."""
        ...


def scheme_names() -> list[str]:
    """All schemes, by name."""
    return sorted(m.name for m in pkgutil.iter_modules(package.__path__))


def load(text: str) -> Encoder:
    """The encoder that ``scheme:name[@revision][?key=value&…]`` names."""
    if not isinstance(text, str):
        raise UsageError(f"Expected an encoder as text, scheme:name, got {text!r:.80} of type {type(text).__name__}.")
    spec = Spec.parse(text)
    if spec.scheme not in scheme_names():
        near = difflib.get_close_matches(spec.scheme, scheme_names(), n=1)
        hint = f" Did you mean {near[0]}:?" if near else ""
        raise UsageError(
            f"There is no encoder scheme {spec.scheme!r}.{hint} The schemes are {', '.join(scheme_names())}."
        )
    found: Encoder = importlib.import_module(f"sonde.encoders.schemes.{spec.scheme}").load(spec)
    return found


def refuse_untrusted(text: str, trusted: Collection[str], *, remote: bool = False) -> None:
    """Raise UsageError if an encoder is a program, or with ``remote`` a server, and is not among those named by hand.

    For names that come with a run or a signature, which somebody else may have written.
    """
    scheme = text.partition(":")[0]
    if text in trusted or scheme not in ((CODE, REMOTE_SCHEME) if remote else (CODE,)):
        return
    what = "is a program" if scheme == CODE else "sends texts to a server"
    raise UsageError(
        f"{text} {what}, and is named by a file or text that may come from somebody else. To have it used, name it "
        f"yourself: --encoder '{text}'."
    )
