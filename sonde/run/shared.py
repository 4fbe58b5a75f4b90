"""What cells of one encoder share: vectors of texts, and what follows from those of a set."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from threading import Lock
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from sonde.embed import Embeddings

T = TypeVar("T")

ROOM = 2**28
"""Bytes that are kept of what can be made again."""


class Shared:
    """Things by name, made by the first that asks for them; cells may ask side by side."""

    def __init__(self, room: int = ROOM) -> None:
        self._room = room
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


class Places(dict[str, int]):
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
class Pool:
    """Vectors of texts as they have come, one table after the other."""

    tables: tuple[tuple[Embeddings, Places], ...] = ()
    """Each with the places of its texts; of a text that is in several, the first counts."""

    def plus(self, table: Embeddings) -> Pool:
        """This and another table; no vectors are copied."""
        return Pool((*self.tables, (table, Places(table.texts))))

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

    def of(self, columns: Sequence[Sequence[str]]) -> tuple[Embeddings, Places]:
        """A table with these columns, and where texts are in it: one of those that came, or a copy from several."""
        for table, place in self.tables:
            if all(map(place.has, columns)):
                return table, place
        texts = list(dict.fromkeys(text for column in columns for text in column))
        where = [next((i, place[text]) for i, (_, place) in enumerate(self.tables) if text in place) for text in texts]
        numbers, places = np.array(where).T
        first = self.tables[0][0]
        *layers, _, d = first.vectors.shape
        vectors = np.empty((*layers, len(texts), d), first.vectors.dtype)
        seconds = 0.0
        for i, (table, _) in enumerate(self.tables):
            some = np.flatnonzero(numbers == i)
            vectors[..., some, :] = table.vectors[..., places[some], :]
            seconds += table.seconds * len(some) / max(1, len(table.texts))
        made = replace(first, texts=tuple(texts), vectors=vectors, seconds=seconds)
        return made, Places(texts)
