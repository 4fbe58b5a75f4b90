"""Training examples as numbers in files, and batches of them.

Examples are written once, then memory-mapped, so that data may be larger than memory. Batches are in another order in
each epoch, of sentences of similar length, from one stream of examples or several.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence, Sized
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO
from weakref import finalize

import numpy as np
from numpy.typing import NDArray

from sentprobe.core.files import make_folder
from sentprobe.core.hashing import hash_64
from sentprobe.errors import DataError

if TYPE_CHECKING:
    from torch import Tensor

ExampleNumbers = NDArray[np.int64]
"""The numbers of examples, from 0 (rows,)."""
FLUSH = 1 << 16
"""Numbers that are held in memory while examples are written."""
WINDOW = 100
"""Batches whose examples are sorted by length together: enough to waste little on padding, few enough to be random."""


@dataclass(frozen=True, eq=False)
class Sequences:
    """Sequences of numbers, one per example."""

    values: NDArray[np.int32]
    """All of them, one after the other."""
    ends: NDArray[np.int64]
    """Where each ends."""

    def __len__(self) -> int:
        return len(self.ends)

    def __getitem__(self, i: int) -> NDArray[np.int32]:
        return self.values[self.ends[i - 1] if i else 0 : self.ends[i]]

    @property
    def lengths(self) -> NDArray[np.int64]:
        """How long each is."""
        return np.diff(self.ends, prepend=0)

    def padded(self, rows: NDArray[np.int64]) -> tuple[Tensor, Tensor]:
        """The sequences of some examples, padded at the end with zeros (rows, time), and their lengths (rows,)."""
        import torch

        starts = np.where(rows > 0, self.ends[rows - 1], 0)
        lengths = self.ends[rows] - starts
        time = np.arange(lengths.max(initial=1))
        inside = time < lengths[:, None]
        padded = np.zeros(inside.shape, np.int64)
        padded[inside] = self.values[(starts[:, None] + time)[inside]]
        return torch.from_numpy(padded), torch.from_numpy(lengths)


@dataclass(frozen=True, eq=False)
class Examples:
    """Columns of equal length: sequences of numbers, or one number each."""

    sequences: Mapping[str, Sequences]
    numbers: Mapping[str, NDArray[np.int32]]

    def __len__(self) -> int:
        columns: tuple[Sized, ...] = (*self.sequences.values(), *self.numbers.values())
        return len(columns[0])


class ExampleWriter:
    """Writes examples to files of a folder, a few at a time; a with statement closes them after errors, too."""

    def __init__(self, folder: Path, sequences: Sequence[str], numbers: Sequence[str] = ()) -> None:
        make_folder(folder)
        self._folder, self._sequences, self._numbers = folder, tuple(sequences), tuple(numbers)
        self._stack = ExitStack()
        finalize(self, self._stack.close)  # reading may fail before the end
        self._files: dict[str, BinaryIO] = {}
        self._held: dict[str, array[int]] = {}
        self._position = dict.fromkeys(self._sequences, 0)
        for name in (*self._sequences, *(f"{s}.ends" for s in self._sequences), *self._numbers):
            # the stack closes it
            self._files[name] = self._stack.enter_context((folder / name).open("wb"))
            self._held[name] = array("q" if name.endswith(".ends") else "i")
        self.count = 0

    def __enter__(self) -> ExampleWriter:
        return self

    def __exit__(self, *error: object) -> None:
        self._stack.close()

    def add(self, sequences: Sequence[Sequence[int]], numbers: Sequence[int] = ()) -> None:
        """Add one example."""
        for name, values in zip(self._sequences, sequences, strict=True):
            self._held[name].extend(values)
            self._position[name] += len(values)
            self._held[f"{name}.ends"].append(self._position[name])
        for name, value in zip(self._numbers, numbers, strict=True):
            self._held[name].append(value)
        self.count += 1
        if self.count % 1024 == 0 and sum(map(len, self._held.values())) > FLUSH:
            self._flush()

    def finish(self) -> Examples:
        """Close the files, and open them for reading."""
        self._flush()
        self._stack.close()
        return Examples(
            {s: Sequences(self._map(s, np.int32), self._map(f"{s}.ends", np.int64)) for s in self._sequences},
            {n: self._map(n, np.int32) for n in self._numbers},
        )

    def _flush(self) -> None:
        try:
            for name, held in self._held.items():
                self._files[name].write(held.tobytes())
                del held[:]
        except OSError as e:
            raise DataError(f"{self._folder} cannot be written: {e.strerror}. Free some space.") from e

    def _map(self, name: str, dtype: type) -> NDArray[Any]:
        file = self._folder / name
        return np.memmap(file, dtype, "r") if file.stat().st_size else np.zeros(0, dtype)


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


def batches_by_length(
    lengths: ExampleNumbers, size: int, rows: ExampleNumbers | None = None
) -> Iterator[ExampleNumbers]:
    """Some examples, by default all, in batches of similar length, shortest first: to be scored, in any order."""
    rows = np.arange(len(lengths)) if rows is None else rows
    order = rows[np.argsort(lengths[rows], kind="stable")]
    for at in range(0, len(order), size):
        yield order[at : at + size]


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
