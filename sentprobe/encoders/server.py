"""Models on servers as encoders: texts are sent in batches, several at a time, and vectors come back in order.

A ``Protocol`` says what a request looks like and how an answer is read; there are three: OpenAI's, which most servers
speak, that of Text Embeddings Inference, and Ollama's own. What may pass is tried again; what a server asks to wait,
all requests wait. Texts that are too long are an error, unless ``truncate`` allows the server to cut them off.
"""

from __future__ import annotations

import base64
import json
import random
import re
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.error import HTTPError

import msgspec
import numpy as np

from sentprobe import __version__
from sentprobe.core.arguments import as_texts
from sentprobe.core.network import RETRY_STATUSES, Endpoint, Gate
from sentprobe.core.words import replace_surrogates
from sentprobe.encoders.call import PREVIEW_CHARS, keep_partial, preview
from sentprobe.encoders.encoder import short_repr
from sentprobe.encoders.identity import Identity, Spec
from sentprobe.errors import EncoderError, ShapeError, UsageError

Array = np.ndarray[Any, Any]

MAX_REQUEST_TEXTS, MAX_REQUEST_TOKENS = 2048, 300_000
"""OpenAI's limits for one request."""
MAX_CONCURRENCY = 64
BYTES_PER_TOKEN = 4
"""Of English text, about; used before a server has counted."""
KEY_NAME = "OPENAI_API_KEY"
COMMON_OPTIONS = {
    "concurrency": "requests in flight at the same time (default 1, at most 64); the order of vectors is that of texts",
    "prompt": "a text that is put before every text",
    "timeout": "seconds without a response after which a request has failed (default 60)",
    "price": "of a million tokens, in any currency: what texts cost is then said",
    "version": "any text that tells different weights behind the same address and name apart",
    "insecure": "1: allow http:// to another machine",
}
"""The options of all servers."""


class _Row(msgspec.Struct):
    index: int
    embedding: list[float] | str


class _OpenAIUsage(msgspec.Struct):
    total_tokens: int | None = None


class _OpenAIResponse(msgspec.Struct):
    data: list[_Row]
    usage: _OpenAIUsage | None = None


class _OllamaResponse(msgspec.Struct):
    embeddings: list[list[float]]
    prompt_eval_count: int | None = None


class ServerReply(msgspec.Struct):
    """What a server returned."""

    rows: list[tuple[int, list[float] | str]]
    """The number of a text, and its vector, as numbers or in base64."""
    tokens: int = 0
    """As the server counts; 0 if it does not."""


@dataclass(frozen=True, slots=True)
class Protocol:
    """How a kind of server is spoken to."""

    name: str
    body: Callable[[Server, list[str]], dict[str, object]]
    read: Callable[[Any], ServerReply]
    hint: str
    """What to check if an answer is none."""


def _openai_body(server: Server, texts: list[str]) -> dict[str, object]:
    body: dict[str, object] = {"model": server.model, "input": texts}
    if server.dimensions:
        body["dimensions"] = server.dimensions
    if server.encoding != "float":  # the default, which some servers do not know by this name
        body["encoding_format"] = server.encoding
    return body


def _read_openai(content: Any) -> ServerReply:
    response = msgspec.convert(content, _OpenAIResponse)
    tokens = response.usage.total_tokens if response.usage else None
    return ServerReply([(row.index, row.embedding) for row in response.data], tokens or 0)


def _read_ollama(content: Any) -> ServerReply:
    response = msgspec.convert(content, _OllamaResponse)
    return ServerReply(list(enumerate(response.embeddings)), response.prompt_eval_count or 0)


def _read_tei(content: Any) -> ServerReply:
    return ServerReply(list(enumerate(msgspec.convert(content, list[list[float]]))))


OPENAI = Protocol("OpenAI", _openai_body, _read_openai, "Is {address} the right address? It usually ends in /v1.")
TEI = Protocol(
    "Text Embeddings Inference",
    lambda server, texts: {"inputs": texts, "truncate": server.truncate},
    _read_tei,
    "Is that a server of Text Embeddings Inference?",
)
OLLAMA = Protocol(
    "Ollama",
    lambda server, texts: (
        {"model": server.model, "input": texts, "truncate": server.truncate}
        | ({"dimensions": server.dimensions} if server.dimensions else {})
    ),
    _read_ollama,
    "Is that a server of Ollama?",
)


class Usage:
    """What was sent to a server since it was loaded, as far as the server counts."""

    def __init__(self) -> None:
        self.requests = self.texts = self.tokens = 0
        self._lock = threading.Lock()

    def sentence(self, price: float | None = None) -> str:
        """What was sent, in words, and what it cost at a price of a million tokens; empty if nothing was."""
        if not self.requests:
            return ""
        sent = f"sent {self.texts:,} texts in {self.requests:,} request{'s' * (self.requests != 1)}"
        if not self.tokens:
            return f"{sent}; the server does not count tokens"
        cost = "" if price is None else f", which cost {cost_text(self.tokens, price)} at {price:g} per million"
        return f"{sent}, {self.tokens:,} tokens{cost}"

    def add(self, texts: int, tokens: int) -> None:
        """Count a request that was answered."""
        with self._lock:
            self.requests += 1
            self.texts += texts
            self.tokens += tokens


_LARGE = re.compile(rb"too (?:large|long|many|big)|(?:larg|long)er than|\bmax|exceed|at most|batch size", re.IGNORECASE)
STATUS_HINTS = {
    401: " Is {key} the key for this server?",
    403: " Is {key} the key for this server, and may it use this model?",
    404: " Is that the name of an embedding model there, and {address} its address? It usually ends in /v1.",
}


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Server:
    """A model on a server, as an encoder."""

    url: str
    model: str
    identity: Identity | None
    protocol: Protocol = OPENAI
    address: str = "OPENAI_BASE_URL"
    """What users have typed the address as."""
    dimensions: int | None = None
    batch: int = 256
    """Texts per request."""
    concurrency: int = 1
    """Requests in flight."""
    prompt: str = ""
    truncate: bool = False
    encoding: str = "float"
    timeout: float = 60.0
    price: float | None = None
    """Of a million tokens."""
    stored_as: Identity | None = None
    """What vectors are stored under if the identity is not known; they are verified before they are used."""
    key: str = ""
    proxies: dict[str, str] = field(default_factory=dict)
    sleep: Callable[[float], None] = time.sleep
    jitter: Callable[[], float] = random.random
    usage: Usage = field(default_factory=Usage)
    gate: Gate | None = None

    def __repr__(self) -> str:
        return short_repr(self, f"openai:{self.model}" if self.model else self.url, self.url)  # never the key

    @property
    def batch_size(self) -> int:
        """Texts per call: as many as are in flight at the same time."""
        return self.batch * self.concurrency

    @property
    def caveat(self) -> str | None:
        """What in its identity cannot be verified, as a sentence."""
        if self.identity is None:
            return None
        return (
            "Its vectors are stored under the server's address and the model's name. Whether the weights behind these "
            "stay the same cannot be verified: add version=, and change it when they change."
        )

    def estimated_tokens(self, texts: Sequence[str]) -> int:
        """About how many tokens texts have, prompts included, by their bytes."""
        prompt = len(self.prompt.encode(errors="surrogatepass"))
        return sum((prompt + len(t.encode(errors="surrogatepass"))) // BYTES_PER_TOKEN + 1 for t in as_texts(texts))

    def __call__(self, texts: Sequence[str], /) -> Array:
        """Vectors (n, d), float32, for n texts."""
        texts = as_texts(texts)
        gate = self.gate if self.concurrency == 1 else self.gate or Gate(self.sleep)
        work = _Work([replace_surrogates(f"{self.prompt}{text}") or " " for text in texts], self.batch)
        try:
            work.run(replace(self, gate=gate), self.concurrency if len(texts) > 1 else 1)
            return self._checked([work.vectors[i] for i in range(len(texts))], texts)
        except BaseException as error:
            keep_partial(error, {i: vector[None] for i, vector in dict(work.vectors).items()})
            raise

    def _checked(self, vectors: Sequence[Array], texts: Sequence[str]) -> Array:
        """The vectors as an array (n, d), if all are of one length."""
        width = self.dimensions or (len(vectors[0]) if vectors else 0)
        for vector, text in zip(vectors, texts, strict=True):
            if len(vector) != width:
                why = "as dimensions= says" if self.dimensions else "as for the first text"
                got = f"{self.url} returned a vector of {len(vector)} numbers for {preview(text)}"
                raise ShapeError(f"{got}; expected {width}, {why}.")
        return np.stack(vectors) if vectors else np.empty((0, width), dtype=np.float32)

    def request(self, texts: list[str]) -> list[Array]:
        """The vectors (n, d) of the texts of one request, in the same order."""
        body = self._post(texts)
        try:
            answer = self.protocol.read(json.loads(body))  # msgspec's own reader would refuse NaN
            by_index = {index: _numbers(embedding) for index, embedding in answer.rows}
        except (ValueError, RecursionError) as error:  # of json, msgspec and base64
            raise EncoderError(
                f"{self.url} answered, but not with embeddings ({_shorten(str(error))}): {self._quote(body)} "
                f"{self.protocol.hint.format(address=self.address)}"
            ) from None
        missing = [i for i in range(len(texts)) if i not in by_index]
        if missing or len(answer.rows) != len(texts):
            hint = f" None has the index {missing[0]}, of the text {preview(texts[missing[0]])}." if missing else ""
            raise ShapeError(f"{self.url} returned {len(answer.rows)} vectors for {len(texts)} texts.{hint}")
        self.usage.add(len(texts), answer.tokens)
        return [by_index[i] for i in range(len(texts))]

    def _post(self, texts: list[str]) -> bytes:
        """The server's response, after retries where these may help."""
        headers = {"Content-Type": "application/json", "User-Agent": f"sentprobe/{__version__}"}
        if self.key:
            headers["Authorization"] = f"Bearer {self.key}"
        endpoint = Endpoint(
            self.url, self.address, EncoderError, self.timeout, self.proxies, self.sleep, self.jitter, self.gate
        )
        return endpoint.post(json.dumps(self.protocol.body(self, texts)).encode(), headers, self._refusal)

    def _refusal(self, error: HTTPError, content: bytes) -> str:
        """Why the server refused, if a retry may help; otherwise raise an error."""
        what = repr(self.model) if self.model else "vectors"
        failure = f"{self.url} answered {error.code} to a request for {what}: {self._quote(content)}"
        if error.code == 413 or (error.code in (400, 422) and _LARGE.search(content)):
            raise _TooLargeError(failure)
        if error.code in RETRY_STATUSES and b"insufficient_quota" not in content:
            return failure
        if 300 <= error.code < 400:
            to = self._quote(error.headers.get("Location", "").encode())
            raise EncoderError(
                f"{failure} It redirects to {to} If that is right, set {self.address} accordingly."
            ) from None
        raise EncoderError(
            failure + STATUS_HINTS.get(error.code, "").format(address=self.address, key=KEY_NAME)
        ) from None

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


class _Work:
    """The texts of one call, of which threads take requests until all have vectors."""

    def __init__(self, texts: list[str], limit: int) -> None:
        self.texts, self.limit = texts, limit
        self.vectors: dict[int, Array] = {}
        self._next = 0
        self._error: BaseException | None = None
        self._lock = threading.Lock()

    def _take(self) -> tuple[int, int]:
        """The next texts that fit into a request; none if all are taken, or a request has failed."""
        with self._lock:
            start = self._next
            if self._error is None and start < len(self.texts):
                self._next += len(within_budget(self.texts[start : start + self.limit]))
            return start, self._next

    def run(self, server: Server, concurrency: int) -> None:
        """Request all vectors; after a failure, or Ctrl-C, only what is in flight is waited for."""
        if concurrency == 1:
            self._do(server)
            return
        with ThreadPoolExecutor(concurrency, "server") as threads:
            try:
                wait([threads.submit(self._do, server) for _ in range(concurrency)])
            except BaseException as error:
                self._stop(server, error)
        if self._error is not None:
            raise self._error

    def _stop(self, server: Server, error: BaseException) -> None:
        """Let the other threads send nothing more; the first error is the one that counts."""
        with self._lock:
            self._error = self._error or error
        if server.gate is not None:
            server.gate.close()

    def _do(self, server: Server) -> None:
        """Request vectors until there is nothing left to take."""
        try:
            while True:
                start, stop = self._take()
                if start == stop:
                    return
                while start < stop:
                    start += self._request(server, start, stop)
        except BaseException as error:
            self._stop(server, error)
            raise

    def _request(self, server: Server, start: int, stop: int) -> int:
        """Request the vectors of the first of these texts; of how many they came."""
        texts = within_budget(self.texts[start : min(stop, start + self.limit)])
        try:
            vectors = server.request(texts)
        except _TooLargeError as error:
            if len(texts) == 1:
                raise EncoderError(f"{error} That was for a single text, {preview(texts[0])}.") from None
            with self._lock:
                self.limit = min(self.limit, len(texts) // 2)
            return 0
        self.vectors.update(enumerate(vectors, start))
        return len(texts)


class _TooLargeError(Exception):
    """The request was too large; fewer texts may be accepted."""


def _numbers(embedding: list[float] | str) -> Array:
    """A vector (d,), from numbers or from little-endian 32-bit floats in base64."""
    if isinstance(embedding, str):
        return np.frombuffer(base64.b64decode(embedding, validate=True), dtype="<f4").astype(np.float32)
    with np.errstate(over="ignore"):  # the caller reports numbers that are not finite
        return np.array(embedding, dtype=np.float32)


def within_budget(texts: list[str]) -> list[str]:
    """As many of the texts, at least one, as fit into a request, at about one token per three bytes."""
    used = np.cumsum([len(text.encode(errors="surrogatepass")) // 3 + 1 for text in texts])
    return texts[: max(1, int(np.searchsorted(used, MAX_REQUEST_TOKENS, side="right")))]


def _shorten(text: str) -> str:
    return text if len(text) <= PREVIEW_CHARS else f"{text[:PREVIEW_CHARS]}…"


def cost_text(tokens: int, price: float) -> str:
    """What tokens cost at a price of a million, to two digits at least."""
    cost = tokens * price / 1e6
    return f"{cost:,.2f}" if cost >= 1 else f"{cost:.2g}"


def parse_price(spec: Spec) -> float | None:
    """The price of a million tokens; UsageError if it is not a number."""
    text = dict(spec.options).get("price")
    if text is None:
        return None
    if not re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,9})?", text):
        raise UsageError(f"{spec} has price={text}; expected the price of a million tokens, such as 0.02.")
    return float(text)
