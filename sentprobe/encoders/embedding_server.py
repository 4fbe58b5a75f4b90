"""A model on a server that speaks OpenAI's /v1/embeddings: requests, retries, and what can go wrong."""

from __future__ import annotations

import base64
import json
import random
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.error import HTTPError

import msgspec
import numpy as np

from sentprobe import __version__
from sentprobe.core.arguments import as_texts
from sentprobe.core.post import RETRY_STATUSES, Endpoint
from sentprobe.encoders.call import PREVIEW_CHARS, preview
from sentprobe.encoders.encoder import short_repr
from sentprobe.encoders.identity import Identity
from sentprobe.errors import EncoderError, ShapeError

Array = np.ndarray[Any, Any]

MAX_REQUEST_TEXTS, MAX_REQUEST_TOKENS = 2048, 300_000
"""OpenAI's limits for one request."""

_LARGE = re.compile(rb"too (?:large|long|many|big)|(?:larg|long)er than|\bmax|exceed|at most|batch size", re.IGNORECASE)
_HINTS = {
    401: " Is OPENAI_API_KEY the key for this server?",
    403: " Is OPENAI_API_KEY the key for this server, and may it use this model?",
    404: " Is that the name of an embedding model there, and OPENAI_BASE_URL its address? It usually ends in /v1.",
}


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Server:
    """A model on a server, as an encoder."""

    url: str
    model: str
    identity: Identity | None
    dimensions: int | None = None
    batch_size: int = 256
    encoding: str = "float"
    timeout: float = 60.0
    key: str = ""
    proxies: dict[str, str] = field(default_factory=dict)
    sleep: Callable[[float], None] = time.sleep
    jitter: Callable[[], float] = random.random

    def __repr__(self) -> str:
        return short_repr(self, f"openai:{self.model}", self.url)  # never the key

    @property
    def caveat(self) -> str | None:
        """What in its identity cannot be verified, as a sentence."""
        if self.identity is None:
            return None
        return (
            "Its vectors are stored under the server's address and the model's name. Whether the weights behind these "
            "stay the same cannot be verified: add version=, and change it when they change."
        )

    def __call__(self, texts: Sequence[str], /) -> Array:
        """Vectors (n, d), float32, for n texts."""
        texts = as_texts(texts)
        sent = [text or " " for text in texts]
        found: list[Array] = []
        limit = self.batch_size
        while len(found) < len(sent):
            part = _within_budget(sent[len(found) : len(found) + limit])
            try:
                found += self._vectors(part)
            except _TooLargeError as error:
                if len(part) == 1:
                    raise EncoderError(f"{error} That was for a single text, {preview(part[0])}.") from None
                limit = len(part) // 2
        width = self.dimensions or (len(found[0]) if found else 0)
        for vector, text in zip(found, texts, strict=True):
            if len(vector) != width:
                why = "as dimensions= says" if self.dimensions else "as for the first text"
                got = f"{self.url} returned a vector of {len(vector)} numbers for {preview(text)}"
                raise ShapeError(f"{got}; expected {width}, {why}.")
        return np.stack(found) if found else np.empty((0, width), dtype=np.float32)

    def _vectors(self, texts: list[str]) -> list[Array]:
        """The vectors of the texts of one request, in the same order."""
        body = self._post(texts)
        try:
            rows = msgspec.convert(json.loads(body), _Response).data  # msgspec's own reader would refuse NaN
            found = {row.index: _numbers(row.embedding) for row in rows}
        except (ValueError, RecursionError) as error:  # of json, msgspec and base64
            raise EncoderError(
                f"{self.url} answered, but not with embeddings ({_shorten(str(error))}): {self._quote(body)} "
                "Is OPENAI_BASE_URL the right address? It usually ends in /v1."
            ) from None
        missing = [i for i in range(len(texts)) if i not in found]
        if missing or len(rows) != len(texts):
            hint = f" None has the index {missing[0]}, of the text {preview(texts[missing[0]])}." if missing else ""
            raise ShapeError(f"{self.url} returned {len(rows)} vectors for {len(texts)} texts.{hint}")
        return [found[i] for i in range(len(texts))]

    def _post(self, texts: list[str]) -> bytes:
        """The server's response, after retries where these may help."""
        body_sent: dict[str, object] = {"model": self.model, "input": texts}
        if self.dimensions:
            body_sent["dimensions"] = self.dimensions
        if self.encoding != "float":  # the default, which some servers do not know by this name
            body_sent["encoding_format"] = self.encoding
        headers = {"Content-Type": "application/json", "User-Agent": f"sentprobe/{__version__}"}
        if self.key:
            headers["Authorization"] = f"Bearer {self.key}"
        server = Endpoint(
            self.url, "OPENAI_BASE_URL", EncoderError, self.timeout, self.proxies, self.sleep, self.jitter
        )  # fmt: skip
        return server.post(json.dumps(body_sent).encode(), headers, self._refusal)

    def _refusal(self, error: HTTPError, content: bytes) -> str:
        """Why the server refused, if a retry may help; otherwise raise an error."""
        failure = f"{self.url} answered {error.code} to a request for {self.model!r}: {self._quote(content)}"
        if error.code == 413 or (error.code in (400, 422) and _LARGE.search(content)):
            raise _TooLargeError(failure)
        if error.code in RETRY_STATUSES and b"insufficient_quota" not in content:
            return failure
        if 300 <= error.code < 400:
            to = self._quote(error.headers.get("Location", "").encode())
            raise EncoderError(
                f"{failure} It redirects to {to} If that is right, set OPENAI_BASE_URL accordingly."
            ) from None
        raise EncoderError(failure + _HINTS.get(error.code, "")) from None

    def _quote(self, content: bytes) -> str:
        """The beginning of a response, without the key, which some servers repeat."""
        text = content.decode(errors="replace")
        try:
            error = json.loads(text)["error"]
            text = str(error["message"] if isinstance(error, dict) else error)
        except (ValueError, KeyError, TypeError, RecursionError):
            pass  # it is shown as it is
        if self.key:
            text = text.replace(self.key, "(the key)")
        return f"{preview(' '.join(text.split()), 300)}."


class _Row(msgspec.Struct):
    index: int
    embedding: list[float] | str


class _Response(msgspec.Struct):
    data: list[_Row]


class _TooLargeError(Exception):
    """The request was too large; fewer texts may be accepted."""


def _numbers(embedding: list[float] | str) -> Array:
    """A vector (d,), from numbers or from little-endian 32-bit floats in base64."""
    if isinstance(embedding, str):
        return np.frombuffer(base64.b64decode(embedding, validate=True), dtype="<f4").astype(np.float32)
    with np.errstate(over="ignore"):  # the caller reports numbers that are not finite
        return np.array(embedding, dtype=np.float32)


def _within_budget(texts: list[str]) -> list[str]:
    """As many of the texts, at least one, as fit into a request, at about one token per three bytes."""
    used = np.cumsum([len(text.encode(errors="surrogatepass")) // 3 + 1 for text in texts])
    return texts[: max(1, int(np.searchsorted(used, MAX_REQUEST_TOKENS, side="right")))]


def _shorten(text: str) -> str:
    return text if len(text) <= PREVIEW_CHARS else f"{text[:PREVIEW_CHARS]}…"
