"""Any server with OpenAI's /v1/embeddings: their own, or vLLM, llama.cpp, Ollama and others on this machine.

    openai:MODEL[?dimensions=…&batch=…&concurrency=…&prompt=…&encoding=…&timeout=…&price=…&version=…&insecure=1]

``OPENAI_BASE_URL`` is the address of the server (``https://api.openai.com/v1`` by default) and ``OPENAI_API_KEY`` the
key, which a server on this machine may not need. The key is sent to that address only: redirects are not followed, and
an unencrypted connection must be to this machine, or allowed with ``insecure=1``.

The protocol has no empty texts: for an empty one a single space is sent. Texts that are too long are not truncated; if
the server rejects one, that is an error. The identity consists of the address, the model and the dimensions; if the
weights behind these change, ``version=…`` tells them apart. Servers other than OpenAI's have an identity only with one;
without it, what was paid for is stored all the same, and used again only if the server still gives the same vectors.
"""

from __future__ import annotations

import os
import re
import urllib.request
from dataclasses import dataclass, field

from sentprobe.core.network import is_local, parse_address, parse_timeout
from sentprobe.encoders.identity import Identity, Spec
from sentprobe.encoders.server import COMMON_OPTIONS, MAX_CONCURRENCY, MAX_REQUEST_TEXTS, Server, parse_price
from sentprobe.errors import UsageError

SENDS_TEXTS = True
"""To a server, and the key with them."""

OPENAI_HOST = "api.openai.com"
LOADS_AT_ONCE = True
OPTIONS = {
    "dimensions": "dimension of the vectors, for models that can shorten them",
    "batch": "texts per request (default 256, at most 2048); fewer are sent if the server asks for fewer",
    "encoding": "float (default) or base64: how vectors are transferred",
    **COMMON_OPTIONS,
}
"""What may follow the question mark."""
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
    prompt, version = options.get("prompt", ""), options.get("version")
    # numbers in decimal may be rounded, so the encoding can change a vector, if only in its last bit
    facts = {"base": address, "dimensions": dimensions, "empty": "space", "prompt": prompt or None}
    identity = Identity.of(
        "openai", model, **facts, version=version, encoding=None if encoding == "float" else encoding
    )
    # a server other than OpenAI's may have other weights tomorrow
    is_known = base.hostname == OPENAI_HOST or version is not None
    return Server(
        url=f"{base.scheme}://{address}/embeddings",
        model=model,
        identity=identity if is_known else None,
        stored_as=None if is_known else identity.with_facts(verified="by vectors"),
        dimensions=dimensions,
        batch=spec.integer("batch", 256, high=MAX_REQUEST_TEXTS),
        concurrency=spec.integer("concurrency", 1, high=MAX_CONCURRENCY),
        prompt=prompt,
        encoding=encoding,
        timeout=parse_timeout(options.get("timeout", "60"), str(spec)),
        price=parse_price(spec),
        key=environment.key,
        proxies={} if local else environment.proxies,
    )
