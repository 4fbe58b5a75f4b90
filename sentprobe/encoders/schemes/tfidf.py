"""A bag of words weighted by tf-idf, with frequencies from a text of your own; sparse.

    tfidf:FILE[?words=200000&tokenise=simple|…&case=lower|as-is&norm=yes|no]

FILE is plain text, one sentence per line, possibly compressed. Its ``words`` most frequent words have a dimension each,
in alphabetical order; all others are ignored. A dimension is the number of times that its word occurs in a text, times
log((1 + n) / (1 + df)) + 1, where df of the n lines of FILE have the word. Vectors have the norm 1 unless
``norm=no``; a text without known words has the zero vector.

Nothing is fitted to the texts of a set, and no vector depends on other texts: frequencies come from FILE alone, and are
part of the identity. With a large corpus these are the features of Hill et al. (2016), who used the 200,000 most
frequent words of the Toronto books. ``sentprobe sentences SET --split train`` prints the training text of a set as
FILE, so that no word of its test rows counts.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from sentprobe.core.arguments import as_texts
from sentprobe.core.reader import read_lines
from sentprobe.corpus.tokenisers import SIMPLE, Tokeniser, tokeniser, tokeniser_package
from sentprobe.encoders.encoder import short_repr
from sentprobe.encoders.identity import Identity, Spec
from sentprobe.errors import DataError, UsageError

if TYPE_CHECKING:
    from scipy.sparse import csr_array

named_file = attrgetter("file")
OPTIONS = {
    "words": "how many of the most frequent words have a dimension (default 200000)",
    "tokenise": "simple (default), space or another tokeniser",
    "case": "lower (default) or as-is",
    "norm": "yes (default) or no: whether vectors have the norm 1",
}
"""What may follow the question mark."""
MOST_WORDS = 200_000


@dataclass(frozen=True, eq=False, repr=False)
class Tfidf:
    """Counts of words, weighted by their idf."""

    identity: Identity
    vocabulary: tuple[str, ...]
    """The word of each dimension."""
    weights: NDArray[np.float32]
    """(d,): the idf of each word."""
    split: Tokeniser
    lower: bool
    norm: bool
    batch_size: ClassVar[int] = 64
    cacheable: ClassVar[bool] = False

    def __repr__(self) -> str:
        return short_repr(self, f"tfidf:{self.identity.name}", f"{len(self.weights):,} dimensions")

    def __call__(self, texts: Sequence[str], /) -> NDArray[np.float32]:
        """Vectors (n, d), mostly zeros."""
        dense: NDArray[np.float32] = self.sparse_vectors(texts).toarray()
        return dense

    def sparse_vectors(self, texts: Sequence[str], /) -> csr_array:
        """The same as a sparse array."""
        from scipy.sparse import csr_array

        words: list[int] = []
        counts: list[int] = []
        ends = [0]
        for text in as_texts(texts):
            numbers = (self._columns.get(word) for word in _words(text, self.split, self.lower))
            bag = Counter(column for column in numbers if column is not None)
            words += bag
            counts += bag.values()
            ends.append(len(words))
        columns = np.array(words, np.int64)
        values = np.array(counts, np.float64) * self.weights[columns]
        sizes = np.diff(ends)
        if self.norm:
            rows = np.repeat(np.arange(len(sizes)), sizes)
            values /= np.sqrt(np.bincount(rows, values**2, len(sizes)))[rows]
        shape = (len(sizes), len(self.weights))
        weighted = csr_array((values.astype(np.float32), columns, np.array(ends, np.int64)), shape=shape)
        weighted.sort_indices()
        return weighted

    def words(self, words: Sequence[str], /) -> NDArray[np.float32]:
        """The vectors (n, d) of single words."""
        return self(words)

    def sparse_words(self, words: Sequence[str], /) -> csr_array:
        """The same as a sparse array."""
        return self.sparse_vectors(words)

    @cached_property
    def _columns(self) -> dict[str, int]:
        return {word: column for column, word in enumerate(self.vocabulary)}


def load(spec: Spec) -> Tfidf:
    """The encoder that ``tfidf:FILE…`` names."""
    options = spec.check_options(OPTIONS)
    if not spec.path:
        raise UsageError(
            f"{spec} names no file; expected tfidf:FILE, text whose word frequencies are used. "
            "`sentprobe sentences SET --split train` prints the training text of a set."
        )
    most = spec.integer("words", MOST_WORDS)
    split, lower = options.get("tokenise", SIMPLE), spec.choice("case", ("lower", "as-is")) == "lower"
    norm, tokens = spec.choice("norm", ("yes", "no")) == "yes", tokeniser(split)
    lines, total, texts = 0, Counter[str](), Counter[str]()
    for _, line in read_lines(str(Path(spec.path).expanduser())):
        if words := list(_words(line, tokens, lower)):
            lines += 1
            total.update(words)
            texts.update(set(words))
    if not lines:
        raise DataError(f"{spec}: {spec.path} has no words; expected text with a sentence per line.")
    vocabulary = sorted(sorted(total, key=lambda word: (-total[word], word))[:most])
    weights = np.array([np.log((1 + lines) / (1 + texts[word])) + 1 for word in vocabulary], np.float32)
    state = hashlib.blake2b(weights.tobytes(), digest_size=16)
    state.update("\n".join(vocabulary).encode(errors="surrogatepass"))
    identity = Identity.of(
        "tfidf",
        Path(spec.path).name,
        content=state.hexdigest(),
        tokenise=split,
        tokeniser=tokeniser_package(split),
        case="lower" if lower else "as-is",
        norm=None if norm else "no",
    )
    return Tfidf(identity, tuple(vocabulary), weights, tokens, lower, norm)


def _words(text: str, split: Tokeniser, lower: bool) -> Iterator[str]:
    """The words of a text."""
    return iter(split(text.lower() if lower else text))
