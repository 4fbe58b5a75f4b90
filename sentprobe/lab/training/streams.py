"""Batches: in another order in each epoch, of sentences of similar length, from one stream of examples or several."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sentprobe.core.hashing import hash_64

WINDOW = 100
"""Batches whose examples are sorted by length together: enough to waste little on padding, few enough to be random."""


@dataclass(frozen=True, eq=False)
class Stream:
    """Examples of one kind, and how a batch is made of them."""

    name: str
    lengths: NDArray[np.int64]
    """By which examples are sorted: (examples,), or (keys, examples), the most important key first."""
    collate: Callable[[NDArray[np.int64]], Any]
    """From the numbers of examples to a batch, as the model takes it."""
    weight: float = 1.0
    """How many of its batches an epoch has, as a share of all of them; above 1 they are repeated."""
    tokens: int = 0
    """The most tokens of a batch, padding included, where ``lengths`` (examples,) are tokens; 0: there is no limit.

    Then examples are sorted all together, so that an epoch has the same number of batches whatever their order."""

    @property
    def size(self) -> int:
        """Examples."""
        return int(self.lengths.shape[-1])

    def count(self, size: int) -> int:
        """How many batches of at most this many examples one pass over them has."""
        return len(self._ends(size)) if self.tokens else -(-self.size // size)

    def batches(self, size: int, seed: int, epoch: int) -> list[NDArray[np.int64]]:
        """The numbers of examples in each batch of an epoch."""
        random = np.random.default_rng([seed, epoch, hash_64(self.name)])
        order = random.permutation(self.size)
        if self.tokens:
            order = order[np.argsort(self.lengths[order], kind="stable")]
            groups = np.split(order, self._ends(size)[:-1])
            return [groups[i] for i in random.permutation(len(groups))]
        keys = np.atleast_2d(self.lengths)
        batches = []
        for at in range(0, self.size, size * WINDOW):
            window = order[at : at + size * WINDOW]
            window = window[np.lexsort(keys[::-1, window])]
            groups = [window[i : i + size] for i in range(0, len(window), size)]
            batches += [groups[i] for i in random.permutation(len(groups))]
        return batches

    def _ends(self, size: int) -> list[int]:
        """Where batches end among the examples, sorted by length: as late as their limits allow."""
        lengths, ends = np.sort(self.lengths), [0]
        while (at := ends[-1]) < len(lengths):
            candidates = lengths[at : at + min(size, max(1, self.tokens // max(1, int(lengths[at]))))]
            fit = int(np.searchsorted(candidates * np.arange(1, len(candidates) + 1), self.tokens, "right"))
            ends.append(at + max(1, fit))
        return ends[1:]


@dataclass(frozen=True, eq=False)
class Step:
    """One batch of an epoch."""

    stream: Stream
    rows: NDArray[np.int64]

    def share(self, rank: int, processes: int) -> NDArray[np.int64]:
        """The examples of one of several processes."""
        return self.rows[rank::processes]


def epoch_steps(streams: Sequence[Stream], size: int, seed: int, epoch: int) -> list[Step]:
    """All batches of an epoch; those of several streams are mixed."""
    if len(streams) == 1 and streams[0].weight == 1:
        return [Step(streams[0], rows) for rows in streams[0].batches(size, seed, epoch)]
    steps = [step for stream in streams for step in _weighted(stream, size, seed, epoch)]
    order = np.random.default_rng([seed, epoch, 1]).permutation(len(steps))
    return [steps[i] for i in order]


def _weighted(stream: Stream, size: int, seed: int, epoch: int) -> Iterator[Step]:
    """Batches of a stream: of as many passes over it as its weight says, which go on from epoch to epoch."""
    per_pass = stream.count(size)
    first, last = (round(stream.weight * per_pass * e) for e in (epoch - 1, epoch))
    for number in range(first // per_pass, -(-last // per_pass)):
        batches = stream.batches(size, seed, number + 1)
        begin, end = max(first - number * per_pass, 0), min(last - number * per_pass, per_pass)
        yield from (Step(stream, rows) for rows in batches[begin:end])
