"""Names that a user gives to encoders: ``MiniLM=hf:sentence-transformers/all-MiniLM-L6-v2?layer=*``.

An alias is what tables, pages and figures show, and what selects an encoder. Results keep the encoder as it is loaded,
so that signatures, resuming and the live page do not depend on it; run.json has the aliases.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from sentprobe.encoders import expand_names
from sentprobe.errors import UsageError
from sentprobe.probes.baselines import BASELINES, ENCODER_BASELINES, WORD_BASELINES

_ALIAS = re.compile(r"([^=:?/\\|]*)=([a-z][\w-]*:.*)", re.DOTALL)
"""A scheme has no equals sign, so one before the first colon ends an alias."""


def split_aliases(texts: Iterable[Any]) -> tuple[list[Any], dict[str, str]]:
    """Encoders without their aliases, and the alias of each that has one; what is not a string is kept as it is.

    A name that stands for several encoders gives each of them its alias, with the options that tell them apart.
    """
    found: list[Any] = []
    aliases: dict[str, str] = {}
    for text in texts:
        match = _ALIAS.fullmatch(text) if isinstance(text, str) else None
        if match is None:
            found.append(text)
            continue
        alias, encoder = match[1].strip(), match[2]
        _check(alias, text)
        names = expand_names([encoder])
        for name in names:
            own = alias if len(names) == 1 else f"{alias}{name[name.index('?') :] if '?' in name else f' {name}'}"
            if aliases.setdefault(name, own) != own:
                raise UsageError(f"{name} has two names, {aliases[name]!r} and {own!r}; expected one.")
        found.append(encoder)
    if twice := [alias for alias in aliases.values() if list(aliases.values()).count(alias) > 1]:
        raise UsageError(f"Two encoders are called {twice[0]!r}; expected different names before the equals sign.")
    return found, aliases


def _check(alias: str, text: str) -> None:
    if not alias or not alias.isprintable():
        raise UsageError(f"{text!r}: expected a name before the equals sign, as in MiniLM=st:all-MiniLM-L6-v2.")
    if alias in (*BASELINES, *ENCODER_BASELINES, *WORD_BASELINES):
        raise UsageError(f"{text!r}: {alias} is the name of a baseline; choose another one.")


def described(aliases: Mapping[str, str]) -> list[list[str]]:
    """Aliases as run.json has them: pairs of a name and an encoder."""
    return [[alias, encoder] for encoder, alias in aliases.items()]
