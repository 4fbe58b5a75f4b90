"""Word vectors of a file, pooled.

    vec:PATH[?pool=…&case=…&oov=…&tokenise=…&limit=…&freq=…&component=…]

PATH is a file of word vectors in any format that ``sonde.encoders.wordvectors`` reads. A text without a known word
is the zero vector. A vector depends on its text and on the identity, never on the texts beside it.

``pool``
    ``mean`` (default), ``max``, ``sum``.
    ``sif``, Arora et al. 2017: the mean of vectors times a / (a + p(w)), a = 0.001. p(w) comes from a file ``freq=``
    of lines ``word count``, where the word is looked up as in the vectors, else in lower case, else has p = 0; without
    such a file from the word's place r among the vectors, as 1 / r, normalised (Zipf's law), and is 0 for words made
    of n-grams. With ``component=1`` (default 0) the first principal component, not centred, of the texts given to
    ``fit`` is taken out of every vector.
    ``idf``: the mean weighted by log((1 + n) / (1 + df)) + 1, with the frequencies df in the n texts given to ``fit``.
    ``pe``, Sukhbaatar et al. 2015: the sum weighted by (1 - j/J) - (k/d) (1 - 2j/J) for word j of J, dimension k of d.
``case``
    ``fallback`` (default): the word as it is, else in lower case, else capitalised. ``lower``. ``as-is``.
``oov``, what becomes of a word that has no vector
    ``skip`` (default): as if it were not there. ``zero``: it has the zero vector, and counts in means, maxima and
    positions. ``subword`` (default where the file has n-grams, that is fastText .bin): a vector made of its n-grams.
``tokenise``
    ``space`` (default): split at white space. ``simple``: then also punctuation and symbols off both ends of words.
``limit``
    Only so many vectors, from the beginning of the file.

Two pools look at other texts than the one they encode: ``idf``, and ``sif`` with a component. They do so once, in
``fit``, which returns another encoder whose identity has the digest of those texts; order and copies do not matter.
Before that they refuse to encode. All other pools need no ``fit`` and return themselves.
"""

from __future__ import annotations

import difflib
import hashlib
import math
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, groupby
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sonde.core.arguments import as_texts
from sonde.core.cache import cache_folder
from sonde.encoders.identity import Identity, Spec
from sonde.encoders.wordvectors import (
    Frequencies,
    WordVectors,
    max_rows,
    positional_rows,
    read_frequencies,
    read_vectors,
    sum_rows,
)
from sonde.errors import EncoderError, UsageError

WORD_POOLINGS = ("mean", "max", "sum", "sif", "idf", "pe")
CASES = ("fallback", "lower", "as-is")
OOV_POLICIES = ("skip", "zero", "subword")
TOKENISERS = ("space", "simple")
OPTIONS = ("pool", "case", "oov", "tokenise", "limit", "freq", "component")

SMOOTHING = 1e-3
"""The a of SIF."""


def load(spec: Spec) -> Pooled:
    """The encoder that a spec names."""
    options = spec.known(OPTIONS)
    path = spec.name if spec.revision is None else f"{spec.name}@{spec.revision}"  # a path may have an @ in it
    if not path:
        raise UsageError(f"{spec} names no file; expected vec:PATH, such as vec:glove.6B.300d.txt.")
    pool = _choice(spec, options, "pool", WORD_POOLINGS)
    for option in ("freq", "component"):
        if option in options and pool != "sif":
            raise UsageError(f"{spec}: {option} is for pool=sif, not for pool={pool}.")
    limit = options.get("limit")
    if limit is not None and not (limit.isdecimal() and int(limit)):
        raise UsageError(f"{spec}: limit is {limit!r}; expected a whole number above 0.")
    frequency = read_frequencies(options["freq"]) if "freq" in options else None
    component = _choice(spec, options, "component", ("0", "1")) == "1"
    case, tokenise = _choice(spec, options, "case", CASES), _choice(spec, options, "tokenise", TOKENISERS)
    oov = _choice(spec, options, "oov", OOV_POLICIES) if "oov" in options else None
    vectors = read_vectors(Path(path).expanduser(), cache_folder() / "vectors", int(limit) if limit else None)
    if oov == "subword" and vectors.subword is None:
        raise UsageError(f"{spec}: oov=subword needs a file with n-grams, a fastText .bin; {path} has none.")
    oov = oov or ("skip" if vectors.subword is None else "subword")
    return Pooled(vectors, Path(path).name, pool, case, oov, tokenise, component, frequency)


def _choice(spec: Spec, options: Mapping[str, str], key: str, allowed: Sequence[str]) -> str:
    value = options.get(key, allowed[0])
    if value not in allowed:
        near = difflib.get_close_matches(value, allowed, n=1)
        hint = f" Did you mean {near[0]}?" if near else ""
        raise UsageError(f"{spec}: {key} is {value!r}; expected {', '.join(allowed)}.{hint}")
    return value


@dataclass(frozen=True, eq=False)
class FitState:
    """What was learnt from texts, once."""

    digest: str
    texts: int
    frequency: Mapping[str, int]
    """In how many texts a word is; for idf."""
    component: NDArray[np.float64]
    """The direction (d,) to take out, or zero; for SIF."""


@dataclass(frozen=True)
class MissingTokens:
    """The tokens of texts that have no vector."""

    share: float
    """Of the running tokens."""
    most_frequent: tuple[str, ...]
    """The most frequent of them."""


@dataclass(frozen=True, eq=False)
class Pooled:
    """Texts → the pooled vectors of their words; see the top of this file."""

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
    """The only tokens there may be, and their rows, -1 for none, after ``restrict``."""
    batch: int = 1 << 15

    @property
    def identity(self) -> Identity:
        """Everything that can move a vector; the file by its content."""
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
    def needs_fit(self) -> bool:
        """Whether ``fit`` has to be called first."""
        return self.fitted is None and (self.pool == "idf" or self.component)

    def __call__(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Vectors (n, d)."""
        texts = as_texts(texts)
        if self.needs_fit:
            raise EncoderError(
                f"vec: pool={self.pool}{'&component=1' * self.component} looks at all texts once before it encodes: "
                "call fit(texts) and use the encoder that it returns."
            )
        made = np.zeros((len(texts), self.vectors.dim), np.float32)
        for at in range(0, len(texts), self.batch):
            pooled = self._pool(texts[at : at + self.batch])
            if self.fitted and self.component:
                # not a matrix product, whose last digits depend on the number of rows
                pooled -= (pooled * self.fitted.component).sum(1, keepdims=True) * self.fitted.component
            made[at : at + self.batch] = pooled
        return made

    def fit(self, texts: Iterable[str]) -> Pooled:
        """The same encoder, with what its pool has to know from these texts; itself if it has to know nothing."""
        texts = as_texts(texts)
        if not (self.pool == "idf" or self.component):
            return self
        unique = sorted(set(texts))
        if not unique:
            raise UsageError(f"vec: pool={self.pool} cannot be fitted to no text; give it the texts to be encoded.")
        state = hashlib.blake2b(digest_size=16)
        frequency: Counter[str] = Counter()
        square = np.zeros((self.vectors.dim, self.vectors.dim))
        for at in range(0, len(unique), self.batch):
            some = unique[at : at + self.batch]
            for text in some:
                state.update(text.encode(errors="surrogatepass") + b"\xff")  # which is in no text
            if self.pool == "idf":
                tokens, columns, lengths = self._number(some)
                entries = self._entries(tokens)
                for line in np.split(columns, np.cumsum(lengths)[:-1]):
                    frequency.update({entries[i] for i in line.tolist()})
            else:
                pooled = self._pool(some)
                square += pooled.T @ pooled
        values, directions = np.linalg.eigh(square)
        component = directions[:, -1] * (values[-1] > 0)
        return replace(self, fitted=FitState(state.hexdigest(), len(unique), frequency, component))

    def tokens(self, texts: Sequence[str]) -> list[str]:
        """The unique tokens of texts, which is what ``restrict`` wants."""
        texts = as_texts(texts)
        return self._number(texts)[0]

    def restrict(self, words: Iterable[str]) -> Pooled:
        """The same encoder with only the vectors in memory that these tokens need; it refuses all other tokens."""
        words = as_texts(words)
        tokens = list(dict.fromkeys(words))
        kept, place = np.unique(np.append(self._rows(tokens), -1), return_inverse=True)  # -1 comes first
        table = dict(zip(tokens, (place[:-1] - 1).tolist(), strict=True))
        return replace(self, vectors=self.vectors.take(kept[1:]), rows=table)

    def words(self, words: Sequence[str]) -> NDArray[np.float32]:
        """The vectors (n, d) of single words as texts would see them; zero where ``known`` is false."""
        words = as_texts(words)
        return self._lookup(words)[0]

    def known(self, words: Sequence[str]) -> NDArray[np.bool_]:
        """Which words (n,) have a vector, be it made of n-grams."""
        words = as_texts(words)
        return self._lookup(words)[1]

    def missing(self, texts: Sequence[str]) -> MissingTokens:
        """How many of the running tokens of texts have no vector, be it made of n-grams."""
        texts = as_texts(texts)
        tokens, columns, _ = self._number(texts)
        lacking = self._rows(tokens) < 0
        if self.oov == "subword" and lacking.any():
            others = np.flatnonzero(lacking)
            lacking[others] = ~self.known([tokens[i] for i in others.tolist()])
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
        """What Zipf's law is normalised by."""
        return float((1 / np.arange(1, self.vectors.size + 1)).sum())

    def _rows(self, tokens: Sequence[str]) -> NDArray[np.int64]:
        """The rows (n,) of tokens, -1 for none."""
        if self.rows is not None:
            if (strange := next((token for token in tokens if token not in self.rows), None)) is not None:
                raise EncoderError(
                    f"This encoder was restricted to the words of other texts; met {strange!r}. "
                    "Restrict it to the words of all texts, or not at all."
                )
            return np.fromiter(map(self.rows.__getitem__, tokens), np.int64, len(tokens))
        row = self.vectors.index.get
        if self.case != "fallback":
            forms = tokens if self.case == "as-is" else map(str.lower, tokens)
            return np.fromiter((row(form, -1) for form in forms), np.int64, len(tokens))
        found = np.fromiter((row(token, -1) for token in tokens), np.int64, len(tokens))
        for i in np.flatnonzero(found < 0).tolist():
            found[i] = row(tokens[i].lower(), row(tokens[i].capitalize(), -1))
        return found

    def _entries(self, tokens: Sequence[str]) -> list[str]:
        """The words under which tokens are counted: that of the vector, if there is one."""
        words, rows = self.vectors.words, self._rows(tokens).tolist()
        forms = [token.lower() for token in tokens] if self.case == "lower" else tokens
        return [form if row < 0 else words[row] for form, row in zip(forms, rows, strict=True)]

    def _lookup(self, tokens: Sequence[str]) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
        """The vectors (n, d) of tokens, and which of them have one."""
        rows = self._rows(tokens)
        known = rows >= 0
        found = np.zeros((len(tokens), self.vectors.dim), np.float32)
        found[known] = self.vectors.matrix[rows[known]]
        if self.oov == "subword" and self.vectors.subword and not known.all():
            others = np.flatnonzero(~known)
            form = str.lower if self.case == "lower" else str
            found[others] = self.vectors.subword([form(tokens[i]) for i in others.tolist()])
            known[others] = found[others].any(1)
        return found, known

    def _weights(self, tokens: Sequence[str]) -> NDArray[np.float64]:
        """The weights (n,) of tokens in the mean."""
        if self.pool == "idf":
            assert self.fitted is not None
            n, frequency = self.fitted.texts, self.fitted.frequency
            return np.array([math.log((1 + n) / (1 + frequency.get(e, 0))) + 1 for e in self._entries(tokens)])
        if self.frequencies is not None:
            share = self.frequencies.share.get
            found = np.array([share(entry, share(entry.lower(), 0.0)) for entry in self._entries(tokens)])
        else:
            rows = self._rows(tokens)
            places = rows if self.vectors.places is None else np.append(self.vectors.places, -1)[rows]
            found = np.where(rows < 0, 0, 1 / (np.maximum(places, 0) + 1) / self._harmonic)
        return SMOOTHING / (SMOOTHING + found)

    def _number(self, texts: Sequence[str]) -> tuple[list[str], NDArray[np.int64], NDArray[np.int64]]:
        """The unique tokens of texts, the number of every token among them, and how many tokens each text has."""
        flat: list[str] = []
        lengths = np.zeros(len(texts), np.int64)
        for i, text in enumerate(texts):
            words = text.split()
            lengths[i] = len(words)
            flat += words
        numbers: defaultdict[str, int] = defaultdict()
        numbers.default_factory = numbers.__len__
        columns = np.fromiter(map(numbers.__getitem__, flat), np.int64, len(flat))
        if self.tokenise == "space":
            return list(numbers), columns, lengths
        # split every word once, then put the numbers of its parts where its own was
        parts = [split_punctuation(word) for word in numbers]
        numbers.clear()
        inner = np.fromiter(map(numbers.__getitem__, chain.from_iterable(parts)), np.int64)
        sizes = np.fromiter(map(len, parts), np.int64, len(parts))
        many = sizes[columns]
        ends = np.concatenate(([0], np.cumsum(many)))
        places = np.arange(ends[-1]) + np.repeat((np.cumsum(sizes) - sizes)[columns] - ends[:-1], many)
        return list(numbers), inner[places], np.diff(ends[np.concatenate(([0], np.cumsum(lengths)))])

    def _pool(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """The vectors (n, d) of some texts."""
        tokens, columns, lengths = self._number(texts)
        table, known = self._lookup(tokens)
        if self.oov != "zero" and not known.all():
            here = known[columns]
            lengths = np.bincount(np.repeat(np.arange(len(texts)), lengths)[here], minlength=len(texts))
            columns = columns[here]
        if self.pool == "max":
            return max_rows(table, columns, lengths)
        if self.pool == "pe":
            return positional_rows(table, columns, lengths)
        if self.pool in ("mean", "sum"):
            sums = sum_rows(table, columns, lengths)
            return sums / np.maximum(lengths, 1)[:, None] if self.pool == "mean" else sums
        weights = self._weights(tokens)[columns]
        sums = sum_rows(table, columns, lengths, weights)
        if self.pool == "idf":
            whole = np.bincount(np.repeat(np.arange(len(texts)), lengths), weights, len(texts))
            return sums / np.where(lengths, whole, 1)[:, None]
        return sums / np.maximum(lengths, 1)[:, None]


def split_punctuation(word: str) -> tuple[str, ...]:
    """Split punctuation and symbols off both ends of a word, equal ones together; what is inside stays."""
    marks = [unicodedata.category(c)[0] in "PS" for c in word]
    if False not in marks:
        return _runs(word)
    first, last = marks.index(False), len(word) - marks[::-1].index(False)
    return (*_runs(word[:first]), word[first:last], *_runs(word[last:]))


def _runs(marks: str) -> tuple[str, ...]:
    return tuple("".join(run) for _, run in groupby(marks))
