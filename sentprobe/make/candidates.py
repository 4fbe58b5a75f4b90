"""Candidates for a set, and the bounded pools that hold them.

A pool keeps, per (class, stratum), the candidates with the lowest priorities. The priority is a hash of seed, task and
the sentence's near-duplicate key, so what is kept depends neither on the order of the corpus nor on the number of
workers, near-duplicates end up side by side, and the number of candidates held is bounded by the requested sizes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any, NamedTuple

import msgspec

from sentprobe.corpus.folding import fold
from sentprobe.tasks import Example

Cell = tuple[str, str]
"""A class and a stratum."""


class Candidate(NamedTuple):
    """An example that may become a row, with what decides whether it does. Equal priorities have equal keys."""

    priority: int
    near_key: int
    """The near-duplicate key of the unchanged sentence."""
    times: int
    """How many near-duplicates it represents, itself included."""
    label: str
    """That of the example."""
    key: str | None
    """Its target form, folded: a task may leave the form as it is."""
    content: Example | bytes
    """The example, or its serialised form, which takes half of the memory."""

    @classmethod
    def of(cls, priority: int, near_key: int, example: Example, language: str | None = None) -> Candidate:
        """A candidate that represents itself."""
        key = None if example.key is None else fold(example.key, language)
        return cls(priority, near_key, 1, example.label, key, example)

    @property
    def example(self) -> Example:
        """The example."""
        if not isinstance(self.content, bytes):
            return self.content
        try:
            return msgspec.msgpack.decode(self.content, type=Example)
        except msgspec.ValidationError:  # a task's own values
            return Example(*as_tuples(msgspec.msgpack.decode(self.content)))

    def packed(self) -> Candidate:
        """The candidate with its example in serialised form, where that is possible."""
        try:
            return self._replace(content=msgspec.msgpack.encode(self.content))
        except (TypeError, ValueError, OverflowError):  # a task's own values, or lone surrogates
            return self


def as_tuples(value: Any) -> Any:
    """A decoded value with tuples in place of lists, at all levels."""
    return tuple(map(as_tuples, value)) if isinstance(value, list) else value


Cells = Mapping[Cell, Sequence[Candidate]]
"""The candidates of every class and stratum, in order of priority."""


@dataclass(slots=True)
class Pool:
    """The candidates of one job with the lowest priorities in every cell."""

    limit: int
    cells: dict[Cell, list[Candidate]] = field(default_factory=dict)
    proposed: Counter[str] = field(default_factory=Counter)
    rejected: Counter[str] = field(default_factory=Counter)
    failed: str = ""
    """What the task raised, if it did; the pool is then useless."""
    packs: bool = False
    """Whether examples are serialised: a corpus in memory holds their sentences anyway, and another one does not."""
    highest: dict[Cell, int] = field(default_factory=dict)
    """The highest priority in each full cell: a candidate above it need not be added, and some may have been cut."""

    def add(self, cell: Cell, candidate: Candidate) -> None:
        """Add one candidate; the cell is cut back once it has grown to a quarter more than its limit."""
        if cell in self.highest and candidate.priority > self.highest[cell]:
            return
        items = self.cells.setdefault(cell, [])
        items.append(candidate.packed() if self.packs else candidate)
        if len(items) > self.limit + (self.limit >> 2) + 8:
            items = self.cells[cell] = lowest(items, self.limit)
            if len(items) == self.limit:
                self.highest[cell] = items[-1].priority

    def merge(self, other: Pool) -> None:
        """Add the pool of another shard, which has been cut."""
        for cell, items in other.cells.items():
            present = self.cells.get(cell)
            self.cells[cell] = lowest(present + items, self.limit) if present else items
        self.proposed.update(other.proposed)
        self.rejected.update(other.rejected)
        self.failed = min(filter(None, (self.failed, other.failed)), default="")

    def cut(self) -> Pool:
        """Cut every cell to its limit."""
        for cell, items in self.cells.items():
            lowest_items = self.cells[cell] = lowest(items, self.limit)
            if len(lowest_items) == self.limit and any(c.priority > lowest_items[-1].priority for c in items):
                self.highest[cell] = lowest_items[-1].priority
        return self

    def needs_up_to(self, cell: Cell) -> float:
        """The priority up to which a shard of the corpus may have candidates that belong here."""
        items = self.cells.get(cell, [])
        return items[-1].priority if len(items) == self.limit else float("inf")

    def above(self, priorities: Mapping[Cell, int]) -> Pool:
        """The candidates of these cells above a priority each, and nothing else."""
        cells = {
            cell: [c for c in self.cells.get(cell, ()) if c.priority > priority]
            for cell, priority in priorities.items()
        }
        return Pool(self.limit, cells)


def lowest(items: Iterable[Candidate], limit: int) -> list[Candidate]:
    """The candidates of lowest priority, one for all near-duplicates."""
    distinct: list[Candidate] = []
    for item in sorted(items, key=attrgetter("priority")):
        if distinct and distinct[-1].priority == item.priority:
            best = min(distinct[-1], item, key=tie_break_key)
            distinct[-1] = best._replace(times=distinct[-1].times + item.times)
        elif len(distinct) == limit:
            break
        else:
            distinct.append(item)
    return distinct


def tie_break_key(candidate: Candidate) -> tuple[object, ...]:
    """Decides which of several near-duplicates is kept; it must not depend on their order."""
    e = candidate.example
    return e.text, e.tokens, e.label, e.key or "", e.marks, e.stratum, e.extra, e.source


def pack_pools(pools: Sequence[Pool]) -> bytes:
    """Pools as bytes, to be sent between processes; several times faster than pickling them."""
    return msgspec.msgpack.encode(
        [(list(p.cells.items()), p.proposed, p.rejected, p.failed, list(p.highest.items())) for p in pools]
    )


def unpack_pools(data: bytes) -> list[Pool]:
    """The pools that a worker packed, without their limits."""
    parts = msgspec.msgpack.decode(data, type=_PackedPools)
    return [
        Pool(0, dict(cells), Counter(proposed), Counter(rejected), failed, highest=dict(highest))
        for cells, proposed, rejected, failed, highest in parts
    ]


_PackedPools = list[
    tuple[list[tuple[Cell, list[Candidate]]], dict[str, int], dict[str, int], str, list[tuple[Cell, int]]]
]
