"""The two passes of ``make`` over a corpus: count, then propose. Shards are independent and merge in any order.

The count tables grow as a vocabulary does; the table of bigrams, which would grow faster, is thinned out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING, Any, TypeVar

from sentprobe.core.arguments import Progress
from sentprobe.core.resources import gc_paused
from sentprobe.core.workers import map_in_workers, merge_in_workers
from sentprobe.corpus.corpus import Corpus, cut
from sentprobe.make.candidates import Cell, Pool, unpack_pools
from sentprobe.make.job import Job
from sentprobe.make.one_shard import ReadLog, count_packed, count_shard, merge_packed, propose_packed, propose_shard
from sentprobe.make.packed_counts import unpack_counts
from sentprobe.tasks import Counts, Task

if TYPE_CHECKING:
    from sentprobe.make.exclusion import ExcludedSentences

SHARE_SLACK, SHARE_MARGIN = 4, 16
"""How many times its share of the candidates a shard is asked for, and how many more."""

T = TypeVar("T")


def no_progress(stage: str, done: int, of: int | None) -> None:
    """Show no progress."""


def count(
    corpus: Corpus,
    tasks: Sequence[Task],
    jobs: int = 1,
    skip_bad: bool = False,
    progress: Progress = no_progress,
    shards: int = 1,
    sentences: int | None = None,
) -> tuple[Counts, ReadLog]:
    """The first pass: count in every shard and add up; workers do that, too."""
    counts, log = Counts(), ReadLog()
    calls = [(shard, tasks, skip_bad) for shard in cut(corpus, shards)]
    if jobs == 1:
        found: Iterable[tuple[Counts, ReadLog]] = _here(count_shard, calls, "count", progress, sentences)
    else:
        progress("count", 0, len(calls))
        packed = merge_in_workers(
            count_packed, calls, merge_packed, jobs, lambda done: progress("count", done, len(calls))
        )
        found = ((unpack_counts(part), part_log) for part, part_log in packed)
    for part, part_log in found:
        counts.add(part)
        log.add(part_log)
    return counts, log


@gc_paused()
def propose(
    corpus: Corpus,
    ready: Sequence[Job],
    pools: Sequence[Pool],
    jobs: int = 1,
    exclude: ExcludedSentences | None = None,
    progress: Progress = no_progress,
    shards: int = 1,
    sentences: int | None = None,
) -> None:
    """The second pass: fill a pool per job in every shard and merge them into ``pools``.

    A shard of many holds few of the candidates with the lowest priorities, so each is asked for a few times its share
    only. If a shard was cut below what the pool has in the end, it is asked for the rest.
    """
    if not ready:
        return
    every = cut(corpus, shards)
    calls: list[tuple[Any, ...]] = [
        (k, shard, ready, [Pool(_share(p.limit, len(every))) for p in pools], exclude) for k, shard in enumerate(every)
    ]
    cuts: list[tuple[int, int, dict[Cell, int]]] = []
    for k, part in _proposed(calls, jobs, progress, sentences):
        for i, (mine, theirs) in enumerate(zip(pools, part, strict=True)):
            mine.merge(theirs)
            if theirs.highest:
                cuts.append((k, i, theirs.highest))
    calls = []
    for k, i, highest in sorted(cuts, key=itemgetter(0, 1)):
        if below := {cell: limit for cell, limit in highest.items() if limit < pools[i].needs_up_to(cell)}:
            calls.append((i, every[k], ready[i : i + 1], [Pool(pools[i].limit)], exclude, below))
    for i, (rest,) in _proposed(calls, jobs, progress, sentences):
        pools[i].merge(rest)


def _share(limit: int, shards: int) -> int:
    """How many candidates of each cell a shard is asked for."""
    return min(limit, SHARE_SLACK * limit // shards + SHARE_MARGIN)


def _proposed(
    calls: Sequence[tuple[Any, ...]], jobs: int, progress: Progress, sentences: int | None
) -> Iterator[tuple[int, list[Pool]]]:
    """What shards propose, as it comes, with the number that is the first argument of a call."""
    if jobs == 1:
        numbers = [number for number, *_ in calls]
        yield from zip(
            numbers, _here(propose_shard, [c[1:] for c in calls], "propose", progress, sentences), strict=True
        )
        return
    for done, (number, packed) in enumerate(map_in_workers(propose_packed, calls, jobs, in_order=False), 1):
        yield number, unpack_pools(packed)
        progress("propose", done, len(calls))


def _here(
    call: Callable[..., T], calls: Sequence[tuple[Any, ...]], stage: str, progress: Progress, sentences: int | None
) -> Iterator[T]:
    """Make the calls in this process, one after the other."""
    if calls:
        progress(stage, 0, sentences)
    for arguments in calls:
        yield call(*arguments, tick=lambda n: progress(stage, n, sentences))
