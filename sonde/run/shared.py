"""What cells of one encoder share: vectors of texts, and what follows from those of a set."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from sonde.encoders.embed import Embeddings
from sonde.errors import ShapeError

T = TypeVar("T")

ROOM = 2**28
"""Bytes that are kept of what can be made again."""


class SharedCache:
    """Things by name, made by the first that asks for them; cells may ask side by side."""

    def __init__(self, max_bytes: int = ROOM) -> None:
        self._room = max_bytes
        self._found: dict[Hashable, tuple[int, object]] = {}
        self._making: dict[Hashable, Lock] = {}
        self._lock = Lock()

    def get(self, name: Hashable, size: int, make: Callable[[], T]) -> T:
        """What has this name, or else what ``make`` gives, of about so many bytes.

        What was asked for longest ago is given up where there is no more room.
        """
        with self._lock:
            making = self._making.setdefault(name, Lock())
        with making:  # one makes it, the others wait
            with self._lock:
                kept = self._found.pop(name, None)
                if kept is not None:
                    self._found[name] = kept  # the last to go
                    return kept[1]  # type: ignore[return-value]
            made = make()
            with self._lock:
                if size <= self._room:
                    self._found[name] = size, made
                while sum(each for each, _ in self._found.values()) > self._room:
                    del self._found[next(iter(self._found))]
        return made


class TextIndex(dict[str, int]):
    """Where each text is in a table. A column that is asked for again is looked up once."""

    def __init__(self, texts: Iterable[str]) -> None:
        super().__init__((text, i) for i, text in enumerate(texts))
        self._columns: dict[int, tuple[Sequence[str], npt.NDArray[np.int64]]] = {}

    def of(self, column: Sequence[str]) -> npt.NDArray[np.int64]:
        """The places of texts; KeyError if one of them is not there."""
        # the column is kept beside its places, so that no other one can have its number
        found = self._columns.get(id(column))
        if found is None:
            found = column, np.fromiter(map(self.__getitem__, column), np.int64, len(column))
            self._columns[id(column)] = found
        return found[1]

    def has(self, column: Sequence[str]) -> bool:
        """Whether all texts of a column are there."""
        try:
            self.of(column)
        except KeyError:
            return False
        return True


@dataclass(frozen=True)
class EmbeddingPool:
    """Vectors of texts as they have come, one table after the other; no vectors are copied."""

    tables: tuple[tuple[Embeddings, TextIndex], ...] = ()
    """Each with the places of its texts; of a text that is in several, the first counts."""

    @property
    def layers(self) -> tuple[str, ...]:
        """The names of the layers, if there are several."""
        return self.tables[0][0].layers if self.tables else ()

    def plus(self, table: Embeddings) -> EmbeddingPool:
        """This and another table."""
        for first, _ in self.tables[:1]:
            one, two = (np.delete(each.vectors.shape, -2).tolist() for each in (first, table))
            if one != two:
                raise ShapeError(
                    f"The encoder gave vectors of {one} numbers (layers, dimension) before and of {two} for "
                    f"{table.texts[0][:60]!r}; expected the same."
                )
        return EmbeddingPool((*self.tables, (table, TextIndex(table.texts))))

    def missing(self, columns: Sequence[Sequence[str]]) -> list[str]:
        """The different texts of columns that have no vectors, in order."""
        left: dict[str, None] = {}
        for column in columns:
            if not any(place.has(column) for _, place in self.tables):
                left |= dict.fromkeys(column)
        found = list(left)
        for _, place in self.tables:
            found = [text for text in found if text not in place]
        return found

    def seconds(self, columns: Sequence[Sequence[str]]) -> float:
        """The time that the encoder took for the different texts of columns."""
        for table, place in self.tables:
            if all(map(place.has, columns)):
                return table.seconds * len(np.unique(np.concatenate([*map(place.of, columns)]))) / len(table.texts)
        texts, spent = list(dict.fromkeys(text for column in columns for text in column)), 0.0
        for table, place in self.tables:
            left = [text for text in texts if text not in place]
            spent += table.seconds * (len(texts) - len(left)) / max(1, len(table.texts))
            texts = left
        return spent
