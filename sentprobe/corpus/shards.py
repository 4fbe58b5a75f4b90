"""A corpus cut into shards of about the same size that are read independently, and each without the others' files.

The reader of a shard of a file reads past what belongs to the others, which takes a fifth as long as parsing it. So a
file is cut only if it is larger than a shard should be, and other files are kept whole.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import ceil

from sentprobe.corpus.corpus import Corpus, OnError
from sentprobe.corpus.files import file_size
from sentprobe.sentence import Sentence

SHARDS_PER_WORKER = 4
"""On a cluster, so that a worker that is lost, or slow, costs little."""


@dataclass(frozen=True)
class Shard:
    """A share of a corpus."""

    pieces: tuple[tuple[Corpus, int, int], ...]
    """Corpora, and which shard of how many of each."""

    def sentences(self, on_error: OnError | None = None) -> Iterator[Sentence]:
        """Yield the sentences of all pieces."""
        for corpus, shard, of in self.pieces:
            yield from corpus.sentences(shard, of, on_error)

    @property
    def language(self) -> str | None:
        """The language of the corpus, if it is known."""
        return self.pieces[0][0].language

    @property
    def in_memory(self) -> bool:
        """Whether the sentences are held in memory anyway."""
        return any(corpus.loaded is not None for corpus, _, _ in self.pieces)


def cut(corpus: Corpus, n: int) -> list[Shard]:
    """A corpus in n shards; in fewer, if it has no more pieces. Together they are the corpus."""
    if n == 1 or not corpus.files or corpus.trees:  # with trees, a shard needs to know of the others
        return [Shard(((corpus, k, n),)) for k in range(n)]
    sizes = [file_size(file) for file in corpus.files]
    share = sum(sizes) / n
    pieces: list[tuple[float, int, tuple[Corpus, int, int]]] = []
    for number, (file, size) in enumerate(zip(corpus.files, sizes, strict=True)):
        of = max(1, min(n, ceil(0.9 * size / share))) if share else 1
        alone = replace(corpus, files=(file,))
        pieces += [(size / of, number, (alone, k, of)) for k in range(of)]
    shards: list[list[tuple[Corpus, int, int]]] = [[] for _ in range(n)]
    least = [(0.0, k) for k in range(n)]
    for weight, _, piece in sorted(pieces, key=lambda each: (-each[0], each[1], each[2][1])):  # the largest first
        filled, k = heapq.heappop(least)
        shards[k].append(piece)
        heapq.heappush(least, (filled + weight, k))
    return [Shard(tuple(shard)) for shard in shards if shard]


def shard_count(corpus: Corpus, jobs: int, on_cluster: bool) -> int:
    """Into how many shards to cut a corpus for this many workers: more on a cluster, if it has enough files."""
    more = jobs * SHARDS_PER_WORKER
    return more if on_cluster and (corpus.builtin or len(corpus.files) >= more) else jobs
