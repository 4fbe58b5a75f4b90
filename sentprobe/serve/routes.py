"""What a server answers: a function for each path."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import msgspec

Content = tuple[str, bytes]
"""The content type, and the content."""


@dataclass(frozen=True)
class Routes:
    """The paths of a site; there are no others."""

    get: Mapping[str, Callable[[], Content]]
    post: Mapping[str, Callable[[bytes], Content]]
    """Called with the body of the request, which is JSON."""

    def __str__(self) -> str:
        """For messages: ``GET /, GET /status or POST /read``."""
        *names, last = [*(f"GET {path}" for path in self.get), *(f"POST {path}" for path in self.post)]
        return f"{', '.join(names)} or {last}"


class Served(Protocol):
    """What a server serves."""

    routes: Routes

    def page(self) -> bytes:
        """The page, as HTML."""
        ...


def html(page: bytes) -> Content:
    """A page."""
    return "text/html; charset=utf-8", page


def json(found: Any) -> Content:
    """Plain data."""
    return "application/json", msgspec.json.encode(found)
