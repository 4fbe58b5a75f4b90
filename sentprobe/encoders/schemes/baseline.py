"""Baselines that have learned nothing, which any other encoder should beat.

    baseline:length                             the length of the text, and nothing else
    baseline:random?dim=512&seed=0              a Gaussian vector per text: what a probe scores without any information
    baseline:hash?dim=4096&ngrams=1&seed=0      a hashed bag of lower-cased words and n-grams, normalised to length 1
    baseline:words?dim=300&seed=0               the mean of a Gaussian vector per lower-cased word: a bag of vectors

The same text has the same vector on every machine, in any batch and any order: hashes and random
numbers are our own (``sentprobe.encoders.draw``), sums are exact, and no function is used whose last bit depends on the
processor.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from sentprobe.core.arguments import as_texts
from sentprobe.core.words import lowercase_tokens, number_tokens, split_everywhere, split_punctuation
from sentprobe.encoders.draw import gaussian_vectors, hash_texts, quantiles
from sentprobe.encoders.identity import Identity, Spec
from sentprobe.errors import UsageError

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from sentprobe.encoders import Encoder

Array = np.ndarray[Any, Any]

DEFAULTS: dict[str, dict[str, int]] = {
    "length": {},
    "random": {"dim": 512, "seed": 0},
    "hash": {"dim": 4096, "ngrams": 1, "seed": 0},
    "words": {"dim": 300, "seed": 0},
}
"""The baselines, and the defaults of their options."""
OPTIONS = {
    "dim": "dimension of the vectors",
    "seed": "seed of the random numbers",
    "ngrams": "longest n-grams of words in the bag (default 1: words only)",
}
TITLES = {"length": "length", "random": "random vector", "hash": "hashed bag of words", "words": "bag of words"}
LIMITS = {"dim": (1, 1 << 16), "ngrams": (1, 5), "seed": (0, (1 << 63) - 1)}
MAX_HASH_DIMENSIONS = 1 << 20
"""Those of ``hash``, whose vectors may be sparse."""
MAX_COUNT = 100
"""Texts of this many words or more have the same length to ``length``."""

_VERSION = 1  # part of every identity: raise it if any vector changes


def load(spec: Spec) -> Encoder:
    """The baseline of this name."""
    if spec.name not in DEFAULTS or spec.revision is not None:
        near = difflib.get_close_matches(spec.name, DEFAULTS, n=1)
        hint = f" Did you mean baseline:{near[0]}?" if near else ""
        raise UsageError(f"There is no baseline {spec}.{hint} The baselines are {', '.join(DEFAULTS)}.")
    spec.check_options(DEFAULTS[spec.name])
    chosen: dict[str, int] = {}
    for key, default in DEFAULTS[spec.name].items():
        low, high = LIMITS[key]
        high = MAX_HASH_DIMENSIONS if (spec.name, key) == ("hash", "dim") else high
        chosen[key] = spec.integer(key, default, low=low, high=high)
    match spec.name:
        case "random":
            return Random(chosen["dim"], chosen["seed"])
        case "hash":
            return Hash(chosen["dim"], chosen["ngrams"], chosen["seed"])
        case "words":
            return Words(Random(chosen["dim"], chosen["seed"], "words"))
    return Length()


@dataclass(frozen=True, slots=True)
class Length:
    """How many words, tokens, pieces and characters a text has: vectors (n, 311).

    Each of the first three counts is also one-hot encoded in 101 places, so that a linear probe can tell length classes
    apart, whatever their bounds. Words are separated by white space, as in texts that were tokenised; tokens are words
    with the punctuation at both ends split off, as for texts that were not; pieces are split inside as well.
    """

    batch_size: ClassVar[int] = 4096
    cacheable: ClassVar[bool] = False
    parallel: ClassVar[bool] = True

    @property
    def identity(self) -> Identity:
        """There are no options."""
        return Identity.of("baseline", "length", version=_VERSION)

    def __call__(self, texts: Sequence[str], /) -> Array:
        """Vectors (n, 311) for n texts."""
        texts = as_texts(texts)
        words, numbers, starts = _number_words([text.split() for text in texts])
        sizes = np.array(
            [(1, len(split_punctuation(word)), len(split_everywhere(word))) for word in words], dtype=np.int64
        ).reshape(-1, 3)
        sums = np.zeros((len(numbers) + 1, 3), dtype=np.int64)
        np.cumsum(sizes[numbers], axis=0, out=sums[1:])
        characters = np.array([len(text) for text in texts], dtype=np.int64)
        counts = np.column_stack([np.diff(sums[starts], axis=0), characters])
        width = MAX_COUNT + 1
        out = np.zeros((len(texts), 3 * width + 8), dtype=np.float32)
        for which in range(3):
            out[np.arange(len(texts)), which * width + np.minimum(counts[:, which], MAX_COUNT)] = 1
        # scaled to the size of the ones, so that no weight penalty prefers either; 32-bit roots are exact
        scaled = (counts / (MAX_COUNT, MAX_COUNT, MAX_COUNT, 1000)).astype(np.float32)
        out[:, 3 * width :] = np.hstack((scaled, np.sqrt(scaled)))
        return out


@dataclass(frozen=True, slots=True)
class Random:
    """A Gaussian vector for each text, drawn by its hash: equal for equal texts, and unrelated otherwise."""

    dim: int = 512
    seed: int = 0
    name: str = "random"
    """The baseline that draws the vectors; they differ between baselines."""
    table: Array = field(default_factory=quantiles, repr=False, compare=False)
    batch_size: ClassVar[int] = 4096
    cacheable: ClassVar[bool] = False
    parallel: ClassVar[bool] = True

    @property
    def identity(self) -> Identity:
        """The options."""
        return Identity.of("baseline", self.name, dim=self.dim, seed=self.seed, version=_VERSION)

    def __call__(self, texts: Sequence[str], /) -> Array:
        """Vectors (n, dim) for n texts."""
        texts = as_texts(texts)
        return gaussian_vectors(texts, self.dim, f"{self.name} {self.seed}", self.table)


@dataclass(frozen=True, slots=True)
class Hash:
    """A bag of lower-cased words and n-grams, hashed into ``dim`` places and normalised to length 1."""

    dim: int = 4096
    ngrams: int = 1
    seed: int = 0
    batch_size: ClassVar[int] = 1024
    cacheable: ClassVar[bool] = False
    parallel: ClassVar[bool] = True

    @property
    def identity(self) -> Identity:
        """The options."""
        facts = {"dim": self.dim, "ngrams": self.ngrams, "seed": self.seed, "version": _VERSION}
        return Identity.of("baseline", "hash", **facts)

    def __call__(self, texts: Sequence[str], /) -> Array:
        """Vectors (n, dim) for n texts; that of a text without words is zero."""
        dense: Array = self.sparse_vectors(texts).toarray()
        return dense

    def sparse_vectors(self, texts: Sequence[str], /) -> csr_array:
        """The same as a sparse array."""
        texts = as_texts(texts)
        if self.ngrams == 1:
            return self._bags(*_numbered(texts))
        return self._bags(*_number_words([list(self._grams(words)) for words in lowercase_tokens(texts)]))

    def words(self, words: Sequence[str], /) -> Array:
        """Vectors (n, dim) for n words: what each adds to the bag."""
        dense: Array = self.sparse_words(words).toarray()
        return dense

    def sparse_words(self, words: Sequence[str], /) -> csr_array:
        """The same as a sparse array."""
        return self._bags(*_number_words([[word.lower()] for word in as_texts(words)]))

    def _grams(self, words: Sequence[str]) -> Iterator[str]:
        yield from words
        for n in range(2, self.ngrams + 1):
            for i in range(len(words) - n + 1):
                yield " ".join(words[i : i + n])

    def _bags(self, grams: Sequence[str], numbers: Array, starts: Array) -> csr_array:
        buckets = (hash_texts(grams, f"hash {self.seed}") % np.uint64(self.dim)).astype(np.int32)
        counts = _one_hot_counts(buckets[numbers], starts, self.dim)
        counts.sum_duplicates()
        n, sizes = len(starts) - 1, np.diff(counts.indptr)
        squares = np.bincount(np.repeat(np.arange(n), sizes), counts.data.astype(np.float64) ** 2, n)
        counts.data /= np.repeat(np.sqrt(squares).astype(np.float32), sizes)
        return counts


@dataclass(frozen=True, slots=True)
class Words:
    """The mean of Gaussian vectors, one for each lower-cased word, drawn by its hash: an untrained bag of vectors."""

    random: Random
    batch_size: ClassVar[int] = Random.batch_size
    cacheable: ClassVar[bool] = Random.cacheable
    parallel: ClassVar[bool] = True

    @property
    def identity(self) -> Identity:
        """That of the vectors that are drawn."""
        return self.random.identity

    def __call__(self, texts: Sequence[str], /) -> Array:
        """Vectors (n, dim) for n texts; that of a text without words is zero."""
        texts = as_texts(texts)
        words, numbers, starts = _numbered(texts)
        means: Array = _one_hot_counts(numbers, starts, len(words)) @ self.words(words)
        means /= np.maximum(np.diff(starts), 1).astype(np.float32)[:, None]
        return means

    def words(self, words: Sequence[str], /) -> Array:
        """Vectors (n, dim) for n words."""
        words = as_texts(words)
        return self.random([word.lower() for word in words])


def _numbered(texts: Sequence[str]) -> tuple[list[str], Array, Array]:
    """The tokens of texts as ``number_tokens`` gives them, in numpy's arrays."""
    tokens, numbers, starts = number_tokens(texts)
    return tokens, np.array(numbers, np.int64), np.array(starts, np.int64)


def _number_words(bags: Sequence[Sequence[str]]) -> tuple[list[str], Array, Array]:
    """The distinct words of all bags; the words as numbers, bag after bag; where each bag starts and ends in these."""
    number_of: dict[str, int] = {}
    numbers = [number_of.setdefault(word, len(number_of)) for bag in bags for word in bag]
    return list(number_of), np.array(numbers, dtype=np.int64), np.cumsum([0, *map(len, bags)], dtype=np.int64)


def _one_hot_counts(columns: Array, starts: Array, width: int) -> csr_array:
    """A sparse matrix (bags, width) with a one at each place, in this order and as often as it occurs."""
    from scipy.sparse import csr_array

    return csr_array((np.ones(len(columns), dtype=np.float32), columns, starts), shape=(len(starts) - 1, width))
