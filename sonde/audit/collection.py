"""What several sets have in common that they should not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, permutations

import numpy as np
import numpy.typing as npt

from sonde.audit import Audit, audit_set
from sonde.audit.finding import Code, Finding
from sonde.audit.rows import Rows, known
from sonde.errors import DataError
from sonde.sources import Source
from sonde.task import Task

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
PAIRS = 5


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

    def of_split(self, split: str) -> npt.NDArray[np.uint64]:
        """The keys of one split, which may be absent."""
        return self.keys.get(split, np.zeros(0, np.uint64))


def shared(sets: Sequence[Sentences]) -> Iterator[Finding]:
    """Sentences that several sets of a collection have."""
    if len(sets) < 2:
        return
    whole = [np.unique(np.concatenate(list(s.keys.values()))) for s in sets]
    keys, homes = np.unique(np.concatenate(whole), return_counts=True)
    count = int((homes > 1).sum())
    if not count:
        return
    common = {
        f"{sets[a].name} and {sets[b].name}": len(np.intersect1d(whole[a], whole[b], assume_unique=True))
        for a, b in combinations(range(len(sets)), 2)
    }
    leaks = sum(
        len(np.intersect1d(one.of_split("te"), two.of_split("tr"), assume_unique=True))
        for one, two in permutations([s for s in sets if len(s.keys) > 1], 2)
    )
    message = f"{count:,} of {len(keys):,} sentences stand in several sets"
    if leaks:
        message += f"; {leaks:,} times a sentence of one set's te stands in another's tr"
    evidence: dict[str, float | int | str] = {"sentences": len(keys), "te in another tr": leaks}
    evidence |= {pair: n for pair, n in Counter(common).most_common(PAIRS) if n}
    yield Finding(
        "shared-sentences", "warning" if leaks else "note", message, CODES[0].advice, None, count, (), evidence
    )


@dataclass(frozen=True, slots=True)
class Unread:
    """A set that could not be read, and why."""

    name: str
    reason: str


def audit_sources(
    sources: Sequence[Source], *, jobs: int = 1, task: Task | None = None, disjoint: bool | None = None
) -> Iterator[tuple[Audit, Sentences] | Unread]:
    """Audit sets one after the other, or in worker processes, in the order given; a worker holds one at a time.

    ``task`` is what they are for, whatever they are called; ``disjoint`` that their target forms must be kept apart.
    """
    if jobs == 1 or len(sources) == 1:
        yield from (_audit_one(source, task, disjoint) for source in sources)
        return
    from joblib import Parallel, delayed

    calls = (delayed(_audit_one)(source, task, disjoint) for source in sources)
    yield from Parallel(n_jobs=min(jobs, len(sources)), return_as="generator")(calls)


def _audit_one(source: Source, task: Task | None, disjoint: bool | None) -> tuple[Audit, Sentences] | Unread:
    try:
        dataset = source.load()
    except DataError as e:
        return Unread(source.name, str(e))
    should = known(dataset, task)
    if disjoint is not None:
        should = replace(should, disjoint=disjoint)
    return audit_set(dataset, should, name=source.name), Sentences.of(source.name, Rows.of(dataset))
