"""What names an encoder: the text a user types, and everything that can move a vector."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from urllib.parse import quote as _quote
from urllib.parse import unquote as _unquote

from sonde.errors import UsageError


def quote(text: str, safe: str) -> str:
    """Percent-encoded, file names that are no UTF-8 included."""
    return _quote(text, safe=safe, errors="surrogatepass")


def unquote(text: str) -> str:
    """The text again."""
    return _unquote(text, errors="surrogatepass")


_SCHEME = re.compile(r"[a-z][a-z0-9]*")


@dataclass(frozen=True, slots=True)
class Spec:
    """``scheme:name[@revision][?key=value&…]``, taken apart; values are percent-decoded."""

    scheme: str
    name: str = ""
    revision: str | None = None
    options: tuple[tuple[str, str], ...] = ()

    @classmethod
    def parse(cls, text: str) -> Spec:
        """Take a text apart, or say what is wrong with it."""
        head, mark, query = text.partition("?")
        scheme, colon, rest = head.partition(":")
        if not colon or not _SCHEME.fullmatch(scheme):
            raise UsageError(
                f"{text!r} names no encoder: expected scheme:name, such as static: or st:all-MiniLM-L6-v2. "
                "`sonde ls encoders` lists the schemes."
            )
        name, at, revision = rest.rpartition("@") if "@" in rest else (rest, "", "")
        options: dict[str, str] = {}
        for part in query.split("&") if mark else ():
            key, equals, value = part.partition("=")
            if not key or not equals or key in options:
                raise UsageError(f"{text!r} has the option {part!r}; expected key=value, each key once, joined by &.")
            options[unquote(key)] = unquote(value)
        return cls(scheme, unquote(name), unquote(revision) if at else None, tuple(options.items()))

    def __str__(self) -> str:
        """The text again; parsing it gives an equal value."""
        revision = f"@{quote(self.revision, safe='/:')}" if self.revision is not None else ""
        query = "&".join(f"{quote(k, safe='')}={quote(v, safe='/:,*.')}" for k, v in self.options)
        return f"{self.scheme}:{quote(self.name, safe='/:')}{revision}{'?' if query else ''}{query}"

    def known(self, allowed: Mapping[str, str] | Collection[str]) -> dict[str, str]:
        """The options, none of which may be other than ``allowed``."""
        found = dict(self.options)
        if strange := sorted(set(found) - set(allowed)):
            what = ", ".join(sorted(allowed)) or "none"
            raise UsageError(f"{self} has the option {strange[0]!r}; {self.scheme}: knows {what}.")
        return found


@dataclass(frozen=True, slots=True)
class Identity:
    """Everything that can move a vector: scheme, name, revision or content hash, layer, pooling, dtype, length, …

    Two encoders with the same identity give the same vector for the same text, or the store would lie.
    """

    scheme: str
    name: str
    facts: tuple[tuple[str, str], ...] = ()
    """Sorted (key, value) pairs."""

    @classmethod
    def of(cls, scheme: str, name: str, **facts: object) -> Identity:
        """Facts that are None are left out."""
        return cls(scheme, name, tuple(sorted((k, str(v)) for k, v in facts.items() if v is not None)))

    def with_facts(self, **facts: object) -> Identity:
        """The same with other or further facts: one layer of several, another dtype."""
        return Identity.of(self.scheme, self.name, **{**dict(self.facts), **facts})

    def __str__(self) -> str:
        query = "&".join(f"{quote(k, safe='')}={quote(v, safe='/:,*.')}" for k, v in self.facts)
        return f"{self.scheme}:{quote(self.name, safe='/:@')}{'?' if query else ''}{query}"

    @property
    def digest(self) -> str:
        """Thirty-two hexadecimal digits."""
        return hashlib.blake2b(str(self).encode(), digest_size=16).hexdigest()
