"""Naive Bayes classifiers that see only a shallow cue of a row: its features, and the classifier.

It counts sparsely, for any number of classes, in bounded memory.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from sentprobe.corpus.folding import fold, fold_text, lower_case
from sentprobe.data.expectations import Expectations
from sentprobe.data.splits import Split

if TYPE_CHECKING:
    from scipy import sparse

MAX_BAYES_CELLS = 1 << 22
"""Scores held in memory at a time."""
HASHED = 18
"""Bits of the table of character n-grams."""
TEXTS_AT_A_TIME = 2000
"""Texts whose character n-grams are taken together."""


@dataclass(frozen=True)
class Bag:
    """Features per row: row i has ``ids[starts[i]:starts[i + 1]]``, repeated as often as they occur."""

    ids: np.ndarray
    starts: np.ndarray
    width: int

    def __len__(self) -> int:
        return len(self.starts) - 1

    @property
    def matrix(self) -> sparse.csr_array:
        """Counts (rows, features)."""
        from scipy import sparse

        ones = np.ones(len(self.ids), np.float32)
        return sparse.csr_array((ones, self.ids, self.starts), shape=(len(self), self.width))


@dataclass(frozen=True)
class Bayes:
    """Multinomial naive Bayes: what was counted, whatever the smoothing."""

    counts: sparse.csr_array
    """Of the features of each class (classes, features). They stay sparse: log (count + alpha) is log alpha except
    where the feature occurs."""
    prior: np.ndarray
    """log of the class priors."""

    @classmethod
    def of(cls, train: sparse.csr_array, label: np.ndarray, classes: int, shares: np.ndarray | None = None) -> Bayes:
        """Count the features of training rows. ``shares`` are the class priors if they are not those of these rows."""
        from scipy import sparse

        n = len(label)
        owner = sparse.csr_array((np.ones(n, np.float32), (label, np.arange(n))), shape=(classes, n))
        with np.errstate(divide="ignore"):
            prior = np.log(np.bincount(label, minlength=classes) / n if shares is None else shares)
        return cls((owner @ train).tocsr().astype(np.float64), prior)

    def predict(self, test: sparse.csr_array, alpha: float = 1.0) -> np.ndarray:
        """The most probable class of each test row, with additive smoothing."""
        weights, base = self._weights(alpha)
        step = max(1, MAX_BAYES_CELLS // self.counts.shape[0])
        out = np.empty(test.shape[0], np.int64)
        for a in range(0, test.shape[0], step):
            out[a : a + step] = self._scores(test[a : a + step], weights, base).argmax(axis=1)
        return out

    def scores(self, test: sparse.csr_array, alpha: float = 1.0) -> np.ndarray:
        """log of the joint probability of each test row and each class (rows, classes)."""
        return self._scores(test, *self._weights(alpha))

    def _scores(self, test: sparse.csr_array, weights: sparse.csr_array, base: np.ndarray) -> np.ndarray:
        scores = _products(test, weights)
        scores += np.asarray(test.sum(axis=1)).ravel()[:, None] * base
        scores += self.prior
        return scores

    def _weights(self, alpha: float) -> tuple[sparse.csr_array, np.ndarray]:
        """log (count + alpha) - log alpha where there is a count (classes, features), and log alpha of each class."""
        from scipy import sparse

        counts, width = self.counts, self.counts.shape[1]
        base = np.log(alpha) - np.log(np.asarray(counts.sum(axis=1)).ravel() + alpha * width)
        logs = np.log1p(counts.data / alpha)
        return sparse.csr_array((logs, counts.indices, counts.indptr), shape=counts.shape), base


def _products(rows: sparse.csr_array, weights: sparse.csr_array) -> np.ndarray:
    """rows (n, features) times weights (classes, features): (n, classes).

    Sums are faster with dense weights: those of the features of these rows, a few classes at a time.
    """
    from scipy import sparse

    if not len(rows.indices):
        return np.zeros((rows.shape[0], weights.shape[0]))
    occurs = np.zeros(weights.shape[1], bool)
    occurs[rows.indices] = True
    seen, columns = np.flatnonzero(occurs), (np.cumsum(occurs) - 1)[rows.indices]
    counts = sparse.csr_array((rows.data.astype(np.float64), columns, rows.indptr), shape=(rows.shape[0], len(seen)))
    needed = weights[:, seen] if len(seen) < weights.shape[1] else weights
    step = max(1, MAX_BAYES_CELLS // len(seen))
    pieces = [counts @ needed[a : a + step].toarray().T.copy() for a in range(0, weights.shape[0], step)]
    return pieces[0] if len(pieces) == 1 else np.concatenate(pieces, axis=1)


def predict(
    train: sparse.csr_array,
    label: np.ndarray,
    test: sparse.csr_array,
    classes: int,
    alpha: float = 1.0,
    shares: np.ndarray | None = None,
) -> np.ndarray:
    """The most probable class of each test row by naive Bayes on training rows; ``shares`` as in ``Bayes.of``."""
    return Bayes.of(train, label, classes, shares).predict(test, alpha)


# What each classifier sees


def bags(rows: Split, train: np.ndarray, expectations: Expectations) -> Iterator[tuple[str, Bag]]:
    """Name and features of each classifier, one after the other, so that only one is held at a time."""
    sizes = np.array(rows.lengths)
    starts = np.r_[0, np.cumsum(sizes)]
    flat = [t for tokens in rows.tokens for t in tokens]
    yield "length", _named([[("n", min(n, 200)), ("bin", n // 4)] for n in sizes.tolist()])
    yield "edges", _named(map(_edges, rows.tokens))
    yield "punctuation", _named(map(_punctuation, rows.tokens))
    lower = _ids([fold(t, expectations.language) for t in flat])
    if expectations.changes or expectations.task is None:
        yield "position", _named(_positions(rows, train, lower, starts, bool(expectations.changes)))
    yield "unigrams", Bag(lower, starts, int(lower.max(initial=0)) + 1)
    yield "bigrams", _with_pairs(lower, starts)
    cased = _ids(flat)
    yield "unigrams cased", Bag(cased, starts, int(cased.max(initial=0)) + 1)
    inside = list(flat)
    for start in starts[:-1][sizes > 0].tolist():
        inside[start] = lower_case(inside[start], expectations.language)
    cased_inside = _ids(inside)
    yield "unigrams cased inside", Bag(cased_inside, starts, int(cased_inside.max(initial=0)) + 1)
    yield "bigrams cased", _with_pairs(cased, starts)
    yield "characters", _characters(rows.texts)
    for name, values in rows.inputs.items() if rows.has_all_inputs else ():
        yield f"inputs {name}", _named([fold_text(value, expectations.language).split() for value in values])


def words_and_pairs(rows: Split, language: str | None) -> Bag:
    """Folded unigrams and bigrams."""
    lower = _ids([fold(t, language) for tokens in rows.tokens for t in tokens])
    return _with_pairs(lower, np.r_[0, np.cumsum(rows.lengths)])


def _ids(tokens: Sequence[Any]) -> np.ndarray:
    ids: dict[Any, int] = {}
    return np.array([ids.setdefault(t, len(ids)) for t in tokens], np.int64)


def _named(features: Any) -> Bag:
    """A bag from the features of each row, which may be anything hashable."""
    rows = [list(row) for row in features]
    ids = _ids([feature for row in rows for feature in row])
    return Bag(ids, np.r_[0, np.cumsum([len(row) for row in rows])], int(ids.max(initial=0)) + 1)


def _edges(tokens: tuple[str, ...]) -> list[Any]:
    if not tokens:
        return ["empty"]
    first, last = tokens[0], tokens[-1]
    inside = sum(t[:1].isupper() for t in tokens[1:])
    return [
        ("first", first),
        ("last", last),
        ("first shape", _shape(first)),
        ("last shape", _shape(last)),
        ("capitals inside", min(inside, 9)),
        ("second shape", _shape(tokens[1] if len(tokens) > 1 else "")),
    ]


def _shape(token: str) -> str:
    if token.isupper() and len(token) > 1:
        return "upper"
    first = token[:1]
    if first.isupper():
        return "capital"
    if first.islower():
        return "lower"
    return "digit" if first.isdigit() else "other"


@cache
def is_mark(token: str) -> bool:
    """Whether a token consists of punctuation and symbols."""
    return bool(token) and all(unicodedata.category(c)[0] in "PS" for c in token)


def _punctuation(tokens: tuple[str, ...]) -> list[Any]:
    marks = [t for t in tokens if is_mark(t)]
    last = tokens[-1][-1:] if tokens else ""
    return [("count", min(len(marks), 9)), ("last", last if is_mark(last) else ""), *marks]


def _positions(
    rows: Split, train: np.ndarray, ids: np.ndarray, starts: np.ndarray, marked: bool
) -> Iterator[list[Any]]:
    """Positions from both ends: the least expected bigram, the first capital inside, the first comma.

    Where a task changes words, also the changed words, or those that would have been changed.
    """
    least_expected = _least_expected_bigrams(train, ids, starts)
    for i, row in enumerate(rows.examples):
        tokens, n = row.tokens, len(row.tokens)
        positions = {
            "pair": int(least_expected[i]) if n > 1 else -1,
            "capital": next((j for j in range(1, n) if tokens[j][:1].isupper()), -1),
            "comma": next((j for j, t in enumerate(tokens) if t == ","), -1),
        }
        out: list[Any] = [(name, "none") for name, j in positions.items() if j < 0]
        for name, j in positions.items():
            if j >= 0:
                out += [(name, "start", min(j, 9)), (name, "end", min(n - 1 - j, 9)), (name, "share", 10 * j // n)]
        for j in row.marks[:2] if marked else ():
            out += [("mark", "start", min(j, 9)), ("mark", "end", min(n - 1 - j, 9)), ("mark", "share", 10 * j // n)]
        yield out


def _least_expected_bigrams(train: np.ndarray, ids: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """Per row, the position of the bigram with the lowest mutual information in the training rows."""
    sizes = np.diff(starts)
    row = np.repeat(np.arange(len(sizes)), sizes)
    inner = np.flatnonzero(row[:-1] == row[1:]) if len(row) > 1 else np.zeros(0, np.int64)
    if not len(inner):
        return np.zeros(len(sizes), np.int64)
    trained = np.zeros(len(sizes), bool)
    trained[train] = True
    width = int(ids.max()) + 1
    pair = np.unique(ids[inner] * width + ids[inner + 1], return_inverse=True)[1]
    pair_counts = np.bincount(pair[trained[row[inner]]], minlength=int(pair.max()) + 1)
    counts = np.bincount(ids[trained[row]], minlength=width)
    score = np.log(pair_counts[pair] + 0.5) - np.log(counts[ids[inner]] + 1.0) - np.log(counts[ids[inner + 1]] + 1.0)
    order = np.lexsort((inner, score, row[inner]))
    rows, first = np.unique(row[inner][order], return_index=True)
    out = np.zeros(len(sizes), np.int64)
    out[rows] = inner[order][first] - starts[rows]
    return out


def _with_pairs(ids: np.ndarray, starts: np.ndarray) -> Bag:
    """Unigrams and bigrams; the bigram of a row's last token has an end mark."""
    width = int(ids.max(initial=0)) + 2
    following = np.r_[ids[1:], width - 1] if len(ids) else ids
    ends = starts[1:][np.diff(starts) > 0] - 1
    following[ends] = width - 1
    pairs = np.unique(ids * width + following, return_inverse=True)[1] + width
    return Bag(np.stack([ids, pairs], axis=1).ravel(), 2 * starts, int(pairs.max(initial=width)) + 1)


def _characters(texts: Sequence[str]) -> Bag:
    """Hashed n-grams of two, three and four characters; those that reach into the next text do not count."""
    ids, sizes = [], []
    for a in range(0, len(texts), TEXTS_AT_A_TIME):
        ngrams, counts = _character_ngrams(texts[a : a + TEXTS_AT_A_TIME])
        ids.append(ngrams)
        sizes.append(counts)
    starts = np.r_[0, np.cumsum(np.concatenate(sizes))]
    return Bag(np.concatenate(ids), starts, 1 << HASHED)


def _character_ngrams(texts: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    joined = "".join(f"\x02{t}\x03\x00\x00\x00" for t in texts)
    codes = np.frombuffer(joined.encode("utf-32-le", errors="surrogatepass"), np.uint32).astype(np.uint64)
    factor = np.uint64(0x9E3779B97F4A7C15)
    text = np.repeat(np.arange(len(texts), dtype=np.int32), [len(t) + 5 for t in texts])
    rolling = codes * factor
    ids, owner = [], []
    for n in (2, 3, 4):
        rolling = (rolling[:-1] ^ codes[n - 1 :]) * factor
        where = np.flatnonzero((codes[: 1 - n] != 0) & (codes[n - 1 :] != 0))
        ids.append(((rolling[where] + np.uint64(n)) * factor >> np.uint64(64 - HASHED)).astype(np.int32))
        owner.append(text[where])
    rows = np.concatenate(owner)
    order = np.argsort(rows, kind="stable")
    return np.concatenate(ids)[order], np.bincount(rows, minlength=len(texts))
