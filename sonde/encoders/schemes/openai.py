"""Any server that speaks OpenAI's /v1/embeddings: theirs, or vLLM, llama.cpp, Ollama and others on this machine.

    openai:MODEL[?dimensions=…&batch=…&encoding=…&timeout=…&version=…&insecure=1]

``OPENAI_BASE_URL`` is where the server is (``https://api.openai.com/v1`` unless set) and ``OPENAI_API_KEY`` the key,
which a server on this machine may do without. The key is sent to that address only: redirects are not followed, and a
connection that is not encrypted must be to this machine, or allowed with ``insecure=1``.

The protocol has no empty texts: for an empty one a single space is sent. Texts that are too long are not cut off here;
if the server refuses one, that is an error. The identity is the address, the model and the dimensions; if other weights
are put behind the same names, ``version=…`` tells them apart. Other servers than OpenAI's have an identity only
with one.
"""

from __future__ import annotations

import base64
import http.client
import ipaddress
import json
import os
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
from urllib.parse import SplitResult, urlsplit

import msgspec
import numpy as np

from sonde import __version__
from sonde.core.arguments import as_texts
from sonde.encoders.identity import Identity, Spec
from sonde.errors import EncoderError, Offline, ShapeError, UsageError

Array = np.ndarray[Any, Any]

OPENAI = "api.openai.com"
OPTIONS = {
    "dimensions": "how many numbers a vector shall have, for models that can shorten them",
    "batch": "texts in a request, 256 unless given, at most 2048; fewer are sent if the server asks for fewer",
    "encoding": "float (default) or base64: how the vectors travel",
    "timeout": "seconds without an answer after which a request has failed (default 60)",
    "version": "a word that tells apart what stands behind the same address and name",
    "insecure": "1: allow http:// to another machine",
}
"""What may stand after the question mark."""
DEFAULT_BASE_URL = "https://api.openai.com/v1"
MAX_REQUEST_TEXTS, MAX_REQUEST_TOKENS = 2048, 300_000
"""OpenAI's limits for one request."""
MAX_ATTEMPTS = 7
MAX_WAIT_SECONDS = 300.0
"""Seconds; a server that asks for more patience is given up."""

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
    404: " Is that the name of an embedding model there, and OPENAI_BASE_URL its address? It mostly ends in /v1.",
}


@dataclass(frozen=True, slots=True)
class Environment:
    """What the environment says."""

    base: str
    key: str = field(repr=False)
    proxies: dict[str, str] = field(repr=False)


def read_environment() -> Environment:
    """Read the environment; nothing else here does."""
    base = os.environ.get("OPENAI_BASE_URL", "").strip() or DEFAULT_BASE_URL
    return Environment(base, os.environ.get("OPENAI_API_KEY", "").strip(), urllib.request.getproxies())


def load(spec: Spec) -> Server:
    """A model on the server that the environment names."""
    options, environment = spec.known(OPTIONS), read_environment()
    model = spec.name if spec.revision is None else f"{spec.name}@{spec.revision}"
    if not model:
        raise UsageError(f"{spec} names no model; expected openai:MODEL, such as openai:text-embedding-3-small.")
    for key, allowed in (("insecure", ("0", "1")), ("encoding", ("float", "base64"))):
        if options.get(key, allowed[0]) not in allowed:
            raise UsageError(f"{spec} has {key}={options[key]}; expected {' or '.join(allowed)}.")
    base = _address(environment.base, options.get("insecure") == "1")
    near = _is_local(base.hostname or "")
    if not environment.key and not near:
        raise UsageError(f"{spec} is asked of {base.hostname}, which needs a key: set OPENAI_API_KEY.")
    if not re.fullmatch(r"[!-~]*", environment.key):
        raise UsageError("OPENAI_API_KEY holds a space or a character that no key has; set it again.")
    dimensions = int(_number(spec, "dimensions", options, 1 << 20, 0)) or None
    encoding, place = options.get("encoding", "float"), f"{base.netloc.lower()}{base.path.rstrip('/')}"
    facts = {"base": place, "dimensions": dimensions, "empty": "space", "version": options.get("version")}
    identity = Identity.of("openai", model, **facts, encoding=None if encoding == "float" else encoding)
    return Server(
        url=f"{base.scheme}://{place}/embeddings",
        model=model,
        # numbers written out may be rounded, so the encoding can move a vector, if only in its last bit
        # another server than OpenAI's may have other weights tomorrow: without a version, nothing of it is kept
        identity=identity if base.hostname == OPENAI or "version" in options else None,
        dimensions=dimensions,
        batch=int(_number(spec, "batch", options, MAX_REQUEST_TEXTS, 256)),
        encoding=encoding,
        timeout=_number(spec, "timeout", options, 86_400, 60, whole=False),
        key=environment.key,
        proxies={} if near else environment.proxies,
    )


def _number(spec: Spec, key: str, options: dict[str, str], most: int, default: int, whole: bool = True) -> float:
    if key not in options:
        return default
    value = options[key]
    if re.fullmatch(r"[0-9]{1,9}" if whole else r"[0-9]{1,9}(\.[0-9]{1,9})?", value) and 0 < float(value) <= most:
        return int(value) if whole else float(value)
    raise UsageError(f"{spec} has {key}={value}; expected a {'whole ' if whole else ''}number above 0, at most {most}.")


def _address(base: str, insecure: bool) -> SplitResult:
    """A base URL taken apart, once it is seen that a key may be sent there."""
    try:
        parts = urlsplit(base)
        good = parts.scheme in ("http", "https") and parts.hostname and (parts.port or 1) and base.isascii()
    except ValueError:
        good = False
    if not good or parts.username is not None or parts.query or parts.fragment or re.search(r"[\s\\]", base):
        shown = re.sub(r"//.*@|[?#].*", "…", base)  # what is left out may be a secret
        raise UsageError(f"OPENAI_BASE_URL is {shown!r}; expected http(s)://host[:port]/path, without a name or key.")
    if parts.scheme == "http" and not insecure and not _is_local(parts.hostname or ""):
        raise UsageError(
            f"OPENAI_BASE_URL is {base!r}: key and texts would go to another machine in the clear. "
            "Use https://, or add ?insecure=1 if the network is yours."
        )
    return parts


def _is_local(host: str) -> bool:
    """Whether a host is this machine, by its very name: no look-up, whose answer could be another one next time."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


@dataclass(frozen=True, slots=True, eq=False)
class Server:
    """A model on a server, as an encoder."""

    url: str
    model: str
    identity: Identity | None
    dimensions: int | None = None
    batch: int = 256
    encoding: str = "float"
    timeout: float = 60.0
    key: str = field(default="", repr=False)
    proxies: dict[str, str] = field(default_factory=dict, repr=False)
    sleep: Callable[[float], None] = field(default=time.sleep, repr=False)
    jitter: Callable[[], float] = field(default=random.random, repr=False)

    @property
    def caveat(self) -> str | None:
        """What of its identity is taken on somebody's word, as a sentence."""
        if self.identity is None:
            return None
        return (
            "Its vectors are kept by the server's address and the model's name. That the same weights stay behind them "
            "is the server's word: add version=, and change it when they do not."
        )

    def __call__(self, texts: Sequence[str], /) -> Array:
        """Vectors (n, d), float32, for n texts."""
        texts = as_texts(texts)
        sent = [text or " " for text in texts]
        found: list[Array] = []
        limit = self.batch
        while len(found) < len(sent):
            part = _within_budget(sent[len(found) : len(found) + limit])
            try:
                found += self._vectors(part)
            except _TooLargeError as error:
                if len(part) == 1:
                    raise EncoderError(f"{error} That was about a single text, {_short(part[0])!r}.") from None
                limit = len(part) // 2
        width = self.dimensions or (len(found[0]) if found else 0)
        for vector, text in zip(found, texts, strict=True):
            if len(vector) != width:
                why = "which dimensions= asks for" if self.dimensions else "as for the first text"
                met = f"{self.url} gave a vector of {len(vector)} numbers for {_short(text)!r}"
                raise ShapeError(f"{met}; expected {width}, {why}.")
        return np.stack(found) if found else np.empty((0, width), dtype=np.float32)

    def _vectors(self, texts: list[str]) -> list[Array]:
        """The vectors of texts that go into one request, in their order."""
        body = self._posted(texts)
        try:
            rows = msgspec.convert(json.loads(body), _Answer).data  # msgspec's own reader would refuse NaN
            found = {row.index: _numbers(row.embedding) for row in rows}
        except (ValueError, RecursionError) as error:  # of json, msgspec and base64
            raise EncoderError(
                f"{self.url} answered, but not with embeddings ({_short(str(error))}): {self._quoted(body)} "
                "Is OPENAI_BASE_URL the right address? It mostly ends in /v1."
            ) from None
        lacking = [i for i in range(len(texts)) if i not in found]
        if lacking or len(rows) != len(texts):
            hint = f" None has the index {lacking[0]}, of the text {_short(texts[lacking[0]])!r}." if lacking else ""
            raise ShapeError(f"{self.url} gave {len(rows)} vectors for {len(texts)} texts.{hint}")
        return [found[i] for i in range(len(texts))]

    def _posted(self, texts: list[str]) -> bytes:
        """What the server answers, waited for where that may help."""
        asked: dict[str, object] = {"model": self.model, "input": texts}
        if self.dimensions:
            asked["dimensions"] = self.dimensions
        if self.encoding != "float":  # which some servers would not know to be the default
            asked["encoding_format"] = self.encoding
        headers = {"Content-Type": "application/json", "User-Agent": f"sonde/{__version__}"}
        if self.key:
            headers["Authorization"] = f"Bearer {self.key}"
        request = urllib.request.Request(self.url, json.dumps(asked).encode(), headers)  # noqa: S310 - see _address
        opener = urllib.request.build_opener(_NoRedirects, urllib.request.ProxyHandler(self.proxies))
        for attempt in range(MAX_ATTEMPTS):
            wait = 2.0**attempt * (0.5 + self.jitter() / 2)
            try:
                with opener.open(request, timeout=self.timeout) as answer:
                    body: bytes = answer.read()
                    return body
            except urllib.error.HTTPError as error:
                with error:
                    met = self._refusal(error)
                patience = _seconds(error.headers.get("Retry-After", ""))
                if patience > MAX_WAIT_SECONDS:
                    raise EncoderError(f"{met} It asks for {patience:.0f} seconds of patience; try then.") from None
                wait = max(wait, patience)
            except (OSError, http.client.HTTPException) as error:
                met = self._failure(error)
            if attempt + 1 < MAX_ATTEMPTS:
                self.sleep(wait)
        raise EncoderError(f"{met} Given up after {MAX_ATTEMPTS} tries.")

    def _refusal(self, error: urllib.error.HTTPError) -> str:
        """What the server said, if it is worth another try; otherwise an error."""
        try:
            said = error.read(1 << 16)
        except (OSError, http.client.HTTPException):
            said = b""
        met = f"{self.url} answered {error.code} when asked for {self.model!r}: {self._quoted(said)}"
        if error.code == 413 or (error.code in (400, 422) and _LARGE.search(said)):
            raise _TooLargeError(met)
        if error.code in _RETRY_STATUSES and b"insufficient_quota" not in said:
            return met
        if 300 <= error.code < 400:
            to = self._quoted(error.headers.get("Location", "").encode())
            raise EncoderError(f"{met} It points to {to} If that is right, set OPENAI_BASE_URL accordingly.") from None
        raise EncoderError(met + _HINTS.get(error.code, "")) from None

    def _failure(self, error: OSError | http.client.HTTPException) -> str:
        """What went wrong on the way, if it is worth another try; otherwise an error."""
        reason = error.reason if isinstance(error, urllib.error.URLError) else error
        if isinstance(reason, TimeoutError):
            return f"{self.url} did not answer within {self.timeout:g} seconds (timeout=)."
        if isinstance(reason, _RETRY_ERRORS):
            return f"{self.url} broke the connection off."
        if isinstance(reason, ssl.SSLError | http.client.HTTPException):
            hint = "Do its address and OPENAI_BASE_URL agree about http and https?"
            raise EncoderError(f"{self.url} cannot be spoken to: {type(reason).__name__}: {reason}. {hint}") from None
        hint = "Is the server running, and OPENAI_BASE_URL its address?"
        raise Offline(f"{self.url} cannot be reached: {reason}. {hint}") from None

    def _quoted(self, said: bytes) -> str:
        """What a server said, in short, and without the key, which some of them repeat."""
        text = said.decode(errors="replace")
        try:
            told = json.loads(text)["error"]
            text = str(told["message"] if isinstance(told, dict) else told)
        except (ValueError, KeyError, TypeError, RecursionError):
            pass  # then it is shown as it is
        if self.key:
            text = text.replace(self.key, "(the key)")
        return f"{_short(' '.join(text.split()), 300)!r}."


class _Row(msgspec.Struct):
    index: int
    embedding: list[float] | str


class _Answer(msgspec.Struct):
    data: list[_Row]


class _TooLargeError(Exception):
    """Fewer texts may be taken."""


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Follows no redirect: the key would go along, and a POST would become a GET."""

    def redirect_request(self, *_: object) -> None:
        return None


def _numbers(embedding: list[float] | str) -> Array:
    """A vector (d,), from numbers or from little-endian 32-bit floats in base64."""
    if isinstance(embedding, str):
        return np.frombuffer(base64.b64decode(embedding, validate=True), dtype="<f4").astype(np.float32)
    with np.errstate(over="ignore"):  # what is not finite is for the caller to report
        return np.array(embedding, dtype=np.float32)


def _within_budget(texts: list[str]) -> list[str]:
    """As many of the texts, at least one, as have no more tokens than a request may: about one in three bytes."""
    used = np.cumsum([len(text.encode(errors="surrogatepass")) // 3 + 1 for text in texts])
    return texts[: max(1, int(np.searchsorted(used, MAX_REQUEST_TOKENS, side="right")))]


def _seconds(retry_after: str) -> float:
    """What a Retry-After header asks for: a number of seconds, or a date; 0 if it is neither."""
    if re.fullmatch(r"\s*[0-9]+(\.[0-9]+)?\s*", retry_after):
        return float(retry_after)
    try:
        return max(0.0, (parsedate_to_datetime(retry_after) - datetime.now(UTC)).total_seconds())
    except (ValueError, TypeError, OverflowError):
        return 0.0


def _short(text: str, most: int = 60) -> str:
    return text if len(text) <= most else f"{text[:most]}…"
