"""Any server with OpenAI's /v1/embeddings: their own, or vLLM, llama.cpp, Ollama and others on this machine.

    openai:MODEL[?dimensions=…&batch=…&encoding=…&timeout=…&version=…&insecure=1]

``OPENAI_BASE_URL`` is the address of the server (``https://api.openai.com/v1`` by default) and ``OPENAI_API_KEY`` the
key, which a server on this machine may not need. The key is sent to that address only: redirects are not followed, and
an unencrypted connection must be to this machine, or allowed with ``insecure=1``.

The protocol has no empty texts: for an empty one a single space is sent. Texts that are too long are not truncated; if
the server rejects one, that is an error. The identity consists of the address, the model and the dimensions; if the
weights behind these change, ``version=…`` tells them apart. Servers other than OpenAI's have an identity only with one.
"""

from __future__ import annotations

import base64
import json
import os
import random
import re
import time
import urllib.request
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.error import HTTPError

import msgspec
import numpy as np

from sentprobe import __version__
from sentprobe.core.arguments import as_texts
from sentprobe.core.network import RETRY_STATUSES, Endpoint, is_local, parse_address, parse_timeout
from sentprobe.encoders.call import PREVIEW_CHARS, preview
from sentprobe.encoders.encoder import short_repr
from sentprobe.encoders.identity import Identity, Spec
from sentprobe.errors import EncoderError, ShapeError, UsageError

Array = np.ndarray[Any, Any]

SENDS_TEXTS = True
"""To a server, and the key with them."""

OPENAI = "api.openai.com"
LOADS_AT_ONCE = True
OPTIONS = {
    "dimensions": "dimension of the vectors, for models that can shorten them",
    "batch": "texts per request (default 256, at most 2048); fewer are sent if the server asks for fewer",
    "encoding": "float (default) or base64: how vectors are transferred",
    "timeout": "seconds without a response after which a request has failed (default 60)",
    "version": "any text that tells different weights behind the same address and name apart",
    "insecure": "1: allow http:// to another machine",
}
"""What may follow the question mark."""
MAX_REQUEST_TEXTS, MAX_REQUEST_TOKENS = 2048, 300_000
"""OpenAI's limits for one request."""
DEFAULT_BASE_URL = "https://api.openai.com/v1"


@dataclass(frozen=True, slots=True)
class Environment:
    """The settings from the environment."""

    base: str
    key: str = field(repr=False)
    proxies: dict[str, str] = field(repr=False)


def read_environment() -> Environment:
    """Read the environment; nothing else here does so."""
    base = os.environ.get("OPENAI_BASE_URL", "").strip() or DEFAULT_BASE_URL
    return Environment(base, os.environ.get("OPENAI_API_KEY", "").strip(), urllib.request.getproxies())


def load(spec: Spec) -> Server:
    """A model on the server that the environment names."""
    options, environment, model = spec.check_options(OPTIONS), read_environment(), spec.path
    if not model:
        raise UsageError(f"{spec} names no model; expected openai:MODEL, such as openai:text-embedding-3-small.")
    insecure = spec.choice("insecure", ("0", "1")) == "1"
    base = parse_address(environment.base, "OPENAI_BASE_URL", "key and texts", insecure)
    local = is_local(base.hostname or "")
    if not environment.key and not local:
        raise UsageError(f"{spec} is a model on {base.hostname}, which needs a key: set OPENAI_API_KEY.")
    if not re.fullmatch(r"[!-~]*", environment.key):
        raise UsageError("OPENAI_API_KEY contains a space or a character that no key has; set it again.")
    dimensions = spec.integer("dimensions", high=1 << 20)
    encoding, address = spec.choice("encoding", ("float", "base64")), f"{base.netloc.lower()}{base.path.rstrip('/')}"
    facts = {"base": address, "dimensions": dimensions, "empty": "space", "version": options.get("version")}
    identity = Identity.of("openai", model, **facts, encoding=None if encoding == "float" else encoding)
    return Server(
        url=f"{base.scheme}://{address}/embeddings",
        model=model,
        # numbers in decimal may be rounded, so the encoding can change a vector, if only in its last bit
        # a server other than OpenAI's may have other weights tomorrow: without a version, nothing of it is stored
        identity=identity if base.hostname == OPENAI or "version" in options else None,
        dimensions=dimensions,
        batch_size=spec.integer("batch", 256, high=MAX_REQUEST_TEXTS),
        encoding=encoding,
        timeout=parse_timeout(options.get("timeout", "60"), str(spec)),
        key=environment.key,
        proxies={} if local else environment.proxies,
    )


# requests


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
        vectors: list[Array] = []
        limit = self.batch_size
        while len(vectors) < len(sent):
            part = _within_budget(sent[len(vectors) : len(vectors) + limit])
            try:
                vectors += self._vectors(part)
            except _TooLargeError as error:
                if len(part) == 1:
                    raise EncoderError(f"{error} That was for a single text, {preview(part[0])}.") from None
                limit = len(part) // 2
        width = self.dimensions or (len(vectors[0]) if vectors else 0)
        for vector, text in zip(vectors, texts, strict=True):
            if len(vector) != width:
                why = "as dimensions= says" if self.dimensions else "as for the first text"
                got = f"{self.url} returned a vector of {len(vector)} numbers for {preview(text)}"
                raise ShapeError(f"{got}; expected {width}, {why}.")
        return np.stack(vectors) if vectors else np.empty((0, width), dtype=np.float32)

    def _vectors(self, texts: list[str]) -> list[Array]:
        """The vectors (n, d) of the texts of one request, in the same order."""
        body = self._post(texts)
        try:
            rows = msgspec.convert(json.loads(body), _Response).data  # msgspec's own reader would refuse NaN
            by_index = {row.index: _numbers(row.embedding) for row in rows}
        except (ValueError, RecursionError) as error:  # of json, msgspec and base64
            raise EncoderError(
                f"{self.url} answered, but not with embeddings ({_shorten(str(error))}): {self._quote(body)} "
                "Is OPENAI_BASE_URL the right address? It usually ends in /v1."
            ) from None
        missing = [i for i in range(len(texts)) if i not in by_index]
        if missing or len(rows) != len(texts):
            hint = f" None has the index {missing[0]}, of the text {preview(texts[missing[0]])}." if missing else ""
            raise ShapeError(f"{self.url} returned {len(rows)} vectors for {len(texts)} texts.{hint}")
        return [by_index[i] for i in range(len(texts))]

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
        )
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
