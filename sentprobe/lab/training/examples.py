"""Training examples as numbers, in files: read once, then memory-mapped, so that data may be larger than memory."""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence, Sized
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO
from weakref import finalize

import numpy as np
from numpy.typing import NDArray

from sentprobe.core.files import make_folder
from sentprobe.errors import DataError

if TYPE_CHECKING:
    from torch import Tensor

FLUSH = 1 << 16
"""Numbers that are held in memory while examples are written."""


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
