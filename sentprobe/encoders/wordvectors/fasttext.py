"""fastText's .bin files, and its vectors for any word: from character n-grams."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sentprobe.encoders.wordvectors.pooling import sum_rows
from sentprobe.encoders.wordvectors.rows import Bytes, CheckedRows, Matrix
from sentprobe.errors import DataError

Blocks = Iterator[tuple[list[str], Matrix]]
"""What a file holds, some words and their rows (n, d) at a time."""

FASTTEXT_MAGIC = struct.pack("<i", 793712314)
"""How a .bin file begins."""

SENT2VEC, CHARACTERS_AND_WORDS = 4, 5
"""Models of sent2vec, which has the same format."""

BLOCK_ROWS = 1024
"""Words handled at a time."""

NGRAMS = 1 << 15
"""Rows of n-grams gathered at a time."""


@dataclass(frozen=True, eq=False)
class Subwords:
    """fastText's vector for any word: the mean of the vectors of its character n-grams."""

    rows: CheckedRows | Bytes
    """(buckets, d); or, while the file is read for the first time, their bytes (buckets, 4 d)."""
    min_ngram: int
    max_ngram: int
    offset: int
    """Where the rows begin in the file."""

    @property
    def dim(self) -> int:
        """The dimension of the vectors."""
        return self.rows.shape[1] if isinstance(self.rows, CheckedRows) else self.rows.shape[1] // 4

    def __call__(self, words: Sequence[str]) -> Matrix:
        """Vectors (n, d); zero for a word that has no n-grams."""
        sums, counts = self.sums([word.encode(errors="surrogatepass") for word in words])
        return (sums / np.maximum(counts, 1)[:, None]).astype(np.float32)

    def sums(self, words: Sequence[bytes]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """For every word the sum (n, d) of its n-grams' vectors, and the number (n,) of its n-grams."""
        owners, buckets = ngrams(words, self.min_ngram, self.max_ngram, len(self.rows))
        counts = np.bincount(owners, minlength=len(words))
        ends = np.cumsum(counts)
        sums = np.zeros((len(words), self.dim))
        first = 0
        while first < len(words):
            # whole words, unless a single one is too long: no sum may depend on the other words
            begin = int(ends[first] - counts[first])
            last = max(first + 1, int(np.searchsorted(ends, begin + NGRAMS, "right")))
            for at in range(begin, int(ends[last - 1]), NGRAMS):
                part = buckets[at : min(at + NGRAMS, int(ends[last - 1]))]
                lengths = counts[first:last] if last > first + 1 else np.array([len(part)])
                sums[first:last] += sum_rows(self._vectors(part), np.arange(len(part)), lengths)
            first = last
        return sums, counts

    def _vectors(self, buckets: NDArray[np.int64]) -> Matrix:
        # as numbers they would not be aligned in the file
        return self.rows[buckets] if isinstance(self.rows, CheckedRows) else self.rows[buckets].view("<f4")


def ngrams(
    words: Sequence[bytes], min_ngram: int, max_ngram: int, buckets: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The n-grams of characters of ``<word>``, hashed: for each its word's number, ascending, and its bucket.

    The hash is FNV-1a as fastText has it, where a byte above 127 is a negative number. ``<`` and ``>`` alone are not
    n-grams, and ``</s>``, the end of a line, has none.
    """
    marked = [b"<%b>" % word if word != b"</s>" else b"" for word in words]
    data = np.frombuffer(b"".join(marked), np.uint8)
    signed = data.view(np.int8).astype(np.int32).view(np.uint32)
    starts = np.flatnonzero((data & 0xC0) != 0x80)  # of characters
    widths = np.diff(starts, append=len(data))
    owner = np.repeat(np.arange(len(words)), [len(word) for word in marked])[starts]
    turn = owner[1:] != owner[:-1]
    edge = np.append(True, turn) | np.append(turn, True)
    first = np.arange(len(starts))  # characters of the n-grams that still fit into their words
    hashes = np.full(len(starts), 2166136261, np.uint32)
    pairs = [(np.zeros(0, np.int64), np.zeros(0, np.int64))]
    for n in range(1, max_ngram + 1):
        fits = first + n <= len(starts)
        fits[fits] = owner[first[fits] + n - 1] == owner[first[fits]]
        first, hashes = first[fits], hashes[fits]
        if not len(first):
            break
        last = first + n - 1
        for byte in range(int(widths[last].max())):
            is_wide = widths[last] > byte
            hashes[is_wide] = (hashes[is_wide] ^ signed[starts[last[is_wide]] + byte]) * np.uint32(16777619)
        if n >= min_ngram:
            real = ~edge[first] if n == 1 else np.ones(len(first), bool)
            pairs.append((owner[first[real]], (hashes[real] % np.uint32(buckets)).astype(np.int64)))
    owners, hashed = (np.concatenate(column) for column in zip(*pairs, strict=True))
    order = np.argsort(owners, kind="stable")
    return owners[order], hashed[order]


class FastTextFile(NamedTuple):
    """What a .bin file says before its numbers."""

    version: int
    model: int
    """1 cbow, 2 skip-gram, 3 a classifier; of sent2vec, 4, and 5 for words with n-grams of characters and words."""
    dim: int
    word_ngrams: int
    """The longest n-grams of words."""
    buckets: int
    """Rows of n-grams, of characters or words, after those of words."""
    min_ngram: int
    max_ngram: int
    words: list[bytes]
    offset: int
    """Where the rows begin."""
    rows: int


def read_header(path: str) -> FastTextFile:
    """Read the header and the words of a fastText .bin file; DataError if it is not one, or quantised, or cut off."""
    with Path(path).open("rb") as file, mmap(file.fileno(), 0, access=ACCESS_READ) as data:
        if data[:4] != FASTTEXT_MAGIC:
            raise DataError(f"{path} is a compressed fastText .bin; decompress it, since it is read in place.")
        try:
            version, dim, *_, word_ngrams, _, model, buckets = struct.unpack_from("<10i", data, 4)
            at = 44 + 4 * (model == CHARACTERS_AND_WORDS)  # which has two kinds of buckets
            min_ngram, max_ngram = struct.unpack_from("<2i", data, at)
            at += 20
            entries, expected, _, _, pruned = struct.unpack_from("<3i2q", data, at)
            words: list[bytes] = []
            at += 28
            for _ in range(entries):
                if (end := data.find(b"\0", at)) < 0:
                    raise IndexError
                if data[end + 9] == 0:  # the others are labels
                    words.append(data[at:end])
                at = end + 10
            if pruned >= 0 or data[at]:
                raise DataError(
                    f"{path} is a quantised fastText model, which is not supported; use the .bin it was made from."
                )
            rows, width = struct.unpack_from("<2q", data, at + 1)
        except (struct.error, IndexError):
            raise DataError(f"{path} ends inside the words of a fastText model. Download the file again.") from None
        at += 17
        if version == 11 and model == 3:
            max_ngram = 0  # classifiers of that version had no n-grams, whatever the header says
        buckets = max(buckets, 0) if max_ngram > 0 or model == SENT2VEC else 0
        if width != dim or dim < 1 or len(words) != expected or rows < expected + buckets:
            raise DataError(
                f"{path} is not a valid fastText model: expected {expected} words and {expected + buckets} rows of "
                f"{dim} numbers, got {len(words)} words and {rows} rows of {width}."
            )
        if at + 4 * rows * width > len(data):
            raise DataError(f"{path} ends inside the vectors of a fastText model. Download the file again.")
    return FastTextFile(version, model, dim, word_ngrams, buckets, min_ngram, max_ngram, words, at, rows)


def open_fasttext(path: str, limit: int | None) -> tuple[Blocks, Subwords | None]:
    """Read the header and words of a fastText .bin file; their rows, and those of the n-grams, are memory-mapped."""
    header = read_header(path)
    if header.model in (SENT2VEC, CHARACTERS_AND_WORDS):
        raise DataError(f"{path} is a model of sent2vec, not of fastText; name it sent2vec:{path}.")
    words, dim, at, buckets = header.words, header.dim, header.offset, header.buckets
    after = at + 4 * dim * len(words)
    subword = map_subwords(path, dim, after, buckets, header.min_ngram, header.max_ngram) if buckets else None
    word_rows = map_bytes(path, at, len(words), dim) if words else np.zeros((0, 4 * dim), np.uint8)
    return _read_rows(words[:limit], word_rows, subword), subword


def _read_rows(words: list[bytes], word_rows: NDArray[np.uint8], subword: Subwords | None) -> Blocks:
    """A word's vector is the mean of its own row and those of its n-grams."""
    for first in range(0, len(words), BLOCK_ROWS):
        block_words = words[first : first + BLOCK_ROWS]
        rows = np.array(word_rows[first : first + len(block_words)]).view("<f4")
        if subword is not None:
            sums, counts = subword.sums(block_words)
            rows = ((rows + sums) / (counts + 1)[:, None]).astype(np.float32)
        yield [word.decode(errors="backslashreplace") for word in block_words], rows


def map_subwords(path: str, dim: int, offset: int, buckets: int, min_ngram: int, max_ngram: int) -> Subwords:
    """The n-grams' rows of a file whose header was read before."""
    return Subwords(map_bytes(path, offset, buckets, dim), min_ngram, max_ngram, offset)


def map_bytes(path: Path | str, offset: int, rows: int, dim: int) -> Bytes:
    """The bytes (rows, 4 dim) of a matrix in a file, which stay there."""
    return np.asarray(np.memmap(path, np.uint8, "r", offset, (rows, 4 * dim)))
