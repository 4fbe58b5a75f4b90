"""Any HTTP service that takes text and returns CoNLL-U: another parser, or one in an environment of its own.

    conllu-server:http://127.0.0.1:7689/?language=fi&version=2.1

A request is a POST of plain UTF-8 text (``Content-Type: text/plain; charset=utf-8``), paragraphs with an empty line
between them; the response is CoNLL-U of that text, UTF-8, with status 200. No sentence may reach from one paragraph
into the next, and words must spell the text, white space aside. Where texts are sentences already (``--lines
sentences``, ``--split``), each is a paragraph: a service that splits one further is not prevented from it. Status 429
and 5xx are tried again. The servers of the Turku neural parser pipeline work like this; so does a dozen lines around
any parser.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sentprobe.annotate.annotator import Annotator, Loaded, Model
from sentprobe.annotate.conversion import not_universal
from sentprobe.annotate.http_annotator import (
    OPTIONS,
    TRIAL_TEXT,
    HttpAnnotator,
    columns_of,
    endpoint_of,
    is_address,
)
from sentprobe.errors import UsageError

SENDS_TEXTS = True
TEXT = "text/plain; charset=utf-8"


def load(name: str, options: Mapping[str, str]) -> Loaded:
    """Ask the service for the annotation of a short text, to know that it is there and what it fills."""
    typed = f"conllu-server:{name}"
    if not is_address(name):
        raise UsageError(f"{typed}: expected the address of a service, such as conllu-server:http://127.0.0.1:7689/.")
    endpoint, batch = endpoint_of(typed, name, "", options)
    service = HttpAnnotator(endpoint, _request, bytes, batch)
    trial = service.annotate_batch([TRIAL_TEXT], False)[0]
    unknown_deprels = not_universal(deprel for sentence in trial for deprel in sentence.deprels or ())
    universal = options.get("universal", "0" if unknown_deprels else "1")
    if universal not in ("0", "1"):
        raise UsageError(f"{typed} has universal={universal}; expected 0 or 1.")
    model = Model(
        name=endpoint.url,
        version=options.get("version", "unknown"),
        software=options.get("software", f"a service at {endpoint.url}"),
        licence=options.get("licence", ""),
        language=options.get("language"),
        universal=universal == "1",
        columns=columns_of(trial),
        splits=True,
        notes=(f"Texts are sent to {endpoint.url}.",),
    )
    return Loaded(model, service)


def _request(texts: Sequence[str], is_split: bool) -> tuple[bytes, str]:
    return "\n\n".join(texts).encode(), TEXT


annotator = Annotator(
    name="conllu-server",
    summary="An HTTP service that takes text and returns CoNLL-U; texts are sent to it.",
    load=load,
    options={
        **OPTIONS,
        "language": "the language of its texts",
        "version": "any text that tells versions of the model behind the address apart",
        "software": "the program behind the address",
        "licence": "the licence of its model",
        "universal": "0 or 1: whether its annotation is that of Universal Dependencies (default: by its relations)",
    },
    order=60,
)
