"""Word vectors from a file (word2vec, GloVe, fastText, gensim's .kv), pooled.

    vec:PATH[?pool=…&case=…&oov=…&tokenise=…&limit=…&freq=…&component=…]

PATH is a file of word vectors in any format that ``sentprobe.encoders.wordvectors`` reads. A text without a known word
has the zero vector. A vector depends on its text and on the identity, never on the other texts.

``pool``
    ``mean`` (default), ``max``, ``sum``.
    ``sif``, Arora et al. 2017: the mean of vectors times a / (a + p(w)), a = 0.001. p(w) comes from a file ``freq=``
    of lines ``word count``, where the word is looked up as in the vectors, then in lower case, otherwise p = 0; without
    such a file, from the rank r of the word among the vectors, as 1 / r, normalised (Zipf's law), and 0 for words made
    of n-grams. With ``component=1`` (default 0) the first principal component, not centred, of the texts given to
    ``fit`` is removed from every vector.
    ``idf``: the mean weighted by log((1 + n) / (1 + df)) + 1, with the frequencies df in the n texts given to ``fit``.
    ``unit``: the mean of vectors scaled to length 1, as fastText's ``get_sentence_vector``; words with the zero vector
    are ignored.
    ``pe``, Sukhbaatar et al. 2015: the sum weighted by (1 - j/J) - (k/d) (1 - 2j/J) for word j of J, dimension k of d.
``case``
    ``fallback`` (default): the word as it is, then in lower case, then capitalised. ``lower``. ``as-is``.
``oov``, for words without a vector
    ``skip`` (default): ignored. ``zero``: they have the zero vector, and count in means, maxima and positions.
    ``subword`` (default where the file has n-grams, that is fastText .bin): a vector made of their n-grams.
``tokenise``
    ``space`` (default): split at white space. ``simple``: also split punctuation and symbols off both ends of words.
``limit``
    Only this many vectors, from the beginning of the file.

Two poolings depend on other texts than the one they encode: ``idf``, and ``sif`` with a component. They see these once,
in ``fit``, which returns another encoder whose identity has the digest of those texts; order and duplicates do not
matter. Before that they refuse to encode. All other poolings need no ``fit``, which returns them as they are.
"""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sentprobe.core.arguments import as_texts
from sentprobe.core.folders import cache_folder
from sentprobe.encoders.encoder import short_repr
from sentprobe.encoders.identity import Identity, Spec
from sentprobe.encoders.wordvectors.fasttext import Subwords
from sentprobe.encoders.wordvectors.pooling import (
    Frequencies,
    max_rows,
    number_tokens,
    positional_rows,
    read_frequencies,
    sum_rows,
)
from sentprobe.encoders.wordvectors.vectors import WordVectors, read_vectors
from sentprobe.errors import EncoderError, UsageError

WORD_POOLINGS = ("mean", "max", "sum", "sif", "idf", "pe", "unit")
CASES = ("fallback", "lower", "as-is")
OOV_POLICIES = ("skip", "zero", "subword")
TOKENISERS = ("space", "simple")
named_file = attrgetter("file")
OPTIONS = {
    "pool": "mean (default), max, sum, sif, idf, pe or unit: how the vectors of words become one",
    "case": "fallback (default), lower or as-is: how words are looked up",
    "oov": "skip (default), zero or subword: what is done with words that have no vector",
    "tokenise": "space (default) or simple: whether punctuation is split off words",
    "limit": "number of vectors to read, from the beginning of the file (default: all)",
    "freq": "a file of lines `word count`, for pool=sif",
    "component": "0 (default) or 1: whether the first principal component is removed, for pool=sif",
}
"""What may follow the question mark."""
SMOOTHING = 1e-3
"""The constant a of SIF."""


def load(spec: Spec) -> Pooled:
    """The encoder that a spec names."""
    path, limit = spec.path, spec.integer("limit")
    if not path:
        raise UsageError(f"{spec} names no file; expected vec:PATH, such as vec:glove.6B.300d.txt.")
    _check_options(spec)
    return build(spec, read_vectors(Path(path).expanduser(), cache_folder() / "vectors", limit), Path(path).name)


def build(spec: Spec, vectors: WordVectors, name: str) -> Pooled:
    """The encoder that pools these vectors as the options of a spec say."""
    options, pool = _check_options(spec), spec.choice("pool", WORD_POOLINGS)
    frequency = read_frequencies(options["freq"]) if "freq" in options else None
    component = spec.choice("component", ("0", "1")) == "1"
    oov = spec.choice("oov", OOV_POLICIES) if "oov" in options else None
    if oov == "subword" and vectors.subword is None:
        raise UsageError(f"{spec}: oov=subword needs a file with n-grams, a fastText .bin; {name} has none.")
    oov = oov or ("skip" if vectors.subword is None else "subword")
    case, tokenise = spec.choice("case", CASES), spec.choice("tokenise", TOKENISERS)
    return Pooled(vectors, name, pool, case, oov, tokenise, component, frequency)


def from_gensim(model: Any) -> WordVectors:
    """The vectors of KeyedVectors of gensim, with their n-grams if they are those of a FastText model."""
    matrix = np.ascontiguousarray(model.vectors, np.float32)
    ngrams = getattr(model, "vectors_ngrams", None)
    subword = None
    if ngrams is not None and len(ngrams):
        rows = np.ascontiguousarray(ngrams, "<f4").view(np.uint8)
        subword = Subwords(rows, int(model.min_n), int(model.max_n), 0)
    return WordVectors(list(model.index_to_key), matrix, "in memory", len(matrix), subword)


def _check_options(spec: Spec) -> dict[str, str]:
    """The options; UsageError if they contradict each other, which needs no file to know."""
    options, pool = spec.check_options(OPTIONS), spec.choice("pool", WORD_POOLINGS)
    for option in ("freq", "component"):
        if option in options and pool != "sif":
            raise UsageError(f"{spec}: {option} is for pool=sif, not for pool={pool}.")
    for option, values in (("case", CASES), ("tokenise", TOKENISERS), ("oov", OOV_POLICIES), ("component", ("0", "1"))):
        spec.choice(option, values)
    return options


@dataclass(frozen=True, eq=False)
class FitState:
    """What was computed from all texts, once."""

    digest: str
    texts: int
    frequency: Mapping[str, int]
    """In how many texts a word occurs; for idf."""
    component: NDArray[np.float64]
    """The direction (d,) to remove, or zero; for SIF."""


@dataclass(frozen=True)
class MissingTokens:
    """The tokens of texts without a vector."""

    share: float
    """Their share of the running tokens."""
    most_frequent: tuple[str, ...]
    """The most frequent of them."""


@dataclass(frozen=True, eq=False, repr=False)
class Pooled:
    """An encoder that pools the vectors of the words of a text."""

    vectors: WordVectors
    name: str
    pool: str = "mean"
    case: str = "fallback"
    oov: str = "skip"
    tokenise: str = "space"
    component: bool = False
    frequencies: Frequencies | None = None
    fitted: FitState | None = None
    rows: Mapping[str, int] | None = None
    """After ``restrict``, the only tokens that are accepted, and their rows, -1 for none."""
    batch_size: int = 1 << 15

    def __repr__(self) -> str:
        return short_repr(self, f"vec:{self.name}", f"{self.vectors.dim} dimensions", f"pool={self.pool}")

    @property
    def identity(self) -> Identity:
        """Everything that can change a vector; the file by its content."""
        return Identity.of(
            "vec",
            self.name,
            content=self.vectors.digest,
            pool=self.pool,
            case=self.case,
            oov=self.oov,
            tokenise=self.tokenise,
            component=int(self.component) if self.pool == "sif" else None,
            freq=("zipf" if self.frequencies is None else self.frequencies.digest) if self.pool == "sif" else None,
            fit=self.fitted.digest if self.fitted else None,
        )

    @property
    def parallel(self) -> bool:
        """Whether worker processes may have copies of it: not of n-grams, which are read from the file."""
        return self.vectors.subword is None

    @property
    def needs_fit(self) -> bool:
        """Whether ``fit`` has to be called first."""
        return self.fitted is None and (self.pool == "idf" or self.component)

    def __call__(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Vectors (n, d)."""
        texts = as_texts(texts)
        if self.needs_fit:
            raise EncoderError(
                f"vec: pool={self.pool}{'&component=1' * self.component} has to see all texts before it can encode: "
                "call fit(texts) and use the encoder that it returns."
            )
        vectors = np.zeros((len(texts), self.vectors.dim), np.float32)
        for at in range(0, len(texts), self.batch_size):
            pooled = self._pool(texts[at : at + self.batch_size])
            if self.fitted and self.component:
                # not a matrix product, whose last digits depend on the number of rows
                pooled -= (pooled * self.fitted.component).sum(1, keepdims=True) * self.fitted.component
            vectors[at : at + self.batch_size] = pooled
        return vectors

    def fit(self, texts: Iterable[str]) -> Pooled:
        """The same encoder, with what its pooling has to know of these texts; itself if that is nothing."""
        texts = as_texts(texts)
        if not (self.pool == "idf" or self.component):
            return self
        unique = sorted(set(texts))
        if not unique:
            raise UsageError(
                f"vec: pool={self.pool} cannot be fitted to zero texts; pass the texts that will be encoded."
            )
        state = hashlib.blake2b(digest_size=16)
        frequency: Counter[str] = Counter()
        square = np.zeros((self.vectors.dim, self.vectors.dim))
        for at in range(0, len(unique), self.batch_size):
            batch = unique[at : at + self.batch_size]
            for text in batch:
                state.update(text.encode(errors="surrogatepass") + b"\xff")  # which occurs in no text
            if self.pool == "idf":
                tokens, columns, lengths = number_tokens(batch, self.tokenise)
                entries = self._entries(tokens)
                for line in np.split(columns, np.cumsum(lengths)[:-1]):
                    frequency.update({entries[i] for i in line.tolist()})
            else:
                pooled = self._pool(batch)
                square += pooled.T @ pooled
        values, directions = np.linalg.eigh(square)
        component = directions[:, -1] * (values[-1] > 0)
        return replace(self, fitted=FitState(state.hexdigest(), len(unique), frequency, component))

    def tokens(self, texts: Sequence[str]) -> list[str]:
        """The distinct tokens of texts, as ``restrict`` takes them."""
        texts = as_texts(texts)
        return number_tokens(texts, self.tokenise)[0]

    def restrict(self, words: Iterable[str]) -> Pooled:
        """The same encoder with only the vectors of these tokens in memory; it rejects all other tokens."""
        words = as_texts(words)
        tokens = list(dict.fromkeys(words))
        rows, row_numbers = np.unique(np.append(self._rows(tokens), -1), return_inverse=True)  # -1 comes first
        table = dict(zip(tokens, (row_numbers[:-1] - 1).tolist(), strict=True))
        return replace(self, vectors=self.vectors.take(rows[1:]), rows=table)

    def words(self, words: Sequence[str]) -> NDArray[np.float32]:
        """The vectors (n, d) of single words as within texts; zero where ``has_vector`` is false."""
        words = as_texts(words)
        return self._lookup(words)[0]

    def has_vector(self, words: Sequence[str]) -> NDArray[np.bool_]:
        """Which words (n,) have a vector, possibly made of n-grams."""
        words = as_texts(words)
        return self._lookup(words)[1]

    def missing(self, texts: Sequence[str]) -> MissingTokens:
        """The running tokens of texts that have no vector, not even one made of n-grams."""
        texts = as_texts(texts)
        tokens, columns, _ = number_tokens(texts, self.tokenise)
        lacking = self._rows(tokens) < 0
        if self.oov == "subword" and lacking.any():
            without_row = np.flatnonzero(lacking)
            lacking[without_row] = ~self.has_vector([tokens[i] for i in without_row.tolist()])
        counts = np.bincount(columns, minlength=len(tokens)) * lacking
        most_frequent = np.argsort(-counts, kind="stable")[: min(5, int(lacking.sum()))]
        return MissingTokens(
            float(counts.sum() / max(1, len(columns))), tuple(tokens[i] for i in most_frequent.tolist())
        )

    def with_simple_tokens(self) -> Pooled:
        """The same encoder with punctuation split off words."""
        return replace(self, tokenise="simple")

    @cached_property
    def _harmonic(self) -> float:
        """The normaliser of Zipf's law."""
        return float((1 / np.arange(1, self.vectors.size + 1)).sum())

    def _rows(self, tokens: Sequence[str]) -> NDArray[np.int64]:
        """The rows (n,) of tokens, -1 for none."""
        if self.rows is not None:
            if (unknown := next((token for token in tokens if token not in self.rows), None)) is not None:
                raise EncoderError(
                    f"This encoder was restricted to the words of other texts; got {unknown!r}. "
                    "Restrict it to the words of all texts, or not at all."
                )
            return np.fromiter(map(self.rows.__getitem__, tokens), np.int64, len(tokens))
        row = self.vectors.index.get
        if self.case != "fallback":
            forms = tokens if self.case == "as-is" else map(str.lower, tokens)
            return np.fromiter((row(form, -1) for form in forms), np.int64, len(tokens))
        rows = np.fromiter((row(token, -1) for token in tokens), np.int64, len(tokens))
        for i in np.flatnonzero(rows < 0).tolist():
            rows[i] = row(tokens[i].lower(), row(tokens[i].capitalize(), -1))
        return rows

    def _entries(self, tokens: Sequence[str]) -> list[str]:
        """The words as which tokens are counted: that of the vector, if there is one."""
        words, rows = self.vectors.words, self._rows(tokens).tolist()
        forms = [token.lower() for token in tokens] if self.case == "lower" else tokens
        return [form if row < 0 else words[row] for form, row in zip(forms, rows, strict=True)]

    def _lookup(self, tokens: Sequence[str]) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
        """The vectors (n, d) of tokens, and which of them have one."""
        rows = self._rows(tokens)
        has_vector = rows >= 0
        vectors = np.zeros((len(tokens), self.vectors.dim), np.float32)
        vectors[has_vector] = self.vectors.matrix[rows[has_vector]]
        if self.oov == "subword" and self.vectors.subword and not has_vector.all():
            without_row = np.flatnonzero(~has_vector)
            form = str.lower if self.case == "lower" else str
            vectors[without_row] = self.vectors.subword([form(tokens[i]) for i in without_row.tolist()])
            has_vector[without_row] = vectors[without_row].any(1)
        return vectors, has_vector

    def _weights(self, tokens: Sequence[str]) -> NDArray[np.float64]:
        """The weights (n,) of tokens in the mean."""
        if self.pool == "idf":
            assert self.fitted is not None
            n, frequency = self.fitted.texts, self.fitted.frequency
            return np.array([math.log((1 + n) / (1 + frequency.get(e, 0))) + 1 for e in self._entries(tokens)])
        if self.frequencies is not None:
            share = self.frequencies.share.get
            shares = np.array([share(entry, share(entry.lower(), 0.0)) for entry in self._entries(tokens)])
        else:
            rows = self._rows(tokens)
            ranks = rows if self.vectors.ranks is None else np.append(self.vectors.ranks, -1)[rows]
            shares = np.where(rows < 0, 0, 1 / (np.maximum(ranks, 0) + 1) / self._harmonic)
        return SMOOTHING / (SMOOTHING + shares)

    def _pool(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """The vectors (n, d) of a batch of texts."""
        tokens, columns, lengths = number_tokens(texts, self.tokenise)
        table, has_vector = self._lookup(tokens)
        if self.pool == "unit":
            lengths_of_vectors = np.linalg.norm(table, axis=1, keepdims=True)
            table, has_vector = table / np.maximum(lengths_of_vectors, 1e-38), lengths_of_vectors[:, 0] > 0
        if (self.oov != "zero" or self.pool == "unit") and not has_vector.all():
            is_pooled = has_vector[columns]
            lengths = np.bincount(np.repeat(np.arange(len(texts)), lengths)[is_pooled], minlength=len(texts))
            columns = columns[is_pooled]
        if self.pool == "max":
            return max_rows(table, columns, lengths)
        if self.pool == "pe":
            return positional_rows(table, columns, lengths)
        if self.pool in ("mean", "sum", "unit"):
            sums = sum_rows(table, columns, lengths)
            return sums if self.pool == "sum" else sums / np.maximum(lengths, 1)[:, None]
        weights = self._weights(tokens)[columns]
        sums = sum_rows(table, columns, lengths, weights)
        if self.pool == "idf":
            total = np.bincount(np.repeat(np.arange(len(texts)), lengths), weights, len(texts))
            return sums / np.where(lengths, total, 1)[:, None]
        return sums / np.maximum(lengths, 1)[:, None]
