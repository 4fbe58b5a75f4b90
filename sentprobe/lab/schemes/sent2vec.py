"""sent2vec models, as its authors released them or its program trained them: the mean over words and word n-grams.

    sent2vec:PATH[?tokenise=…&case=lower|as-is]

PATH is a ``.bin`` file of sent2vec (Pagliardini et al. 2018), which is read in place: of 20 GB, only the rows that
texts need are in memory. A vector is the mean of the vectors of the known words of a text and of its n-grams, whose
rows are found by their hashes; a text without known words has the zero vector.

The released models have read lower-cased text in the tokens of the Penn Treebank, which ``tokenise=treebank`` (default,
by nltk) and ``case=lower`` (default) come close to; the authors used Stanford's tokeniser, and replaced addresses and
names of users by ``<url>`` and ``<user>``, which is not done here. ``tokenise=space`` and ``case=as-is`` are for texts
that are prepared already: they give the vectors of the authors' program.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sentprobe.core.arguments import as_texts
from sentprobe.corpus.tokenisers import SPACE, TREEBANK, Tokeniser, tokeniser, tokeniser_package
from sentprobe.encoders.encoder import short_repr
from sentprobe.encoders.identity import Identity, Spec
from sentprobe.encoders.wordvectors import sum_rows
from sentprobe.encoders.wordvectors.fasttext import FASTTEXT_MAGIC, SENT2VEC, map_bytes, read_header
from sentprobe.encoders.wordvectors.formats import explain_errors
from sentprobe.encoders.wordvectors.rows import Bytes
from sentprobe.errors import EncoderError
from sentprobe.lab.schemes._released import PublishedFile, content_of, path_of

named_file = attrgetter("file")
OPTIONS = {
    "tokenise": "treebank (default), space or another tokeniser",
    "case": "lower (default) or as-is",
}
"""What may follow the question mark."""
ADDRESS = "https://github.com/epfml/sent2vec#downloading-sent2vec-pre-trained-models"
FILES = (
    PublishedFile("wiki_unigrams.bin", ADDRESS, "5 GB, Wikipedia"),
    PublishedFile("wiki_bigrams.bin", ADDRESS, "16 GB"),
    PublishedFile("twitter_bigrams.bin", ADDRESS, "23 GB, tweets"),
    PublishedFile("torontobooks_bigrams.bin", ADDRESS, "7 GB, books"),
)
MULTIPLIER = 116049371
"""Of the hash of n-grams."""
STOP = b"</s>"
"""The end of a line to sent2vec, which reads no further."""
_SPACES = re.compile(rb"[ \n\r\t\v\f\0]+")


@dataclass(frozen=True, eq=False, repr=False)
class Sent2vec:
    """An encoder that averages the vectors of words and of n-grams of words."""

    identity: Identity
    rows: Bytes
    """(words + buckets, 4 d), in the file."""
    index: dict[bytes, int]
    longest: int
    """Words in the longest n-grams."""
    buckets: int
    split: Tokeniser | None
    lower: bool
    batch_size: int = 4096

    def __repr__(self) -> str:
        return short_repr(self, f"sent2vec:{self.identity.name}", f"{self.dim} dimensions")

    @property
    def dim(self) -> int:
        """The dimension of the vectors."""
        return int(self.rows.shape[1]) // 4

    def __call__(self, texts: Sequence[str], /) -> NDArray[np.float32]:
        """Vectors (n, d)."""
        return self._means([self._with_ngrams(self._words(text)) for text in as_texts(texts)])

    def words(self, words: Sequence[str], /) -> NDArray[np.float32]:
        """The vectors (n, d) of single words; zeros for unknown ones."""
        return self._means([self._words(word) for word in as_texts(words)])

    def _words(self, text: str) -> list[int]:
        """The numbers of the known words."""
        tokens: Sequence[str] = [text] if self.split is None else self.split(text)
        line = " ".join(tokens)
        numbers: list[int] = []
        for word in _SPACES.split((line.lower() if self.lower else line).encode(errors="replace")):
            if word == STOP:
                break
            if (number := self.index.get(word)) is not None:
                numbers.append(number)
        return numbers

    def _with_ngrams(self, words: list[int]) -> list[int]:
        """Rows of words, and of all n-grams of two words and more."""
        rows, word_count = list(words), len(self.index)
        for at in range(len(words) if self.longest > 1 else 0):
            ngram_hash = words[at]
            for word in words[at + 1 : at + self.longest]:
                ngram_hash = (ngram_hash * MULTIPLIER + word) % (1 << 64)
                rows.append(word_count + ngram_hash % self.buckets)
        return rows

    def _means(self, rows: Sequence[Sequence[int]]) -> NDArray[np.float32]:
        lengths = np.array([len(row) for row in rows], np.int64)
        needed, columns = np.unique(np.array([i for row in rows for i in row], np.int64), return_inverse=True)
        matrix = np.array(self.rows[needed]).view("<f4")
        means: NDArray[Any] = sum_rows(matrix, columns, lengths) / np.maximum(lengths, 1)[:, None]
        return means.astype(np.float32)


def load(spec: Spec) -> Sent2vec:
    """The encoder that ``sent2vec:…`` names."""
    options, path = spec.check_options(OPTIONS), path_of(spec, FILES)
    split, lower = options.get("tokenise", TREEBANK), spec.choice("case", ("lower", "as-is")) == "lower"
    tokens = None if split == SPACE else tokeniser(split)
    with explain_errors(str(path)):
        with path.open("rb") as file:
            if file.read(len(FASTTEXT_MAGIC)) != FASTTEXT_MAGIC:
                raise EncoderError(
                    f"{spec}: {path} is not a model of sent2vec: expected a .bin of version 1 or later, decompressed."
                )
        header = read_header(str(path))
        if header.model != SENT2VEC:
            description = (
                f"a fastText model; name it vec:{path}" if header.model < SENT2VEC else "a model of word vectors"
            )
            raise EncoderError(
                f"{spec}: {path} is {description}. Expected one that `fasttext sent2vec` of sent2vec wrote."
            )
        if header.word_ngrams > 1 and not header.buckets:
            raise EncoderError(f"{spec}: {path} has n-grams of {header.word_ngrams} words, but no vectors for them.")
        rows = map_bytes(path, header.offset, len(header.words) + header.buckets, header.dim)
        content = content_of(path)
    identity = Identity.of(
        "sent2vec",
        Path(path).name,
        content=content,
        tokenise=split,
        tokeniser=tokeniser_package(split),
        case="lower" if lower else "as-is",
    )
    index = {word: number for number, word in enumerate(header.words)}
    return Sent2vec(identity, rows, index, header.word_ngrams, header.buckets, tokens, lower)
