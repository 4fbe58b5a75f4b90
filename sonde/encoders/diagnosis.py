"""Whether an encoder is dead or broken, seen from its vectors and a handful of texts that are encoded once more.

    equal-vectors      more than 5 % of texts have the vector of another text, as with a tokenizer that knows no word
    zero-vectors       more than 5 % of vectors are all zeros
    dead-layers        one of these two in some layers of several, as where the first token is pooled before any block
    constant-columns   dimensions that are the same for all texts
    random-vectors     the same texts give other vectors the next time
    batch-dependent    a text alone has another vector than among others, or than the store has
    order-dependent    a text has another vector at another place of the batch
    unknown-tokens     more than 5 % of the running tokens have no word vector
    trust              what of its identity is taken on somebody's word

Two texts with the same letters and digits, whatever their order, case, accents and punctuation, may have equal vectors:
bags of words do not see a bigram shift, and many models lower-case. Every two other texts should differ. Vectors are
equal if they differ by less than 1e-5 of their length, since padding changes the last digits of a sum.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from sonde.encoders.embed import Embeddings, call_encoder, facts, preview
from sonde.errors import SondeError

Code = Literal[
    "equal-vectors", "zero-vectors", "dead-layers", "constant-columns", "random-vectors", "batch-dependent",
    "order-dependent", "unknown-tokens", "trust",
]  # fmt: skip
Array = npt.NDArray[Any]

MAX_ODD_SHARE = 0.05
"""Of texts or tokens, from which on something is wrong with the encoder and not with the texts."""
MAX_ODD_TEXTS = 3
"""Texts that may share a vector whatever the share: of a few texts, two may be odd."""
SAMPLED_TEXTS = 2000
"""Texts that are looked at, spread evenly."""
MIN_COLUMN_TEXTS = 20
"""Texts from which on a column that is the same for all of them says something."""
REENCODED_TEXTS = 5
"""Texts that are encoded once more."""
EQUAL_TOLERANCE = 1e-5
TOLERANCES = {"float32": 1e-3, "half": 2e-3, "coarse": 3e-2}
"""Vectors are the same if they differ by less than this share of their length: in single precision, rounded to half of
it, or made in it; of a server, nobody knows."""
REENCODING_CODES: tuple[Code, ...] = ("random-vectors", "batch-dependent", "order-dependent")
"""What is seen from texts that are encoded once more."""
EXEMPT_SCHEME = "baseline"
"""The scheme of encoders that know nothing by design."""


@dataclass(frozen=True, slots=True)
class Symptom:
    """One thing that is wrong, or taken on trust."""

    code: Code
    message: str


def diagnose(
    encoder: Callable[[Sequence[str]], Any],
    found: Embeddings,
    texts: Sequence[str] | None = None,
    *,
    half: bool = False,
    calls: Sequence[Symptom] | None = None,
) -> list[Symptom]:
    """What is wrong with an encoder, seen from vectors that it gave; ``texts`` are those of them to look at.

    The encoder is the one that made them, after its ``fit``. It is asked for a handful of texts again, unless ``calls``
    says what came of that before, or it is a server and all vectors were in the store.
    """
    about = facts(encoder)
    if about.identity is not None and about.identity.scheme == EXEMPT_SCHEME:
        return []
    place = {text: i for i, text in enumerate(found.texts)}
    rows = np.array([place[text] for text in dict.fromkeys(found.texts if texts is None else texts)], np.int64)
    if not len(rows):
        return []
    some = rows[np.unique(np.linspace(0, len(rows) - 1, min(len(rows), SAMPLED_TEXTS)).astype(np.int64))]
    layers = found.vectors if found.layers else found.vectors[None]
    seen = [*_diagnose_vectors([found.texts[i] for i in some], layers, some, found.layers)]
    remote = about.identity is not None and about.identity.scheme == "openai"
    if calls is not None:
        seen += calls
    elif found.encoded or not remote:
        seen += _diagnose_calls(encoder, found, some, layers, half=half)
    seen += unknown_tokens(encoder, [found.texts[i] for i in some])
    if isinstance(caveat := getattr(encoder, "trust", None), str):
        seen.append(Symptom("trust", caveat))
    return seen


# vectors


def diagnose_vectors(texts: Sequence[str], vectors: Array, layers: Sequence[str] = ()) -> Iterator[Symptom]:
    """What is wrong with the vectors (layers, n, d) of different texts."""
    yield from _diagnose_vectors(texts, vectors, np.arange(len(texts)), layers)


def _diagnose_vectors(texts: Sequence[str], vectors: Array, rows: Array, layers: Sequence[str]) -> Iterator[Symptom]:
    """The same of some rows; one layer is copied at a time."""
    bags = [_letters(text) for text in texts]
    told: dict[Code, dict[str, list[str]]] = {}
    for i, layer in enumerate(vectors):
        for code, what in _of_layer(texts, bags, np.asarray(layer[rows], np.float32), layer):
            told.setdefault(code, {}).setdefault(what, []).append(layers[i] if layers else "")
    for code, messages in told.items():
        what, where = next(iter(messages.items()))
        names = [name for some in messages.values() for name in some if name]
        some = 0 < len(names) < len(layers)
        at = f"Layer{'s' * (len(names) > 1)} {', '.join(names)}: " if some else ""
        first = f" (layer {where[0]})" if len(messages) > 1 else ""
        yield Symptom("dead-layers" if some and code != "constant-columns" else code, f"{at}{what}{first}.")


def _of_layer(texts: Sequence[str], bags: Sequence[str], vectors: Array, whole: Array) -> Iterator[tuple[Code, str]]:
    n = len(texts)
    zero = ~vectors.any(axis=1)
    if _many(int(zero.sum()), n):
        first = preview(texts[int(np.argmax(zero))])
        yield "zero-vectors", f"{zero.sum():,} of {n:,} texts have a vector of zeros, such as {first}"
    left = np.flatnonzero(~zero)
    if not len(left):
        return
    groups = _equal(vectors[left])
    shared: list[int] = []
    example = ("", "")
    for group in groups:
        members = left[group].tolist()
        other = next((m for m in members if bags[m] != bags[members[0]]), None)
        if other is not None:
            example = example if shared else (texts[members[0]], texts[other])
            shared += members
    if _many(len(shared), n):
        yield (
            "equal-vectors",
            (
                f"{len(shared):,} of {n:,} different texts have the same vector as another one, such as "
                f"{preview(example[0])} and {preview(example[1])}; its tokenizer may not know the words"
            ),
        )
    elif n >= MIN_COLUMN_TEXTS and (constant := _constant(vectors, whole)):
        of = f"{constant:,} of {vectors.shape[1]:,}"
        yield "constant-columns", f"{of} columns of the vectors are the same for all texts"


def _many(count: int, n: int) -> bool:
    return count == n > 1 or (count > MAX_ODD_TEXTS and count > MAX_ODD_SHARE * n)


def _letters(text: str) -> str:
    """What two texts share that may have equal vectors: letters and digits, sorted, without case and accents."""
    return "".join(sorted(c for c in unicodedata.normalize("NFKD", text.casefold()) if c.isalnum()))


def _equal(vectors: Array) -> Iterator[npt.NDArray[np.int64]]:
    """Groups of rows (n, d) that are equal, found side by side once rows are sorted by any one projection."""
    length = np.linalg.norm(vectors, axis=1)
    direction = np.random.default_rng(0).standard_normal(vectors.shape[1], np.float32)
    order = np.argsort(vectors @ direction, kind="stable")
    step = np.linalg.norm(np.diff(vectors[order], axis=0), axis=1)
    apart = step > EQUAL_TOLERANCE * np.maximum(length[order][1:], length[order][:-1])
    yield from (group for group in np.split(order, np.flatnonzero(apart) + 1) if len(group) > 1)


def _constant(sample: Array, whole: Array) -> int:
    """How many columns have one value: looked for in a sample, and made sure of in all rows."""
    columns = np.flatnonzero(np.ptp(sample, axis=0) <= 1e-6 * np.abs(sample).max(axis=0))
    if len(columns):
        every = np.asarray(whole[:, columns], np.float32)
        return int((np.ptp(every, axis=0) <= 1e-6 * np.abs(every).max(axis=0)).sum())
    return 0


# calls


def _diagnose_calls(
    encoder: Callable[[Sequence[str]], Any], found: Embeddings, some: Array, layers: Array, *, half: bool
) -> list[Symptom]:
    """Encode a few texts of all lengths alone, together and in another order, and compare."""
    by_length = sorted(some.tolist(), key=lambda i: (len(found.texts[i]), i))
    rows = [by_length[i] for i in np.unique(np.linspace(0, len(by_length) - 1, REENCODED_TEXTS).astype(int))]
    texts = [found.texts[i] for i in rows]
    same, kept = _same(encoder, half), np.asarray(layers[:, rows], np.float64)

    def vectors(some: Sequence[str]) -> Array:
        return np.asarray(call_encoder(encoder, some, found.layers), np.float64)

    try:
        together, again = vectors(texts), vectors(texts)
        alone = np.concatenate([vectors([text]) for text in texts], axis=1)
        backwards = vectors(texts[::-1])[:, ::-1]
    except SondeError:
        return []  # it was asked for these texts before, and answered: it is the network's fault, or says so itself
    if far := apart(together, again, texts, same):
        return [Symptom("random-vectors", f"The same texts give other vectors the next time: {far}.")]
    if far := apart(together, backwards, texts, same):
        return [Symptom("order-dependent", f"A vector depends on the order of the texts in a batch: {far}.")]
    if far := apart(together, alone, texts, same) or apart(kept, alone, texts, same):
        # what agrees with itself in small batches, and not with what was kept, may have changed since
        stored = found.encoded < len(set(found.texts)) and not apart(together, alone, texts, same)
        what = "Vectors in the store are not those that it gives now" if stored else "A vector depends on its batch"
        then = "; encode again with --no-store, and change its version" if stored else ""
        return [Symptom("batch-dependent", f"{what}: {far}{then}.")]
    return []


def apart(one: Array, two: Array, texts: Sequence[str], same: float = TOLERANCES["float32"]) -> str:
    """What differs between vectors (layers, n, d) of the same texts; nothing if they are the same."""
    if one.shape != two.shape:
        return f"expected an array of shape {one.shape}, got {two.shape}"
    length = np.maximum(np.linalg.norm(one, axis=2), 1e-6)
    distance = (np.linalg.norm(one - two, axis=2) / length).max(axis=0)
    if distance.max() < same:
        return ""
    return f"the vectors of {preview(texts[int(distance.argmax())])} differ by {distance.max():.2g} of their length"


def _same(encoder: Any, half: bool) -> float:
    """How much vectors of the same text may differ."""
    identity = facts(encoder).identity
    told: Mapping[str, str] = dict(identity.facts) if identity is not None else {}
    if told.get("dtype") in ("float16", "bfloat16") or (identity is not None and identity.scheme == "openai"):
        return TOLERANCES["coarse"]
    return TOLERANCES["half" if half else "float32"]


# words


def unknown_tokens(encoder: Any, texts: Sequence[str]) -> list[Symptom]:
    """Whether word vectors lack more than a few of the running tokens, and how other tokens would do."""
    from sonde.encoders.schemes.vec import Pooled

    if not isinstance(encoder, Pooled):
        return []
    if encoder.rows is not None:  # it was restricted to the tokens of some texts, and refuses others
        return []
    missing = encoder.missing(texts)
    if missing.share <= MAX_ODD_SHARE:
        return []
    other = encoder.with_simple_tokens().missing(texts)
    if encoder.tokenise == "space" and other.share < missing.share:
        then = f"add tokenise=simple, which splits punctuation off words: {other.share:.1%} with it"
    else:
        then = "the vectors may be for another language, or for words written in another way"
    what = f"{missing.share:.1%} of the running tokens have no word vector, most of all"
    return [Symptom("unknown-tokens", f"{what} {', '.join(map(repr, missing.most_frequent))}; {then}.")]
