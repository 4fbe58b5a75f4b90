"""Any server of embeddings, by its address: Text Embeddings Inference, Ollama, vLLM, Infinity, llama.cpp.

    http://HOST[:PORT]/PATH[?model=…&batch=…&concurrency=…&prompt=…&truncate=…&dimensions=…&timeout=…&price=…
        &version=…&insecure=1]

The path says what the server speaks: ``/embed`` is Text Embeddings Inference, ``/api/embed`` Ollama, ``/embeddings``
OpenAI's protocol, as vLLM, Infinity and llama.cpp have it. No key is sent; servers that need one are for ``openai:``.

Nothing says which weights are behind an address, so there is an identity only with ``version=…``. Without it, vectors
are stored all the same, and used again only if the server still gives the same ones for a few of the texts.
"""

from __future__ import annotations

import urllib.request

from sentprobe.core.network import is_local, parse_address, parse_timeout
from sentprobe.encoders.identity import Identity, Spec
from sentprobe.encoders.server import (
    COMMON_OPTIONS,
    MAX_CONCURRENCY,
    MAX_REQUEST_TEXTS,
    OLLAMA,
    OPENAI,
    TEI,
    Server,
    parse_price,
)
from sentprobe.errors import UsageError

SENDS_TEXTS = True
LOADS_AT_ONCE = True
PROTOCOLS = {"/api/embed": OLLAMA, "/embeddings": OPENAI, "/embed": TEI}
"""By how the path ends; the first that fits."""
OPTIONS = {
    "model": "the model, for servers that have several: Ollama and OpenAI's protocol",
    "dimensions": "dimension of the vectors, for models that can shorten them",
    "truncate": "false (default) or true: whether the server cuts off texts that are too long, or refuses them",
    "batch": "texts per request (default 32, at most 2048); fewer are sent if the server asks for fewer",
    **COMMON_OPTIONS,
}
"""What may follow the question mark."""


def load(spec: Spec) -> Server:
    """The server at an address."""
    options, typed = spec.check_options(OPTIONS), f"{spec.scheme}:{spec.path}"
    base = parse_address(typed, typed, "texts", spec.choice("insecure", ("0", "1")) == "1")
    path = base.path.rstrip("/")
    protocol = next((protocol for end, protocol in PROTOCOLS.items() if path.endswith(end)), None)
    if protocol is None:
        ends = ", ".join(f"{end} ({protocol.name})" for end, protocol in PROTOCOLS.items())
        raise UsageError(f"{typed} does not say what the server speaks: expected an address that ends in {ends}.")
    model, prompt, version = options.get("model", ""), options.get("prompt", ""), options.get("version")
    if (protocol is TEI) == bool(model):
        raise UsageError(f"{spec}: a server of {protocol.name} needs {'no ' if model else ''}model=.")
    if (protocol is TEI and "dimensions" in options) or (protocol is OPENAI and "truncate" in options):
        raise UsageError(
            f"{spec}: servers of {protocol.name} do not have {'dimensions' if protocol is TEI else 'truncate'}=."
        )
    truncate = spec.choice("truncate", ("false", "true")) == "true"
    dimensions = spec.integer("dimensions", high=1 << 20)
    address = f"{base.netloc.lower()}{path}"
    identity = Identity.of(
        spec.scheme,
        address,
        model=model or None,
        dimensions=dimensions,
        empty="space",
        prompt=prompt or None,
        truncate="true" if truncate else None,
        version=version,
    )
    return Server(
        url=f"{base.scheme}://{address}",
        model=model,
        identity=None if version is None else identity,
        stored_as=identity.with_facts(verified="by vectors") if version is None else None,
        protocol=protocol,
        address=typed,
        dimensions=dimensions,
        batch=spec.integer("batch", 32, high=MAX_REQUEST_TEXTS),
        concurrency=spec.integer("concurrency", 1, high=MAX_CONCURRENCY),
        prompt=prompt,
        truncate=truncate,
        timeout=parse_timeout(options.get("timeout", "60"), str(spec)),
        price=parse_price(spec),
        proxies={} if is_local(base.hostname or "") else urllib.request.getproxies(),
    )
