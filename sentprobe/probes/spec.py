"""Probes as they are typed, ``name[?setting=value&…]``, and as results and signatures name them."""

from __future__ import annotations

import difflib
import warnings
from collections.abc import Mapping
from dataclasses import fields, replace
from functools import cache, lru_cache
from types import MappingProxyType
from typing import Any, get_type_hints
from urllib.parse import quote, unquote

import msgspec

from sentprobe.core.suggest import did_you_mean
from sentprobe.errors import SentProbeWarning, UsageError
from sentprobe.probes.kind import PROBE_KINDS, Preset, ProbeKind, kind_of
from sentprobe.probes.probe import Probe


def presets() -> Mapping[str, tuple[Preset, Probe]]:
    """The probes that have a name, kind by kind, and what the docs say about each."""
    return _presets(tuple(PROBE_KINDS.parts().values()))


def named(name: str) -> Probe:
    """The probe of this name. UsageError if there is none, with the nearest."""
    known = presets()
    if name not in known:
        hint = did_you_mean(name, known, n=1)
        raise UsageError(f"There is no probe {name!r}.{hint} Expected one of {', '.join(known)}.")
    return known[name][1]


def parse(text: str) -> tuple[str, Probe]:
    """Read a probe as it is typed.

    Parameters
    ----------
    text
        ``name[?setting=value&…]``, such as ``senteval?hidden=50,100``.

    Returns
    -------
    tuple
        The canonical text, and the probe.

    Examples
    --------
    >>> from sentprobe.probes import parse
    >>> parse("linear?l2=1e-2,0.001")[0]
    'linear?l2=0.01,0.001'
    """
    return _parse(text, tuple(PROBE_KINDS.parts().values()))


@lru_cache(maxsize=256)
def _parse(text: str, kinds: tuple[ProbeKind, ...]) -> tuple[str, Probe]:
    """The same, given the kinds of probes that there are: all results of a run name one of a few probes."""
    name, mark, query = text.partition("?")
    preset = named(name)
    changed: dict[str, Any] = {}
    for part in query.split("&") if mark else ():
        key, equals, value = part.partition("=")
        key = unquote(key)
        if not equals or key in changed:
            raise UsageError(f"{text!r} has the option {part!r}; expected setting=value, each once, joined by &.")
        changed[key] = _value(text, key, unquote(value))
    probe = replace(preset, **changed)
    unused = kind_of(probe).without_effect(probe)
    for key in changed:
        if key in unused:
            raise UsageError(f"{text!r} changes {key}, which has no effect: {unused[key]}. Leave it out.")
    query = differences(probe, preset)
    return f"{name}?{query}" if query else name, probe


def differences(probe: Probe, other: Probe | None = None) -> str:
    """The settings in which a probe differs from another one, or from ``Probe()``, as they would be typed."""
    other = Probe() if other is None else other
    differing = [f.name for f in fields(Probe) if getattr(probe, f.name) != getattr(other, f.name)]
    return "&".join(f"{key}={_written(getattr(probe, key))}" for key in sorted(differing))


@cache
def _presets(kinds: tuple[ProbeKind, ...]) -> Mapping[str, tuple[Preset, Probe]]:
    found: dict[str, tuple[Preset, Probe]] = {}
    known = {f.name for f in fields(Probe)} - {"kind"}
    for kind in kinds:
        named = {*kind.settings, *(name for preset in kind.presets for name in preset.settings)}
        if unknown := sorted(named - known):
            raise UsageError(
                f"The probe kind {kind.name} reads {unknown[0]!r}, which is not a setting of probes; expected some of "
                f"{', '.join(sorted(known))}."
            )
        for preset in kind.presets:
            if preset.name in found:
                message = f"The probe {preset.name!r} of the kind {kind.name} is left out: the name is taken."
                warnings.warn(SentProbeWarning(message), stacklevel=4)
                continue
            settings: dict[str, Any] = dict(preset.settings)
            found[preset.name] = preset, Probe(kind=kind.name, **settings)
    return MappingProxyType(found)


def _value(text: str, key: str, value: str) -> Any:
    types = get_type_hints(Probe)
    if key not in types:
        near = difflib.get_close_matches(key, types, n=1)
        hint = f" Did you mean {near[0]}?" if near else f" Expected one of {', '.join(types)}."
        raise UsageError(f"{text!r} changes {key!r}, which is not a setting of probes.{hint}")
    several = str(types[key]).startswith("tuple")
    try:
        return msgspec.convert(value.split(",") if several else value, types[key], strict=False)
    except msgspec.ValidationError as e:
        raise UsageError(f"{text!r}: {key}={value}: {e}.") from None


def _written(value: Any) -> str:
    values = value if isinstance(value, tuple) else (value,)
    return ",".join(quote(_number(v) if isinstance(v, float) else str(v).lower(), safe="") for v in values)


def _number(value: float) -> str:
    """The shortest text that is read as the same number."""
    short = f"{value:g}"
    return short if float(short) == value else repr(value)
