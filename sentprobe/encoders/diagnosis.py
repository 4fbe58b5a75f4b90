"""Whether encoders can be loaded; and whether one is broken, judged by its vectors and a few texts encoded once more.

    equal-vectors      more than 5 % of texts have the same vector as another text, e.g. if the tokenizer knows no
                       words; of vectors of a few features, all texts have the same
    zero-vectors       more than 5 % of vectors are all zeros
    large-values       values so large that squares of them overflow in single precision
    dead-layers        one of these two in some of several layers, as where the first token is pooled before any block
    constant-columns   dimensions that have the same value for all texts
    random-vectors     the same texts have different vectors in a second call
    batch-dependent    a text has a different vector alone, in a batch, or in the store
    order-dependent    a text has a different vector at another position in the batch
    unknown-tokens     more than 5 % of the running tokens have no word vector
    wrong-language     it was not made for the language of a set: see ``sentprobe.encoders.languages``
    trust              what in its identity cannot be verified

Two texts with the same letters and digits, whatever their order, case, accents and punctuation, may have equal vectors:
bags of words do not see a bigram shift, and many models lower-case. Any two other texts should differ. Vectors count as
equal if they differ by less than 1e-5 of their length, since padding changes the last digits of a sum.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from sentprobe.core.words import is_vowel_sign
from sentprobe.encoders.call import call_encoder, preview
from sentprobe.encoders.encoder import encoder_info
from sentprobe.encoders.identity import Spec
from sentprobe.encoders.scheme import SCHEMES, load, sends_texts
from sentprobe.errors import SentProbeError, UsageError

if TYPE_CHECKING:
    from sentprobe.encoders.embed import Embeddings

Code = Literal[
    "equal-vectors",
    "zero-vectors",
    "large-values",
    "dead-layers",
    "constant-columns",
    "random-vectors",
    "batch-dependent",
    "order-dependent",
    "unknown-tokens",
    "wrong-language",
    "trust",
]
Array = npt.NDArray[Any]

MIN_DIMENSIONS = 8
"""With fewer, vectors are a handful of features, such as a length, which different texts may well share."""
MAX_ODD_SHARE = 0.05
"""Share of texts or tokens above which the encoder is to blame, not the texts."""
MAX_ODD_TEXTS = 3
"""Texts that may share a vector whatever the share: among a few texts, two may be odd."""
SAMPLED_TEXTS = 2000
"""Texts that are examined, evenly spaced."""
MIN_COLUMN_TEXTS = 20
"""Minimum number of texts for which a constant column means something."""
REENCODED_TEXTS = 5
"""Texts that are encoded once more."""
EQUAL_TOLERANCE = 1e-5
MAX_VALUE = 1e15
"""Larger values are no coordinates: sums of a few thousand squares of them overflow in single precision."""
TOLERANCES = {"float32": 1e-3, "half": 2e-3, "coarse": 3e-2}
"""Vectors are the same if they differ by less than this share of their length: in single precision, rounded to half
precision, or computed in it. How a server computes them is unknown."""
REENCODING_CODES: tuple[Code, ...] = ("random-vectors", "batch-dependent", "order-dependent")
"""What can be seen only by encoding texts once more."""
EXEMPT_SCHEME = "baseline"
"""The scheme of encoders that have learned nothing by design."""


@dataclass(frozen=True, slots=True)
class Symptom:
    """One thing that is wrong, or that cannot be verified."""

    code: Code
    message: str


def diagnose(
    encoder: Callable[[Sequence[str]], Any],
    embeddings: Embeddings,
    texts: Iterable[str] | None = None,
    *,
    half: bool = False,
    call_symptoms: Sequence[Symptom] | None = None,
) -> list[Symptom]:
    """What is wrong with an encoder, judged by its vectors; of ``texts``, those that have one are examined.

    The encoder is the one that computed them, after its ``fit``. It encodes a handful of texts again, unless
    ``call_symptoms`` says what that showed before, or it may be a server and all vectors were in the store.
    """
    info = encoder_info(encoder)
    if info.identity is not None and info.identity.scheme == EXEMPT_SCHEME:
        return []
    rows = _row_indices(embeddings.texts, embeddings.texts if texts is None else texts)
    if not len(rows):
        return []
    sampled = rows[np.unique(np.linspace(0, len(rows) - 1, min(len(rows), SAMPLED_TEXTS)).astype(np.int64))]
    if hasattr(embeddings.vectors, "indptr"):  # sparse: a dimension per word, of which texts have a few
        what = _zero([embeddings.texts[i] for i in sampled], np.diff(embeddings.vectors.indptr)[sampled] == 0)
        return [Symptom("zero-vectors", f"{what}.")] if what else []
    layers = embeddings.vectors if embeddings.layers else embeddings.vectors[None]
    seen = [*_diagnose_vectors([embeddings.texts[i] for i in sampled], layers, sampled, embeddings.layers)]
    remote = info.identity is not None and sends_texts(str(info.identity))
    if call_symptoms is not None:
        seen += call_symptoms
    elif embeddings.encoded or not remote:
        seen += _diagnose_calls(encoder, embeddings, sampled, layers, half=half)
    seen += unknown_tokens(encoder, [embeddings.texts[i] for i in sampled])
    if info.caveat is not None:
        seen.append(Symptom("trust", info.caveat))
    return seen


def _row_indices(every: Sequence[str], texts: Iterable[str]) -> npt.NDArray[np.int64]:
    """The indices of texts among all; of equal texts one, and none of a text that is not there."""
    index_of = {text: i for i, text in enumerate(every)}
    indices = np.fromiter((index_of[text] for text in texts if text in index_of), np.int64)
    return indices[np.sort(np.unique(indices, return_index=True)[1])]


# vectors


def diagnose_vectors(texts: Sequence[str], vectors: Array, layers: Sequence[str] = ()) -> Iterator[Symptom]:
    """What is wrong with the vectors (layers, n, d) of distinct texts."""
    yield from _diagnose_vectors(texts, vectors, np.arange(len(texts)), layers)


def _diagnose_vectors(texts: Sequence[str], vectors: Array, rows: Array, layers: Sequence[str]) -> Iterator[Symptom]:
    """The same for some rows; one layer is copied at a time."""
    bags = [_letters(text) for text in texts]
    messages_by_code: dict[Code, dict[str, list[str]]] = {}
    for i, layer in enumerate(vectors):
        for code, what in _diagnose_layer(texts, bags, np.asarray(layer[rows], np.float32), layer):
            messages_by_code.setdefault(code, {}).setdefault(what, []).append(layers[i] if layers else "")
    for code, messages in messages_by_code.items():
        what, where = next(iter(messages.items()))
        names = [name for layer_names in messages.values() for name in layer_names if name]
        in_some_layers = 0 < len(names) < len(layers)
        at = f"Layer{'s' * (len(names) > 1)} {', '.join(names)}: " if in_some_layers else ""
        first = f" (layer {where[0]})" if len(messages) > 1 else ""
        yield Symptom("dead-layers" if in_some_layers and code != "constant-columns" else code, f"{at}{what}{first}.")


def _diagnose_layer(
    texts: Sequence[str], bags: Sequence[str], vectors: Array, full: Array
) -> Iterator[tuple[Code, str]]:
    n = len(texts)
    if (largest := float(np.abs(vectors).max(initial=0.0))) > MAX_VALUE:
        largest_row = int(np.abs(vectors).max(axis=1).argmax())
        yield (
            "large-values",
            (
                f"values are as large as {largest:.0e}, as in the vector of {preview(texts[largest_row])}: their "
                "squares overflow in single precision; is something divided by zero, or not normalised"
            ),
        )
        vectors = vectors / np.float32(largest)  # of which lengths can be computed
        full = full / largest
    zero = np.asarray(~vectors.any(axis=1))
    if what := _zero(texts, zero):
        yield "zero-vectors", what
    nonzero = np.flatnonzero(~zero)
    if not len(nonzero):
        return
    groups = list(_equal(vectors[nonzero]))
    shared: list[int] = []
    example = ("", "")
    for group in groups:
        members = nonzero[group].tolist()
        different = next((m for m in members if bags[m] != bags[members[0]]), None)
        if different is not None:
            example = example if shared else (texts[members[0]], texts[different])
            shared += members
    alike = len(groups) == 1 and len(shared) == len(nonzero)
    if _many(len(shared), n) and (alike or vectors.shape[1] >= MIN_DIMENSIONS):
        yield (
            "equal-vectors",
            (
                f"{len(shared):,} of {n:,} distinct texts have the same vector as another one, such as "
                f"{preview(example[0])} and {preview(example[1])}; its tokenizer may not know the words"
            ),
        )
    elif n >= MIN_COLUMN_TEXTS and (constant := _constant(vectors, full)):
        of = f"{constant:,} of {vectors.shape[1]:,}"
        yield "constant-columns", f"{of} columns of the vectors have the same value for all texts"


def _zero(texts: Sequence[str], zero: Array) -> str:
    """How many texts have a zero vector, if these are many."""
    if not _many(int(zero.sum()), len(texts)):
        return ""
    first = preview(texts[int(np.argmax(zero))])
    return f"{zero.sum():,} of {len(texts):,} texts have a zero vector, such as {first}"


def _many(count: int, n: int) -> bool:
    return count == n > 1 or (count > MAX_ODD_TEXTS and count > MAX_ODD_SHARE * n)


def _letters(text: str) -> str:
    """The letters, vowel signs and digits of a text, sorted, without case and accents."""
    return "".join(sorted(c for c in unicodedata.normalize("NFKD", text.casefold()) if c.isalnum() or is_vowel_sign(c)))


def _equal(vectors: Array) -> Iterator[npt.NDArray[np.int64]]:
    """Groups of equal rows (n, d), which are neighbours once rows are sorted by any projection."""
    length = np.linalg.norm(vectors, axis=1)
    direction = np.random.default_rng(0).standard_normal(vectors.shape[1], np.float32)
    order = np.argsort(vectors @ direction, kind="stable")
    step = np.linalg.norm(np.diff(vectors[order], axis=0), axis=1)
    apart = step > EQUAL_TOLERANCE * np.maximum(length[order][1:], length[order][:-1])
    yield from (group for group in np.split(order, np.flatnonzero(apart) + 1) if len(group) > 1)


def _constant(sample: Array, full: Array) -> int:
    """How many columns have a single value: found in a sample, and verified in all rows."""
    columns = np.flatnonzero(np.ptp(sample, axis=0) <= 1e-6 * np.abs(sample).max(axis=0))
    if len(columns):
        every = np.asarray(full[:, columns], np.float32)
        return int((np.ptp(every, axis=0) <= 1e-6 * np.abs(every).max(axis=0)).sum())
    return 0


# calls


def _diagnose_calls(
    encoder: Callable[[Sequence[str]], Any], embeddings: Embeddings, sampled: Array, layers: Array, *, half: bool
) -> list[Symptom]:
    """Encode a few texts of all lengths alone, together and in another order, and compare their vectors."""
    by_length = sorted(sampled.tolist(), key=lambda i: (len(embeddings.texts[i]), i))
    rows = [by_length[i] for i in np.unique(np.linspace(0, len(by_length) - 1, REENCODED_TEXTS).astype(int))]
    texts = [embeddings.texts[i] for i in rows]
    tolerance, stored_vectors = _tolerance(encoder, half), np.asarray(layers[:, rows], np.float64)

    def vectors(batch: Sequence[str]) -> Array:
        return np.asarray(call_encoder(encoder, batch, embeddings.layers), np.float64)

    try:
        together, repeated = vectors(texts), vectors(texts)
        separately = np.concatenate([vectors([text]) for text in texts], axis=1)
        backwards = vectors(texts[::-1])[:, ::-1]
    except SentProbeError:
        return []  # it has encoded these texts before: the network is to blame, or the error says what is
    if difference := describe_difference(together, repeated, texts, tolerance):
        return [Symptom("random-vectors", f"The same texts have different vectors in a second call: {difference}.")]
    if difference := describe_difference(together, backwards, texts, tolerance):
        return [Symptom("order-dependent", f"A vector depends on the order of the texts in the batch: {difference}.")]
    if difference := describe_difference(together, separately, texts, tolerance) or describe_difference(
        stored_vectors, separately, texts, tolerance
    ):
        # what agrees with itself in small batches, but not with the store, may have changed since
        stored = embeddings.encoded < len(set(embeddings.texts)) and not describe_difference(
            together, separately, texts, tolerance
        )
        what = (
            "Vectors in the store differ from those that it returns now" if stored else "A vector depends on its batch"
        )
        then = "; encode again with --no-store, and change its version" if stored else ""
        return [Symptom("batch-dependent", f"{what}: {difference}{then}.")]
    return []


def describe_difference(
    expected: Array, actual: Array, texts: Sequence[str], tolerance: float = TOLERANCES["float32"]
) -> str:
    """How vectors (layers, n, d) of the same texts differ; empty if they are the same."""
    if expected.shape != actual.shape:
        return f"expected an array of shape {expected.shape}, got {actual.shape}"
    length = np.maximum(np.linalg.norm(expected, axis=2), 1e-6)
    distance = (np.linalg.norm(expected - actual, axis=2) / length).max(axis=0)
    if distance.max() < tolerance:
        return ""
    return f"the vectors of {preview(texts[int(distance.argmax())])} differ by {distance.max():.2g} of their length"


def _tolerance(encoder: Any, half: bool) -> float:
    """By how much vectors of the same text may differ."""
    identity = encoder_info(encoder).identity
    facts: Mapping[str, str] = dict(identity.facts) if identity is not None else {}
    if facts.get("dtype") in ("float16", "bfloat16") or (identity is not None and sends_texts(str(identity))):
        return TOLERANCES["coarse"]
    return TOLERANCES["half" if half else "float32"]


# words


def unknown_tokens(encoder: Any, texts: Sequence[str]) -> list[Symptom]:
    """Whether word vectors lack more than a few of the running tokens, and whether another tokenisation would help."""
    from sentprobe.encoders.schemes.vec import Pooled

    if not isinstance(encoder, Pooled):
        return []
    if encoder.rows is not None:  # it was restricted to the tokens of some texts, and rejects others
        return []
    missing = encoder.missing(texts)
    if missing.share <= MAX_ODD_SHARE:
        return []
    simple = encoder.with_simple_tokens().missing(texts)
    if encoder.tokenise == "space" and simple.share < missing.share:
        then = f"add tokenise=simple, which splits punctuation off words: {simple.share:.1%} with it"
    else:
        then = "the vectors may be for another language, or for another spelling"
    what = f"{missing.share:.1%} of the running tokens have no word vector, most frequently"
    return [Symptom("unknown-tokens", f"{what} {', '.join(map(repr, missing.most_frequent))}; {then}.")]


# loading


def check_encoders(names: Iterable[str]) -> None:
    """Raise UsageError, with what is wrong with each, if some encoders cannot be loaded: files or options.

    It is called before anything is computed; encoders that may be there are not loaded for it.
    """
    wrong: list[str] = []
    for name in sorted(names):
        try:
            _check_loadable(name)
        except SentProbeError as e:
            wrong.append(str(e) if str(e).startswith(name) else f"{name}: {e}")
    if len(wrong) == 1:
        raise UsageError(wrong[0])
    if wrong:
        reasons = "".join(f"\n- {what}" for what in wrong)
        raise UsageError(f"{len(wrong)} encoders cannot be loaded, and nothing was computed:{reasons}")


def _check_loadable(name: str) -> None:
    spec = Spec.parse(name)
    scheme = SCHEMES.get(spec.scheme)
    if scheme.package:  # what another package does with a name is not known
        return
    if scheme.options:
        spec.check_options(scheme.options)
    file = None if scheme.named_file is None else scheme.named_file(spec)
    if scheme.loads_at_once or (file is not None and not file.exists()):
        load(name)  # says what is wrong
    for member in () if scheme.members is None else scheme.members(spec):
        _check_loadable(member)
