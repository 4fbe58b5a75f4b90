"""What cells of one encoder share: vectors of texts, and values computed from them."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from sentprobe.encoders.embed import Embeddings
from sentprobe.errors import ShapeError

T = TypeVar("T")

MAX_CACHE_BYTES = 2**28
"""Size of the cache of what can be computed again."""


class SharedCache:
    """Values by name, computed on first use; safe for threads."""

    def __init__(self, max_bytes: int = MAX_CACHE_BYTES) -> None:
        self._max_bytes = max_bytes
        self._found: dict[Hashable, tuple[int, object]] = {}
        self._making: dict[Hashable, Lock] = {}
        self._lock = Lock()

    def __reduce__(self) -> tuple[type[SharedCache], tuple[int]]:
        return SharedCache, (self._max_bytes,)  # elsewhere, an empty one

    def get(self, name: Hashable, size: int, make: Callable[[], T]) -> T:
        """The value of this name, or else that of ``make``, of about ``size`` bytes.

        The least recently used values are dropped when the cache is full.
        """
        with self._lock:
            making = self._making.setdefault(name, Lock())
        with making:  # one thread computes it, the others wait
            with self._lock:
                kept = self._found.pop(name, None)
                if kept is not None:
                    self._found[name] = kept  # most recently used
                    return kept[1]  # type: ignore[return-value]
            made = make()
            with self._lock:
                if size <= self._max_bytes:
                    self._found[name] = size, made
                while sum(each for each, _ in self._found.values()) > self._max_bytes:
                    del self._found[next(iter(self._found))]
        return made


class TextIndex(dict[str, int]):
    """The row of each text in a table. Each column is looked up once."""

    def __init__(self, texts: Iterable[str]) -> None:
        super().__init__((text, i) for i, text in enumerate(texts))
        self._columns: dict[int, tuple[Sequence[str], npt.NDArray[np.int64]]] = {}

    def __reduce__(self) -> tuple[type[TextIndex], tuple[list[str]]]:
        return TextIndex, (list(self),)  # elsewhere, columns have other ids

    def of(self, column: Sequence[str]) -> npt.NDArray[np.int64]:
        """The rows of texts; KeyError if one of them is missing."""
        # the column is kept alive, so that no other one can have its id
        found = self._columns.get(id(column))
        if found is None:
            found = column, np.fromiter(map(self.__getitem__, column), np.int64, len(column))
            self._columns[id(column)] = found
        return found[1]

    def has(self, column: Sequence[str]) -> bool:
        """Whether all texts of a column are in the table."""
        try:
            self.of(column)
        except KeyError:
            return False
        return True


@dataclass(frozen=True)
class EmbeddingPool:
    """Vectors of texts, in tables as they were encoded; no vectors are copied."""

    tables: tuple[tuple[Embeddings, TextIndex], ...] = ()
    """Each with the rows of its texts; if a text is in several, the first counts."""

    @property
    def layers(self) -> tuple[str, ...]:
        """The names of the layers, if there are several."""
        return self.tables[0][0].layers if self.tables else ()

    def plus(self, table: Embeddings) -> EmbeddingPool:
        """The pool with another table."""
        for first, _ in self.tables[:1]:
            one, two = (np.delete(each.vectors.shape, -2).tolist() for each in (first, table))
            if one != two:
                raise ShapeError(
                    f"Expected vectors of shape {one} (layers, dimension), as before; got {two} for "
                    f"{table.texts[0][:60]!r}."
                )
        return EmbeddingPool((*self.tables, (table, TextIndex(table.texts))))

    def missing(self, columns: Sequence[Sequence[str]]) -> list[str]:
        """The distinct texts of columns that have no vectors, in order."""
        left: dict[str, None] = {}
        for column in columns:
            if not any(place.has(column) for _, place in self.tables):
                left |= dict.fromkeys(column)
        found = list(left)
        for _, place in self.tables:
            found = [text for text in found if text not in place]
        return found

    def seconds(self, columns: Sequence[Sequence[str]]) -> float:
        """The time it took to encode the distinct texts of columns."""
        for table, place in self.tables:
            if all(map(place.has, columns)):
                return table.seconds * len(np.unique(np.concatenate([*map(place.of, columns)]))) / len(table.texts)
        texts, spent = list(dict.fromkeys(text for column in columns for text in column)), 0.0
        for table, place in self.tables:
            left = [text for text in texts if text not in place]
            spent += table.seconds * (len(texts) - len(left)) / max(1, len(table.texts))
            texts = left
        return spent
