"""The two passes of ``make`` over a corpus: count, then propose. Shards are independent and merge in any order.

The count tables grow as a vocabulary does; the table of bigrams, which would grow faster, is thinned out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from sonde.core.hashing import mix
from sonde.core.progress import Progress
from sonde.core.third_party import isolated
from sonde.core.workers import map_in_workers
from sonde.corpus.corpus import Corpus, digest_of, gc_paused
from sonde.corpus.near_duplicates import near_duplicate_key
from sonde.corpus.sentence import Sentence
from sonde.corpus.syntax import tags
from sonde.errors import CorpusError, describe_error
from sonde.make.candidates import Candidate, Pool, pack_pools, unpack_pools
from sonde.make.filters import COLUMN_BITS, EXCLUDED_REASON, column_bits, columns, rejection_reason, strata_of
from sonde.make.job import Job
from sonde.task import Context, Counts, Example, Task
from sonde.task.third_party import failure_location

if TYPE_CHECKING:
    from sonde.make.exclusion import ExcludedSentences

MAX_LISTED_ERRORS = 100
"""How many skipped sentences are listed in full; all are counted."""
TICK = 1000

T = TypeVar("T")
Tick = Callable[[int], None]
"""Called now and then with the number of sentences read."""


def no_progress(stage: str, done: int, of: int | None) -> None:
    """Show no progress."""


@dataclass(slots=True)
class ReadLog:
    """What a pass learns about the corpus besides counts: its digest and what could not be read."""

    digest: int = 0
    malformed: int = 0
    messages: list[str] = field(default_factory=list)

    def record(self, error: CorpusError) -> None:
        """Record one unreadable sentence."""
        self.malformed += 1
        self.messages.append(str(error))

    def add(self, other: ReadLog) -> None:
        """Add the log of another shard; an error that ends a file is seen by every shard and counts once."""
        self.digest = (self.digest + other.digest) % (1 << 128)
        self.malformed += other.malformed - len(set(self.messages) & set(other.messages))
        self.messages = sorted({*self.messages, *other.messages})[:MAX_LISTED_ERRORS]


def count(
    corpus: Corpus,
    tasks: Sequence[Task],
    jobs: int = 1,
    skip_bad: bool = False,
    progress: Progress = no_progress,
    shards: int = 1,
    sentences: int | None = None,
) -> tuple[Counts, ReadLog]:
    """The first pass: count in every shard and add up."""
    counts, log = Counts(), ReadLog()
    calls = [(corpus, shard, shards, tasks, skip_bad) for shard in range(shards)]
    for part, part_log in _fan_out(count_shard, calls, jobs, "count", progress, sentences):
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
    """The second pass: fill a pool per job in every shard and merge them into ``pools``."""
    if not ready:
        return
    calls = [(corpus, k, shards, ready, [Pool(p.limit) for p in pools], exclude) for k in range(shards)]
    parts: Iterator[list[Pool]]
    if jobs == 1:
        parts = _fan_out(propose_shard, calls, jobs, "propose", progress, sentences)
    else:
        parts = map(unpack_pools, _fan_out(_propose_packed, calls, jobs, "propose", progress, sentences))
    for part in parts:
        for mine, theirs in zip(pools, part, strict=True):
            mine.merge(theirs)


def _fan_out(
    call: Callable[..., T],
    calls: Sequence[tuple[Any, ...]],
    jobs: int,
    stage: str,
    progress: Progress,
    sentences: int | None,
) -> Iterator[T]:
    """Run the calls here or in worker processes, and yield results as they come."""
    if jobs == 1:
        progress(stage, 0, sentences)
        for arguments in calls:
            yield call(*arguments, tick=lambda n: progress(stage, n, sentences))
        return
    progress(stage, 0, len(calls))
    for done, result in enumerate(map_in_workers(call, calls, jobs, in_order=False), 1):
        yield result
        progress(stage, done, len(calls))


@gc_paused()
def count_shard(
    corpus: Corpus, shard: int, of: int, tasks: Sequence[Task], skip_bad: bool, tick: Tick | None = None
) -> tuple[Counts, ReadLog]:
    """Count what the tasks need in one shard."""
    counts, log = Counts(), ReadLog()
    tables = frozenset().union(*(t.tables for t in tasks))
    own = [(t, isolated(t.count)) for t in {t.name: t for t in tasks}.values() if t.count is not None]
    tallies: dict[str, Counter[Any]] = {task.name: Counter() for task, _ in own}
    total = 0
    for s in corpus.sentences(shard, of, on_error=log.record if skip_bad else None):
        total += digest_of(s)
        counts.sentences += 1
        counts.tokens += len(s.forms)
        counts.columns.update(columns(s))
        if "words" in tables:
            rows = list(zip(s.forms, tags(s), s.feats or s.xpos or ("",) * len(s), strict=True))
            counts.first_words.update(rows[:1])
            counts.words.update(rows[1:])
        if "bigrams" in tables:
            counts.add_bigrams(["", *(f.lower() for f in s.forms), ""])
        for task, count in own:
            if task.name in counts.failed:
                continue
            try:
                tallies[task.name].update(count(s))
            except KeyboardInterrupt:
                raise
            except BaseException as e:
                counts.failed[task.name] = _failure(s, e, task.count)
        if tick and counts.sentences % TICK == 0:
            tick(counts.sentences)
    counts.tallies = tallies
    log.digest = total % (1 << 128)
    return counts, log


@gc_paused()
def propose_shard(
    corpus: Corpus,
    shard: int,
    of: int,
    jobs: Sequence[Job],
    pools: Sequence[Pool],
    excluded: ExcludedSentences | None,
    tick: Tick | None = None,
) -> list[Pool]:
    """Fill an empty pool per job from one shard."""
    work = [
        (
            j.task.propose,
            isolated(j.task.propose),
            Context(j.policy, j.reading, j.plan),
            j.salt,
            p,
            j.policy.length,
            strata_of(j.policy),
            sum(COLUMN_BITS[c] for c in j.task.readings[j.reading] if c in COLUMN_BITS),
            j.policy.balance == "natural",
        )
        for j, p in zip(jobs, pools, strict=True)
    ]
    shortest, longest = min(j.policy.length[0] for j in jobs), max(j.policy.length[1] for j in jobs)
    for number, s in enumerate(corpus.sentences(shard, of, on_error=_ignore), 1):
        n, have = len(s.tokens), column_bits(s)
        reason, near = None, 0
        if shortest <= n <= longest:
            reason = rejection_reason(s)
            near = near_duplicate_key(s.text) if reason is None else 0
            if reason is None and excluded and excluded.has(s.text, s.tokens):
                reason = EXCLUDED_REASON
        for own, propose, context, salt, pool, (low, high), stratum_of, needs, natural in work:
            if not low <= n <= high:
                pool.rejected["length out of range"] += 1
                continue
            if reason is not None:
                pool.rejected[reason] += 1
                continue
            if needs & ~have:
                pool.rejected["the sentence lacks a column"] += 1
                continue
            priority = mix(near ^ salt)
            if pool.failed:
                continue
            context.state = priority
            try:
                found = propose(s, context)
                if found is None or isinstance(found, str):
                    pool.rejected[found or "the question does not apply"] += 1
                    continue
                if type(found) is not Example or type(found.label) is not str:
                    raise TypeError(f"expected an Example, a reason or None, got {found!r:.80}")
            except KeyboardInterrupt:
                raise
            except BaseException as e:  # of this task; the others go on
                pool.failed = _failure(s, e, own)
                continue
            pool.proposed[found.label] += 1
            stratum = stratum_of.get(n, "")
            cell = ("", "") if natural else (found.label, f"{found.stratum}/{stratum}" if found.stratum else stratum)
            pool.add(cell, Candidate(priority, near, 1, found))
        if tick and number % TICK == 0:
            tick(number)
    return [p.cut() for p in pools]


def _propose_packed(*arguments: Any) -> bytes:
    return pack_pools(propose_shard(*arguments))


def _failure(s: Sentence, error: BaseException, call: Callable[..., Any] | None) -> str:
    return f"it failed on the sentence {s.id}: {describe_error(error)}{failure_location(error, call)}"


def _ignore(error: CorpusError) -> None:
    """The counting pass has recorded the error or stopped."""
