"""Encoders that have learned nothing: what any other must beat before its score says something.

    baseline:length                             how long the text is, and nothing else
    baseline:random?dim=512&seed=0              a Gaussian vector per text: what a probe gets out of no information
    baseline:hash?dim=4096&ngrams=1&seed=0      a hashed bag of lower-cased words and n-grams, of length 1
    baseline:words?dim=300&seed=0               the mean of a Gaussian vector per lower-cased word: a bag of vectors

The same text has the same vector on every machine, in any batch and any order: hashes are ours, random numbers are
counted off and looked up, sums are exact, and no function is used whose last bit depends on the processor.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import TYPE_CHECKING, Any, ClassVar
from unicodedata import category

import numpy as np

from sonde.core.arguments import as_texts
from sonde.core.hashing import hash_64
from sonde.encoders.identity import Identity, Spec
from sonde.errors import UsageError

if TYPE_CHECKING:
    from sonde.encoders import Encoder

Array = np.ndarray[Any, Any]

DEFAULTS: dict[str, dict[str, int]] = {
    "length": {},
    "random": {"dim": 512, "seed": 0},
    "hash": {"dim": 4096, "ngrams": 1, "seed": 0},
    "words": {"dim": 300, "seed": 0},
}
"""The baselines and their options."""
LIMITS = {"dim": (1, 1 << 16), "ngrams": (1, 5), "seed": (0, (1 << 63) - 1)}
MAX_COUNT = 100
"""Texts of this many words or more are of one length to ``length``."""

_VERSION = 1  # part of every identity: to be raised by whoever changes a vector
_GOLDEN, _FIRST, _SECOND = (np.uint64(x) for x in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB))
_BLOCK = 1 << 17  # random words made at a time: they stay in the processor's cache


def load(spec: Spec) -> Encoder:
    """The baseline of this name."""
    if spec.name not in DEFAULTS or spec.revision is not None:
        near = difflib.get_close_matches(spec.name, DEFAULTS, n=1)
        hint = f" Did you mean baseline:{near[0]}?" if near else ""
        raise UsageError(f"There is no baseline {spec}.{hint} The baselines are {', '.join(DEFAULTS)}.")
    typed, defaults = spec.known(DEFAULTS[spec.name]), DEFAULTS[spec.name]
    chosen = {key: _number(spec, key, typed[key]) if key in typed else default for key, default in defaults.items()}
    match spec.name:
        case "random":
            return Random(chosen["dim"], chosen["seed"])
        case "hash":
            return Hash(chosen["dim"], chosen["ngrams"], chosen["seed"])
        case "words":
            return Words(Random(chosen["dim"], chosen["seed"], "words"))
    return Length()


def _number(spec: Spec, key: str, value: str) -> int:
    low, high = LIMITS[key]
    if value.isascii() and value.isdecimal() and len(value) < 20 and low <= int(value) <= high:
        return int(value)
    raise UsageError(f"{spec} has {key}={value}; expected a whole number from {low} to {high}.")


def quantiles() -> Array:
    """The 65,536 values, equally likely, that stand for the normal distribution: (65536,) float32.

    They are rounded to multiples of 1/4096, far above what processors differ in, so that a sum of them is exact, too.
    """
    from scipy.special import ndtri

    steps = 1 << 16
    values: Array = np.rint(ndtri((np.arange(steps) + 0.5) / steps) * 4096) / 4096 + 0.0  # which makes -0 a 0
    return values.astype(np.float32)


@dataclass(frozen=True, slots=True)
class Length:
    """How many words, tokens, pieces and characters a text has: vectors (n, 311).

    Each of the first three counts is also a one-hot of 101 places, so that length classes, wherever their bounds are,
    can be told apart by a linear probe. Words are set off by white space, as in texts that have been tokenised; tokens
    are these with the punctuation at their ends split off, as in those that have not; pieces are split inside as well.
    """

    batch: ClassVar[int] = 4096
    cacheable: ClassVar[bool] = False

    @property
    def identity(self) -> Identity:
        """Nothing can be chosen."""
        return Identity.of("baseline", "length", version=_VERSION)

    def __call__(self, texts: Sequence[str], /) -> Array:
        """Vectors (n, 311) for n texts."""
        texts = as_texts(texts)
        words, numbers, starts = _numbered([text.split() for text in texts])
        sizes = np.array([(1, len(tokens(word)), len(_pieces(word))) for word in words], dtype=np.int64).reshape(-1, 3)
        sums = np.zeros((len(numbers) + 1, 3), dtype=np.int64)
        np.cumsum(sizes[numbers], axis=0, out=sums[1:])
        characters = np.array([len(text) for text in texts], dtype=np.int64)
        counts = np.column_stack([np.diff(sums[starts], axis=0), characters])
        places = MAX_COUNT + 1
        out = np.zeros((len(texts), 3 * places + 8), dtype=np.float32)
        for which in range(3):
            out[np.arange(len(texts)), which * places + np.minimum(counts[:, which], MAX_COUNT)] = 1
        # of the size of the ones, so that no penalty on weights prefers the ones or the counts; 32-bit roots are exact
        scaled = (counts / (MAX_COUNT, MAX_COUNT, MAX_COUNT, 1000)).astype(np.float32)
        out[:, 3 * places :] = np.hstack((scaled, np.sqrt(scaled)))
        return out


@dataclass(frozen=True, slots=True)
class Random:
    """A Gaussian vector for each text, drawn by its hash: equal for equal texts and otherwise unrelated."""

    dim: int = 512
    seed: int = 0
    name: str = "random"
    """The baseline that draws: another draws other vectors."""
    table: Array = field(default_factory=quantiles, repr=False, compare=False)
    batch: ClassVar[int] = 4096
    cacheable: ClassVar[bool] = False

    @property
    def identity(self) -> Identity:
        """All options."""
        return Identity.of("baseline", self.name, dim=self.dim, seed=self.seed, version=_VERSION)

    def __call__(self, texts: Sequence[str], /) -> Array:
        """Vectors (n, dim) for n texts."""
        texts = as_texts(texts)
        return _gaussians(texts, self.dim, f"{self.name} {self.seed}", self.table)


@dataclass(frozen=True, slots=True)
class Hash:
    """A bag of lower-cased words and n-grams, counted in as many places as there are dimensions, then of length 1."""

    dim: int = 4096
    ngrams: int = 1
    seed: int = 0
    batch: ClassVar[int] = 1024
    cacheable: ClassVar[bool] = False

    @property
    def identity(self) -> Identity:
        """All options."""
        facts = {"dim": self.dim, "ngrams": self.ngrams, "seed": self.seed, "version": _VERSION}
        return Identity.of("baseline", "hash", **facts)

    def __call__(self, texts: Sequence[str], /) -> Array:
        """Vectors (n, dim) for n texts; that of a text without words is zero."""
        texts = as_texts(texts)
        bags = _split(texts)
        return self._bags(bags if self.ngrams == 1 else [list(self._grams(words)) for words in bags])

    def words(self, words: Sequence[str], /) -> Array:
        """Vectors (n, dim) for n words: what each would add to the bag."""
        words = as_texts(words)
        return self._bags([[word.lower()] for word in words])

    def _grams(self, words: Sequence[str]) -> Iterator[str]:
        yield from words
        for n in range(2, self.ngrams + 1):
            for i in range(len(words) - n + 1):
                yield " ".join(words[i : i + n])

    def _bags(self, bags: Sequence[Sequence[str]]) -> Array:
        grams, numbers, starts = _numbered(bags)
        places = (_states(grams, f"hash {self.seed}") % np.uint64(self.dim)).astype(np.int64)
        out: Array = _ones(places[numbers], starts, self.dim).toarray()  # where what fell into one place is added up
        norms = np.sqrt(np.einsum("ij,ij->i", out, out, dtype=np.float64)).astype(np.float32)  # of whole numbers
        out /= np.where(norms > 0, norms, np.float32(1))[:, None]
        return out


@dataclass(frozen=True, slots=True)
class Words:
    """The mean of Gaussian vectors, one for each lower-cased word, drawn by its hash: a bag of vectors, untrained."""

    drawn: Random
    batch: ClassVar[int] = Random.batch
    cacheable: ClassVar[bool] = Random.cacheable

    @property
    def identity(self) -> Identity:
        """That of what is drawn."""
        return self.drawn.identity

    def __call__(self, texts: Sequence[str], /) -> Array:
        """Vectors (n, dim) for n texts; that of a text without words is zero."""
        texts = as_texts(texts)
        words, numbers, starts = _numbered(_split(texts))
        means: Array = _ones(numbers, starts, len(words)) @ self.words(words)
        means /= np.maximum(np.diff(starts), 1).astype(np.float32)[:, None]
        return means

    def words(self, words: Sequence[str], /) -> Array:
        """Vectors (n, dim) for n words."""
        words = as_texts(words)
        return self.drawn([word.lower() for word in words])


# words


def tokens(word: str) -> list[str]:
    """A word without white space, its outer punctuation split off: ``(don't!!)`` is ``(``, ``don't``, ``!!``, ``)``."""
    if word.isalnum():
        return [word]
    start, end = 0, len(word)
    while start < end and category(word[start])[0] in "PS":
        start += 1
    while end > start and category(word[end - 1])[0] in "PS":
        end -= 1
    middle = [word[start:end]] if start < end else []
    return [*_runs(word[:start]), *middle, *_runs(word[end:])]


def _runs(marks: str) -> list[str]:
    """Marks, of which equal ones that follow one another are one: an ellipsis, a dash of two hyphens."""
    return ["".join(run) for _, run in groupby(marks)]


def _pieces(word: str) -> list[str]:
    """A word split at all punctuation; letters with their marks stay together in every script."""
    if word.isalnum():
        return [word]
    parts = [(mark, "".join(run)) for mark, run in groupby(word, lambda c: category(c)[0] in "PS")]
    return [piece for mark, part in parts for piece in (_runs(part) if mark else [part])]


def _split(texts: Sequence[str]) -> list[list[str]]:
    """The lower-cased tokens of each text; each word is taken apart once."""
    known: dict[str, list[str]] = {}
    out = []
    for text in texts:
        bag: list[str] = []
        for word in text.lower().split():
            if (found := known.get(word)) is None:
                found = known[word] = tokens(word)
            bag += found
        out.append(bag)
    return out


def _numbered(bags: Sequence[Sequence[str]]) -> tuple[list[str], Array, Array]:
    """The different words of all bags; the numbers of these, bag after bag; where in them each bag starts and ends."""
    known: dict[str, int] = {}
    numbers = [known.setdefault(word, len(known)) for bag in bags for word in bag]
    return list(known), np.array(numbers, dtype=np.int64), np.cumsum([0, *map(len, bags)], dtype=np.int64)


def _ones(places: Array, starts: Array, width: int) -> Any:
    """A sparse matrix (bags, width) with a one at each place, in the order given and as often as it is there."""
    from scipy.sparse import csr_array

    return csr_array((np.ones(len(places), dtype=np.float32), places, starts), shape=(len(starts) - 1, width))


# random numbers


def _mix(x: Array) -> Array:
    """``sonde.core.hashing.mix`` of each element, in place."""
    x ^= x >> np.uint64(30)
    x *= _FIRST
    x ^= x >> np.uint64(27)
    x *= _SECOND
    x ^= x >> np.uint64(31)
    return x


def _states(texts: Sequence[str], key: str) -> Array:
    """A 64-bit number (n,) for each of n texts, under a key."""
    hashes = np.array([*map(hash_64, texts)], dtype=np.uint64)
    return _mix(hashes ^ np.uint64(hash_64(key)))


def draw(texts: Sequence[str], counts: Array, key: str) -> Array:
    """So many 64-bit numbers for each of n texts, text after text: splitmix64 counted on from the text's hash."""
    whole = np.cumsum(counts)
    steps = np.arange(1, whole[-1] + 1, dtype=np.uint64) if len(whole) else np.empty(0, np.uint64)
    steps -= np.repeat((whole - counts).astype(np.uint64), counts)
    return _mix(np.repeat(_states(texts, key), counts) + steps * _GOLDEN)


def _gaussians(texts: Sequence[str], dim: int, key: str, table: Array) -> Array:
    """A vector (n, dim) for each of n texts: splitmix64 counted on from the text's hash, four numbers to a word."""
    states, width = _states(texts, key), -(-dim // 4)
    steps = np.arange(1, width + 1, dtype=np.uint64) * _GOLDEN
    out = np.empty((len(states), dim), dtype=np.float32)
    rows = max(1, _BLOCK // width)
    for start in range(0, len(states), rows):
        drawn = _mix(states[start : start + rows, None] + steps)
        # little-endian, whatever the machine is
        out[start : start + rows] = table[drawn.astype("<u8", copy=False).view("<u2")[:, :dim]]
    return out
