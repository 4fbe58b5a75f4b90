"""A model on a server that speaks OpenAI's /v1/embeddings: requests, retries, and what can go wrong."""

from __future__ import annotations

import base64
import http.client
import json
import random
import re
import ssl
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

import msgspec
import numpy as np

from sonde import __version__
from sonde.core.arguments import as_texts
from sonde.encoders.call import PREVIEW_CHARS, preview
from sonde.encoders.encoder import short_repr
from sonde.encoders.identity import Identity
from sonde.errors import EncoderError, Offline, ShapeError

Array = np.ndarray[Any, Any]

MAX_REQUEST_TEXTS, MAX_REQUEST_TOKENS = 2048, 300_000
"""OpenAI's limits for one request."""
MAX_ATTEMPTS = 7
MAX_WAIT_SECONDS = 300.0
"""Longest wait between two attempts; if a server asks for more, it is an error."""

_RETRY_STATUSES = frozenset({429, 500, 502, 503, 504})
_RETRY_ERRORS = (
    ConnectionResetError,
    ConnectionAbortedError,
    BrokenPipeError,
    TimeoutError,
    http.client.IncompleteRead,
)
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
        headers = {"Content-Type": "application/json", "User-Agent": f"sonde/{__version__}"}
        if self.key:
            headers["Authorization"] = f"Bearer {self.key}"
        request = urllib.request.Request(self.url, json.dumps(body_sent).encode(), headers)  # noqa: S310 - the scheme was checked
        opener = urllib.request.build_opener(_NoRedirects, urllib.request.ProxyHandler(self.proxies))
        for attempt in range(MAX_ATTEMPTS):
            wait = 2.0**attempt * (0.5 + self.jitter() / 2)
            try:
                with opener.open(request, timeout=self.timeout) as answer:
                    body: bytes = answer.read()
                    return body
            except urllib.error.HTTPError as error:
                with error:
                    failure = self._refusal(error)
                patience = _retry_after(error.headers.get("Retry-After", ""))
                if patience > MAX_WAIT_SECONDS:
                    raise EncoderError(f"{failure} It asks to wait {patience:.0f} seconds; try again then.") from None
                wait = max(wait, patience)
            except (OSError, http.client.HTTPException) as error:
                failure = self._failure(error)
            if attempt + 1 < MAX_ATTEMPTS:
                self.sleep(wait)
        raise EncoderError(f"{failure} Given up after {MAX_ATTEMPTS} attempts.")

    def _refusal(self, error: urllib.error.HTTPError) -> str:
        """Why the server refused, if a retry may help; otherwise raise an error."""
        try:
            content = error.read(1 << 16)
        except (OSError, http.client.HTTPException):
            content = b""
        failure = f"{self.url} answered {error.code} to a request for {self.model!r}: {self._quote(content)}"
        if error.code == 413 or (error.code in (400, 422) and _LARGE.search(content)):
            raise _TooLargeError(failure)
        if error.code in _RETRY_STATUSES and b"insufficient_quota" not in content:
            return failure
        if 300 <= error.code < 400:
            to = self._quote(error.headers.get("Location", "").encode())
            raise EncoderError(
                f"{failure} It redirects to {to} If that is right, set OPENAI_BASE_URL accordingly."
            ) from None
        raise EncoderError(failure + _HINTS.get(error.code, "")) from None

    def _failure(self, error: OSError | http.client.HTTPException) -> str:
        """What failed on the way, if a retry may help; otherwise raise an error."""
        reason = error.reason if isinstance(error, urllib.error.URLError) else error
        if isinstance(reason, TimeoutError):
            return f"{self.url} did not answer within {self.timeout:g} seconds (timeout=)."
        if isinstance(reason, _RETRY_ERRORS):
            return f"{self.url} broke the connection."
        if isinstance(reason, ssl.SSLError | http.client.HTTPException):
            hint = "Do the server and OPENAI_BASE_URL agree on http or https?"
            raise EncoderError(f"{self.url} cannot be used: {type(reason).__name__}: {reason}. {hint}") from None
        hint = "Is the server running, and OPENAI_BASE_URL its address?"
        raise Offline(f"{self.url} cannot be reached: {reason}. {hint}") from None

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


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Follows no redirect: the key would go along, and a POST would become a GET."""

    def redirect_request(self, *_: object) -> None:
        return None


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


def _retry_after(header: str) -> float:
    """The seconds that a Retry-After header asks for, as a number or a date; 0 if it is neither."""
    if re.fullmatch(r"\s*[0-9]+(\.[0-9]+)?\s*", header):
        return float(header)
    try:
        return max(0.0, (parsedate_to_datetime(header) - datetime.now(UTC)).total_seconds())
    except (ValueError, TypeError, OverflowError):
        return 0.0


def _shorten(text: str) -> str:
    return text if len(text) <= PREVIEW_CHARS else f"{text[:PREVIEW_CHARS]}…"
