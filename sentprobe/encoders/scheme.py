"""Schemes of encoders: those in ``sentprobe/encoders/schemes``, and those that installed packages offer.

A scheme is one module with a function ``load`` from a Spec to an encoder. Its docstring begins with a one-line summary,
and shows how to write the encoder; ``OPTIONS``, if it is there, has its options by name. In other packages, an entry
point of the group ``sentprobe.encoders`` names the scheme, and the module or its ``load``:

    [project.entry-points."sentprobe.encoders"]
    mine = "my_package.my_scheme"

A name may stand for several encoders, such as all checkpoints of one: ``expand``, a function from a Spec to a list of
names, says which. ``REPLACED_BY_RANDOM`` has the options that choose weights, and mean nothing for random ones. Of a
built-in scheme, ``named_file``, a function from a Spec to the path of a file or folder, or None, says what must be
there, and ``members``, a function from a Spec to the names of other encoders, which of them it consists of, so that a
run can be refused before it begins.

Built-in schemes that run code named by the spec say ``RUNS_CODE = True``, and those that send texts to a server say
``SENDS_TEXTS = True``. A scheme of another package may do either, so it is always treated as if it did both.
"""

from __future__ import annotations

import difflib
import importlib
import sys
import warnings
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import EntryPoint
from pathlib import Path
from types import MappingProxyType, ModuleType

from sentprobe.core.plugins import load_entry, module_names, offered
from sentprobe.core.third_party import third_party_code
from sentprobe.encoders.encoder import Encoder
from sentprobe.encoders.identity import SCHEME_NAME, Spec
from sentprobe.errors import EncoderError, SentProbeError, SentProbeWarning, UsageError, describe_error

PACKAGE, GROUP = "sentprobe.encoders.schemes", "sentprobe.encoders"
"""Where built-in schemes are, and the entry point group for others."""


@dataclass(frozen=True, slots=True)
class Scheme:
    """A way to name and load encoders."""

    name: str
    load: Callable[[Spec], Encoder]
    summary: str
    """One line."""
    options: tuple[str, ...]
    """The options after the question mark, if the scheme lists them."""
    package: str
    """The package that it comes with; empty for a built-in one."""
    expand: Callable[[Spec], Sequence[str]] | None = None
    """The names that a name stands for, for a scheme whose names may stand for several encoders."""
    replaced_by_random: tuple[str, ...] = ()
    """The options that an untrained copy does not have."""
    named_file: Callable[[Spec], Path | None] | None = None
    """The file or folder that a name stands for, for a scheme of which that is known."""
    members: Callable[[Spec], Iterable[str]] | None = None
    """The names of the encoders that an encoder consists of, for a scheme that combines others."""


def scheme_names() -> list[str]:
    """The names of all schemes; those of other packages are not loaded for it."""
    return sorted([*_built_in(), *_plugins()])


def load_scheme(name: str) -> Scheme:
    """The scheme of this name. UsageError if there is none, or if the one of another package cannot be loaded."""
    if name in _built_in():
        module = importlib.import_module(f"{PACKAGE}.{name}")
        return _scheme(name, module, module.load, "")
    if (entry := _plugins().get(name)) is not None:
        return _from_entry(entry)
    near = difflib.get_close_matches(name, scheme_names(), n=1)
    hint = f" Did you mean {near[0]}:?" if near else ""
    raise UsageError(f"There is no encoder scheme {name!r}.{hint} Expected one of {', '.join(scheme_names())}.")


def check_name(text: str) -> None:
    """Raise UsageError if a text cannot name an encoder: its syntax is wrong, or its scheme is unknown.

    Nothing is loaded for it: whether there is such an encoder turns out when it is loaded.
    """
    head = text.partition("?")[0]
    if ":" not in head and (near := difflib.get_close_matches(head, scheme_names(), n=1)):
        raise UsageError(f"{text!r} names no encoder: expected scheme:name. Did you mean {near[0]}:?")
    if (scheme := Spec.parse(text).scheme) not in scheme_names():
        load_scheme(scheme)  # says what is meant


def describe_scheme(name: str) -> str:
    """One line about a scheme; of one that cannot be loaded, why."""
    try:
        return load_scheme(name).summary
    except UsageError as e:
        return str(e)


def load(text: str) -> Encoder:
    """Load the encoder that a text names.

    Parameters
    ----------
    text : str
        ``scheme:name[@revision][?key=value&…]``, such as ``static:`` or ``hf:bert-base-uncased?layer=*``.
        ``sentprobe ls encoders`` lists the schemes.

    Returns
    -------
    Encoder
        A callable from a list of texts to an array (n, d), or (layers, n, d).

    Raises
    ------
    UsageError
        If there is no such scheme, name or option.
    EncoderError
        If the encoder cannot be loaded; Offline if it needs the network, NotInstalled if it needs a package.

    Examples
    --------
    >>> from sentprobe import load_encoder
    >>> encoder = load_encoder("static:?dim=64")
    >>> encoder
    <Static static:minilm, 64 dimensions>
    >>> encoder(["A short text.", "Another one."]).shape
    (2, 64)
    """
    if not isinstance(text, str):
        raise UsageError(f"Expected an encoder as text, scheme:name, got {text!r:.80} of type {type(text).__name__}.")
    spec = Spec.parse(text)
    scheme = load_scheme(spec.scheme)
    if not scheme.package:
        try:
            return scheme.load(spec)
        except SentProbeError:
            raise
        except Exception as e:  # what it reads may be damaged in any way: the other encoders of a command go on
            raise EncoderError(f"{spec} cannot be loaded: {_describe_failure(e)}.") from e
    try:
        with third_party_code:
            encoder = scheme.load(spec)
    except (SentProbeError, KeyboardInterrupt):
        raise
    except BaseException as e:
        raise EncoderError(
            f"{spec} cannot be loaded by the scheme {scheme.name!r} of {scheme.package}: {describe_error(e)}"
        ) from e
    if not callable(encoder):
        raise EncoderError(
            f"The scheme {scheme.name!r} of {scheme.package} returned {type(encoder).__name__} for {spec}; expected a "
            "callable from a list of texts to an array."
        )
    return encoder


def _describe_failure(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return error.strerror if error.filename is None else f"{str(error.filename)[:200]}: {error.strerror}"
    return describe_error(error).rstrip(".")


def expand_names(texts: Iterable[str]) -> list[str]:
    """The names of encoders, with those that stand for several replaced by what they stand for; each once.

    A name that cannot be expanded stays as it is: loading it says what is wrong.
    """
    return list(dict.fromkeys(name for text in texts for name in _expand(text)))


def _expand(text: str) -> Sequence[str]:
    try:
        spec = Spec.parse(text)
        expand = load_scheme(spec.scheme).expand
        if expand is None or not spec.options:
            return [text]
        with third_party_code:
            found = [str(name) for name in expand(spec)]
    except KeyboardInterrupt:
        raise
    except BaseException:  # perhaps another package's
        return [text]
    return found if found and found != [str(spec)] else [text]


def sends_texts(text: str) -> bool:
    """Whether an encoder may send texts to a server: one of another package may, for all we know."""
    scheme = text.partition(":")[0]
    return scheme in _plugins() or _declares(scheme, "SENDS_TEXTS")


def refuse_untrusted(text: str, trusted: Collection[str], *, remote: bool = False) -> None:
    """Raise UsageError if an encoder may run code, or with ``remote`` send texts, and is not one of ``trusted``.

    For names that come with a run or a signature, which somebody else may have written: what a built-in scheme does
    with a name is known, what one of another package does with it is not.
    """
    scheme = text.partition(":")[0]
    if text in trusted:
        return
    if (entry := _plugins().get(scheme)) is not None:
        what = f"is loaded by {_package(entry)}, which may run code or send texts"
    elif _declares(scheme, "RUNS_CODE"):
        what = "is a program"
    elif remote and _declares(scheme, "SENDS_TEXTS"):
        what = "sends texts to a server"
    else:
        return
    raise UsageError(
        f"{text} {what}, and is named by a file or text that may come from somebody else. To use it, name it "
        f"yourself: --encoder '{text}'."
    )


@cache
def _built_in() -> tuple[str, ...]:
    return tuple(module_names(PACKAGE))


def _plugins() -> Mapping[str, EntryPoint]:
    """The schemes of other packages, by name."""
    return _usable_entries(tuple(sys.path))


@cache
def _usable_entries(_path: tuple[str, ...]) -> Mapping[str, EntryPoint]:
    """Entry points whose names can be schemes; the others are warned about once."""
    found = {}
    for name, entry in offered(GROUP).items():
        if name in _built_in():
            why = "the name is taken by a built-in scheme"
        elif not SCHEME_NAME.fullmatch(name):
            why = "expected a name of lower-case letters and digits that begins with a letter"
        else:
            found[name] = entry
            continue
        warnings.warn(
            SentProbeWarning(f"The encoder scheme {name!r} of {_package(entry)} is ignored: {why}."), stacklevel=4
        )
    return MappingProxyType(found)


def _from_entry(entry: EntryPoint) -> Scheme:
    """The scheme that an entry point names, as a module or as its ``load``."""
    loaded = load_entry(entry)
    module = loaded if isinstance(loaded, ModuleType) else sys.modules.get(getattr(loaded, "__module__", None) or "")
    load = getattr(loaded, "load", None) if isinstance(loaded, ModuleType) else loaded
    if not callable(load):
        raise UsageError(
            f"The encoder scheme {entry.name!r} of {_package(entry)} cannot be used: expected {entry.value} to be a "
            f"module with a function load(spec), or that function, got {type(loaded).__name__} without one."
        )
    return _scheme(entry.name, module, load, _package(entry))


def _scheme(name: str, module: ModuleType | None, load: Callable[[Spec], Encoder], package: str) -> Scheme:
    doc = (getattr(module, "__doc__", None) or getattr(load, "__doc__", None) or "").strip()
    options = getattr(module, "OPTIONS", ())
    known = tuple(map(str, options)) if isinstance(options, Collection) and not isinstance(options, str) else ()
    expand = getattr(module, "expand", None)
    return Scheme(
        name,
        load,
        doc.partition("\n")[0],
        known,
        package,
        expand if callable(expand) else None,
        tuple(map(str, getattr(module, "REPLACED_BY_RANDOM", ()))),
        None if package else getattr(module, "named_file", None),
        None if package else getattr(module, "members", None),
    )


def _package(entry: EntryPoint) -> str:
    return entry.dist.name if entry.dist else entry.module


def _declares(scheme: str, constant: str) -> bool:
    return scheme in _built_in() and bool(getattr(importlib.import_module(f"{PACKAGE}.{scheme}"), constant, False))
