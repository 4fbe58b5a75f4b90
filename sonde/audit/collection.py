"""What several sets have in common that they should not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
import numpy.typing as npt

from sonde.audit import Audit, audit_rows
from sonde.audit.finding import Code, Finding
from sonde.audit.rows import Rows
from sonde.core.arguments import as_list
from sonde.core.workers import map_in_workers
from sonde.data.expected import expectations_for
from sonde.data.sources import Source
from sonde.errors import SondeError
from sonde.task import SPLITS, Task

CODES = (
    Code(
        "shared-sentences",
        "sentences stand in several sets of the collection",
        "Sentences, up to case, digits, punctuation and spacing, that two sets or more of the collection have; the "
        "evidence names the pairs that share most. A note, or a warning where a sentence of one set's te stands in "
        "another's tr (sets without splits aside): that matters as soon as one probe or encoder is trained on several "
        "sets.",
        "Do not train on one set and test on another of this collection; `sonde make --exclusive` keeps them apart.",
    ),
)
MAX_PAIRS_SHOWN = 5


@dataclass(frozen=True, slots=True)
class Sentences:
    """The near-duplicate keys of one set's sentences, by split: eight bytes a sentence."""

    name: str
    keys: Mapping[str, npt.NDArray[np.uint64]]

    @classmethod
    def of(cls, name: str, rows: Rows) -> Sentences:
        """The keys of the sentences alone, whatever else the probe is given."""
        split, key = np.array(rows.split), np.array(rows.sentence, np.uint64)
        return cls(name, {s: np.unique(key[split == s]) for s in rows.splits})


def shared(sets: Sequence[Sentences]) -> Iterator[Finding]:
    """Sentences that several sets of a collection have."""
    if len(sets) < 2:
        return
    # one sort over all keys; what follows looks only at those that several sets have
    parts = [(i, split, keys) for i, s in enumerate(sets) for split, keys in s.keys.items()]
    every = np.concatenate([keys for _, _, keys in parts])
    owner = np.repeat([i for i, _, _ in parts], [len(keys) for _, _, keys in parts])
    place = np.repeat([SPLITS.index(split) for _, split, _ in parts], [len(keys) for _, _, keys in parts])
    order = np.lexsort((owner, every))
    every, owner, place = every[order], owner[order], place[order]
    edges = np.flatnonzero(np.r_[True, every[1:] != every[:-1], True])
    several = np.flatnonzero(owner[edges[1:] - 1] != owner[edges[:-1]])
    count, distinct = len(several), len(edges) - 1
    if not count:
        return
    divided = [len(s.keys) > 1 for s in sets]
    common: Counter[tuple[int, ...]] = Counter()
    leaks = 0
    for a, b in zip(edges[several].tolist(), edges[several + 1].tolist(), strict=True):
        owners = owner[a:b].tolist()
        common.update(combinations(sorted(set(owners)), 2))
        at = [(o, p) for o, p in zip(owners, place[a:b].tolist(), strict=True) if divided[o]]
        trained = {o for o, p in at if p == 0}
        leaks += sum(len(trained - {o}) for o, p in at if p == SPLITS.index("te"))
    message = f"{count:,} of {distinct:,} sentences stand in several sets"
    if leaks:
        message += f"; {leaks:,} times a sentence of one set's te stands in another's tr"
    evidence: dict[str, float | int | str] = {"sentences": distinct, "te in another tr": leaks}
    evidence |= {f"{sets[a].name} and {sets[b].name}": n for (a, b), n in common.most_common(MAX_PAIRS_SHOWN)}
    yield Finding(
        "shared-sentences", "warning" if leaks else "note", message, CODES[0].advice, None, count, (), evidence
    )


@dataclass(frozen=True, slots=True)
class UnreadableSet:
    """A set that could not be read, and why."""

    name: str
    reason: str


def audit_sources(
    sources: Source | Iterable[Source], *, jobs: int = 1, task: Task | None = None, disjoint: bool | None = None
) -> Iterator[tuple[Audit, Sentences] | UnreadableSet]:
    """Audit sets one after the other, or in worker processes, in the order given; a worker holds one at a time.

    ``task`` is what they are for, whatever they are called; ``disjoint`` that their target forms must be kept apart.
    """
    sources = as_list(sources, Source, "a set")
    if jobs == 1 or len(sources) == 1:
        yield from (_audit_one(source, task, disjoint) for source in sources)
        return
    calls = [(source, task, disjoint) for source in sources]
    yield from map_in_workers(_audit_one, calls, min(jobs, len(sources)))


def _audit_one(source: Source, task: Task | None, disjoint: bool | None) -> tuple[Audit, Sentences] | UnreadableSet:
    try:
        dataset = source.load()
        expectations = expectations_for(dataset, task)
    except SondeError as e:
        return UnreadableSet(source.name, str(e))
    if disjoint is not None:
        expectations = replace(expectations, disjoint=disjoint)
    rows = Rows.of(dataset, expectations.inputs)
    return audit_rows(dataset, rows, expectations), Sentences.of(source.name, rows)
