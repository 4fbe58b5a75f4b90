"""Annotators behind HTTP: requests, and responses that are CoNLL-U of the texts that were sent, checked.

Texts are sent to the address that was typed. Several go in one request, as paragraphs with an empty line between them;
their characters tell which sentences belong to which text, so that a response that is not the text is noticed.
"""

from __future__ import annotations

import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from urllib.error import HTTPError
from urllib.parse import urlsplit

from sentprobe import __version__
from sentprobe.annotate.conversion import TextDiffersError, by_text
from sentprobe.core.network import RETRY_STATUSES, Endpoint, is_local, parse_address, parse_timeout
from sentprobe.corpus.conllu import parse_conllu
from sentprobe.errors import AnnotatorError, CorpusError, UsageError
from sentprobe.sentence import ANNOTATION_COLUMNS, Sentence, shorten

MAX_RESPONSE_BYTES = 1 << 26
BATCH_CHARACTERS, MAX_BATCH_CHARACTERS = 20_000, 1_000_000
OPTIONS = {
    "batch": f"characters of text per request (default {BATCH_CHARACTERS:,})",
    "timeout": "seconds without a response after which a request has failed (default 300)",
    "insecure": "1: allow http:// to another machine",
}
"""What all annotators on servers take."""
TRIAL_TEXT = "One two three."


@dataclass(frozen=True)
class HttpAnnotator:
    """A server, and what is sent to it."""

    endpoint: Endpoint
    request: Callable[[Sequence[str], bool], tuple[bytes, str]]
    """From texts, and whether they are single sentences, to the body of a request and its type."""
    content: Callable[[bytes], bytes]
    """The CoNLL-U in a response."""
    batch: int = BATCH_CHARACTERS

    def __call__(self, texts: Sequence[str], is_split: bool, /) -> Iterator[list[Sentence]]:
        """The sentences of each text."""
        for batch in _batches(texts, self.batch):
            yield from self.annotate_batch(batch, is_split)

    def annotate_batch(self, texts: Sequence[str], is_split: bool) -> list[list[Sentence]]:
        """The sentences of the texts of one request; CorpusError if the response is not their annotation."""
        body, content_type = self.request(texts, is_split)
        return read_response(self.content(send(self.endpoint, body, content_type)), texts, self.endpoint.url)


def send(endpoint: Endpoint, body: bytes, content_type: str) -> bytes:
    """The response to a request."""

    def refusal(error: HTTPError, content: bytes) -> str:
        text = " ".join(content.decode(errors="replace").split())
        failure = f"{endpoint.url} answered {error.code}: {shorten(text, 300)!r}."
        if error.code in RETRY_STATUSES:
            return failure
        if 300 <= error.code < 400:
            failure += (
                f" It redirects to {shorten(error.headers.get('Location', ''), 300)!r}: type that, if it is right."
            )
        if error.code == 413:
            failure += " Send less at once: batch=5000."
        raise AnnotatorError(failure) from None

    headers = {"Content-Type": content_type, "User-Agent": f"sentprobe/{__version__}"}
    return endpoint.post(body, headers, refusal, MAX_RESPONSE_BYTES)


def read_response(content: bytes, texts: Sequence[str], url: str) -> list[list[Sentence]]:
    """The sentences of each text, in CoNLL-U that a server answered with; CorpusError, with the line, if it is not."""
    source = f"response of {url}"
    lines: list[int] = []

    def sentences() -> Iterator[Sentence]:
        for line, sentence in parse_conllu(content, source):
            lines.append(line)
            yield without_empty_columns(sentence)

    try:
        return list(by_text(sentences(), texts))
    except TextDiffersError as error:
        line = lines[error.sentence] if error.sentence < len(lines) else content.count(b"\n") + 1
        raise CorpusError(source, line, error.got, error.expected) from None


def without_empty_columns(sentence: Sentence) -> Sentence:
    """The sentence without columns that have nothing but ``_``, which CoNLL-U cannot tell from missing ones."""
    lemmas, feats = (None if set(column or ()) == {"_"} else column for column in (sentence.lemmas, sentence.feats))
    return replace(sentence, lemmas=lemmas, feats=feats)


def columns_of(sentences: Sequence[Sentence]) -> tuple[str, ...]:
    """The columns that any of the sentences has."""
    columns = frozenset().union(*(sentence.columns for sentence in sentences))
    return tuple(name for name in ANNOTATION_COLUMNS if name in columns)


def endpoint_of(typed: str, address: str, path: str, options: Mapping[str, str]) -> tuple[Endpoint, int]:
    """Where requests go, with a path added, and how much text in one; from what was typed."""
    insecure = options.get("insecure", "0")
    if insecure not in ("0", "1"):
        raise UsageError(f"{typed} has insecure={insecure}; expected 0 or 1.")
    parts = parse_address(address, f"The address of {typed}", "texts", insecure == "1")
    batch = options.get("batch", str(BATCH_CHARACTERS))
    if not batch.isascii() or not batch.isdigit() or not 1 <= int(batch[:9]) <= MAX_BATCH_CHARACTERS:
        raise UsageError(f"{typed} has batch={batch}; expected characters, from 1 to {MAX_BATCH_CHARACTERS:,}.")
    url = f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/').removesuffix(path) if path else parts.path}{path}"
    timeout = parse_timeout(options.get("timeout", "300"), typed)
    proxies = {} if is_local(parts.hostname or "") else urllib.request.getproxies()
    return Endpoint(url, "the address", AnnotatorError, timeout, proxies), int(batch)


def is_address(name: str) -> bool:
    """Whether a name is the address of a server, and not a file."""
    return urlsplit(name).scheme in ("http", "https")


def _batches(texts: Sequence[str], max_characters: int) -> Iterator[Sequence[str]]:
    """Runs of texts with at most this many characters, or of one text."""
    start = size = 0
    for at, text in enumerate(texts):
        if at > start and size + len(text) > max_characters:
            yield texts[start:at]
            start, size = at, 0
        size += len(text)
    if start < len(texts):
        yield texts[start:]
