"""What names an encoder: the text that a user types, and everything that can change a vector."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import overload
from urllib.parse import quote as _quote
from urllib.parse import unquote as _unquote

from sentprobe.core.arguments import did_you_mean
from sentprobe.errors import UsageError

HUB_NAME = re.compile(r"[\w-][\w.-]*(/[\w.-]+)?")
"""What a model on a hub may be called."""
SCHEME_NAME = re.compile(r"[a-z][a-z0-9]*")


def quote(text: str, safe: str) -> str:
    """Percent-encoded text; file names that are not UTF-8 are quoted, too."""
    return _quote(text, safe=safe, errors="surrogatepass")


def unquote(text: str) -> str:
    """The text that was percent-encoded; UsageError if that is no text."""
    try:
        return _unquote(text, errors="surrogatepass")
    except UnicodeDecodeError:
        raise UsageError(f"{text!r} has percent-encoded bytes that are not UTF-8; a percent sign is %25.") from None


@dataclass(frozen=True, slots=True)
class Spec:
    """The name of an encoder, parsed: ``scheme:name[@revision][?key=value&…]``; values are percent-decoded."""

    scheme: str
    name: str = ""
    revision: str | None = None
    options: tuple[tuple[str, str], ...] = ()

    @classmethod
    def parse(cls, text: str) -> Spec:
        """Parse a text. UsageError, with what is wrong, if it names no encoder."""
        head, mark, query = text.partition("?")
        scheme, colon, tail = head.partition(":")
        if not colon or not SCHEME_NAME.fullmatch(scheme):
            raise UsageError(
                f"{text!r} names no encoder: expected scheme:name, such as static: or st:all-MiniLM-L6-v2. "
                "`sentprobe ls encoders` lists the schemes."
            )
        name, at, revision = tail.rpartition("@") if "@" in tail else (tail, "", "")
        options: dict[str, str] = {}
        for part in query.split("&") if mark else ():
            key, equals, value = part.partition("=")
            if not key or not equals or key in options:
                raise UsageError(f"{text!r} has the option {part!r}; expected key=value, each key once, joined by &.")
            options[unquote(key)] = unquote(value)
        return cls(scheme, unquote(name), unquote(revision) if at else None, tuple(options.items()))

    def __str__(self) -> str:
        """The text; parsing it gives an equal Spec."""
        revision = f"@{quote(self.revision, safe='/:')}" if self.revision is not None else ""
        query = "&".join(f"{quote(k, safe='')}={quote(v, safe='/:,*.')}" for k, v in self.options)
        return f"{self.scheme}:{quote(self.name, safe='/:')}{revision}{'?' if query else ''}{query}"

    @property
    def path(self) -> str:
        """The name of an encoder that is a file, or has no revisions: an @ is part of it."""
        return self.name if self.revision is None else f"{self.name}@{self.revision}"

    @property
    def file(self) -> Path | None:
        """The file or folder that the name is; None if it is empty."""
        return Path(self.path).expanduser() if self.path else None

    @property
    def folder(self) -> Path | None:
        """The folder that the name is; None if it may be that of a model on a hub."""
        return None if not self.name or HUB_NAME.fullmatch(self.name) else Path(self.name).expanduser()

    def check_options(self, allowed: Mapping[str, str] | Collection[str]) -> dict[str, str]:
        """The options by key. UsageError if one of them is not ``allowed``."""
        options = dict(self.options)
        if unknown := sorted(set(options) - set(allowed)):
            what = ", ".join(sorted(allowed)) or "no options"
            raise UsageError(f"{self} has the option {unknown[0]!r}; {self.scheme}: takes {what}.")
        return options

    def choice(self, key: str, values: Sequence[str]) -> str:
        """The value of an option that must be one of ``values``; the first is the default."""
        if (value := dict(self.options).get(key, values[0])) not in values:
            hint = did_you_mean(value, values, n=1)
            raise UsageError(f"{self} has {key}={value}; expected {', '.join(values[:-1])} or {values[-1]}.{hint}")
        return value

    @overload
    def integer(self, key: str, default: int, *, low: int = 1, high: int | None = None) -> int: ...
    @overload
    def integer(self, key: str, default: None = None, *, low: int = 1, high: int | None = None) -> int | None: ...
    def integer(self, key: str, default: int | None = None, *, low: int = 1, high: int | None = None) -> int | None:
        """The value of an option that must be an integer from ``low`` to ``high``."""
        if (value := dict(self.options).get(key)) is None:
            return default
        if re.fullmatch(r"[0-9]{1,19}", value) and low <= int(value) <= (int(value) if high is None else high):
            return int(value)
        expected = f"an integer from {low} to {high}" if high is not None else f"an integer, {low} or more"
        raise UsageError(f"{self} has {key}={value}; expected {expected}.")


@dataclass(frozen=True, slots=True, repr=False)
class Identity:
    """Everything that can change a vector: scheme, name, revision or content hash, layer, pooling, dtype and length.

    Two encoders with the same identity give the same vector for the same text; the store relies on it.
    """

    scheme: str
    name: str
    facts: tuple[tuple[str, str], ...] = ()
    """Sorted (key, value) pairs."""

    @classmethod
    def of(cls, scheme: str, name: str, **facts: object) -> Identity:
        """An identity with these facts; those that are None are left out."""
        return cls(scheme, name, tuple(sorted((k, str(v)) for k, v in facts.items() if v is not None)))

    def with_facts(self, **facts: object) -> Identity:
        """The same identity with changed or further facts: one layer of several, another dtype."""
        return Identity.of(self.scheme, self.name, **{**dict(self.facts), **facts})

    def __str__(self) -> str:
        query = "&".join(f"{quote(k, safe='')}={quote(v, safe='/:,*.')}" for k, v in self.facts)
        return f"{self.scheme}:{quote(self.name, safe='/:@')}{'?' if query else ''}{query}"

    def __repr__(self) -> str:
        return f"<Identity {self}>"

    @property
    def digest(self) -> str:
        """Thirty-two hexadecimal digits."""
        return hashlib.blake2b(str(self).encode(), digest_size=16).hexdigest()
