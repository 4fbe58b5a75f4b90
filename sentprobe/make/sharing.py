"""Who gets which sentence when a sentence may be in one set only.

The sets grow together up to a level, a share of the requested rows, that rises step by step. At every level each set
below it is selected again from the candidates that no other set holds, the one with the fewest candidates first; a set
that finds no more keeps what it has. So a set is short where its candidates ran out, not because others came first.

Which rows a set takes is decided by their priorities, never by who else wants them: frequent classes could avoid
contested sentences and rare ones could not, and the classes would differ in more than the label.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from sentprobe.errors import TooFewError
from sentprobe.make.candidates import Candidate, Cell, Cells
from sentprobe.make.job import Job
from sentprobe.make.split import Selection, check_splits, select

LEVELS, STEP = 12, 1.4
"""So many levels, each so many times the one before; the lowest is a fortieth of the highest."""


@dataclass(frozen=True, slots=True)
class Share:
    """What a set gets."""

    chosen: Selection | TooFewError
    """Its rows, or why it has none."""
    cells: Cells
    """Its candidates that no other set holds."""
    alone: int
    """How many rows it would have if it had all its candidates."""


def share_out(jobs: Sequence[Job], cells: Sequence[Cells], proposed: Sequence[Mapping[str, int]]) -> list[Share]:
    """Share the candidates out among the jobs, so that no sentence is in two sets."""
    numbers = range(len(jobs))
    alone = [_size(_select(jobs[i], cells[i], proposed[i], None)) for i in numbers]
    requested = [sum(job.policy.sizes) for job in jobs]
    top = max((alone[i] / requested[i] for i in numbers), default=0.0)
    order = sorted(numbers, key=lambda i: (sum(map(len, cells[i].values())), jobs[i].name))
    for levels in ([top], [top / STEP**k for k in reversed(range(LEVELS))]):
        held, owner = _fill(levels, order, alone, requested, jobs, cells, proposed)
        if [_size(found) for found in held] == alone:  # there is enough for all, whoever comes first
            break
    return [Share(held[i], _free(cells[i], owner, i), alone[i]) for i in numbers]


def _fill(
    levels: Sequence[float],
    order: Sequence[int],
    alone: Sequence[int],
    requested: Sequence[int],
    jobs: Sequence[Job],
    cells: Sequence[Cells],
    proposed: Sequence[Mapping[str, int]],
) -> tuple[list[Selection | TooFewError], dict[int, int]]:
    """What every job holds after the last level; and the job that holds each sentence, by near-duplicate key."""
    held: list[Selection | TooFewError] = [TooFewError("")] * len(jobs)
    owner: dict[int, int] = {}
    for at, level in enumerate(levels):
        for i in order:
            targets = [min(alone[i], round(higher * requested[i])) for higher in levels[at:]]
            if 0 < targets[0] <= _size(held[i]):
                continue
            free = _free(cells[i], owner, i)
            found = _select(jobs[i], free, proposed[i], targets[0])
            if level == levels[0]:  # a set of many classes needs more than the lowest level to exist at all
                for target in targets[1:]:
                    if isinstance(found, Selection):
                        break
                    found = _select(jobs[i], free, proposed[i], target)
            if not isinstance(held[i], Selection) or _size(found) > _size(held[i]):
                for key in _keys(held[i]):
                    del owner[key]
                owner |= dict.fromkeys(_keys(found), i)
                held[i] = found
    return held, owner


def _select(job: Job, cells: Cells, proposed: Mapping[str, int], most: int | None) -> Selection | TooFewError:
    try:
        found = select(cells, job.task, job.policy, proposed, most)
        if job.task.complete is None:
            check_splits(found.splits, found.labels)
    except TooFewError as e:
        return e
    return found


def _size(found: Selection | TooFewError) -> int:
    return sum(map(len, found.splits.values())) if isinstance(found, Selection) else 0


def _keys(found: Selection | TooFewError) -> Iterator[int]:
    splits = found.splits.values() if isinstance(found, Selection) else ()
    return (c.near_key for items in splits for c in items)


def _free(cells: Cells, owner: Mapping[int, int], job: int) -> dict[Cell, list[Candidate]]:
    """The candidates that no other job holds."""
    return {cell: [c for c in items if owner.get(c.near_key, job) == job] for cell, items in cells.items()}
