"""The two passes of ``make`` over a corpus: count, then propose. Shards are independent and merge in any order.

The count tables grow as a vocabulary does; the table of bigrams, which would grow faster, is thinned out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any, NamedTuple, TypeVar

import msgspec

from sentprobe.core.arguments import Progress
from sentprobe.core.hashing import mix
from sentprobe.core.resources import gc_paused
from sentprobe.core.third_party import isolated
from sentprobe.core.workers import map_in_workers, merge_in_workers
from sentprobe.corpus.corpus import Corpus, Shard, cut, digest_of
from sentprobe.corpus.folding import near_duplicate_key
from sentprobe.corpus.syntax import tags
from sentprobe.errors import CorpusError, describe_error
from sentprobe.make.candidates import Candidate, Cell, Pool, as_tuples, pack_pools, unpack_pools
from sentprobe.make.filters import (
    EXCLUDED_REASON,
    LENGTH_REASON,
    ExcludedSentences,
    column_bits,
    columns,
    needed_bits,
    rejection_reason,
    strata_of,
    takes,
)
from sentprobe.make.job import Job
from sentprobe.sentence import Sentence
from sentprobe.tasks import Context, Counts, Example, Proposal, Task
from sentprobe.tasks.task import failure_location

SHARE_SLACK, SHARE_MARGIN = 4, 16
"""How many times its share of the candidates a shard is asked for, and how many more."""
MAX_LISTED_ERRORS = 100
"""How many skipped sentences are listed in full; all are counted."""
TICK = 1000
"""Sentences between two calls of a ``Tick``."""
Tick = Callable[[int], None]
"""Called now and then with the number of sentences read."""
T = TypeVar("T")


@dataclass(slots=True)
class ReadLog:
    """What a pass learns about the corpus besides counts: its digest and what could not be read."""

    digest: int = 0
    malformed: int = 0
    messages: list[str] = field(default_factory=list)
    incomplete: list[str] = field(default_factory=list)
    """Files that could not be read to their end, each with its error; every shard sees it."""

    def record(self, error: CorpusError) -> None:
        """Record one unreadable sentence, or the unreadable rest of a file."""
        if error.ends_file:
            self.incomplete.append(str(error))
        else:
            self.malformed += 1
            self.messages.append(str(error))

    def add(self, other: ReadLog) -> None:
        """Add the log of another shard."""
        self.digest = (self.digest + other.digest) % (1 << 128)
        self.malformed += other.malformed
        self.messages = sorted({*self.messages, *other.messages})[:MAX_LISTED_ERRORS]
        self.incomplete = sorted({*self.incomplete, *other.incomplete})

    @property
    def first_error(self) -> str:
        """What could not be read, in words; empty if all could."""
        errors = [*self.incomplete, *self.messages]
        skipped = f"{self.malformed:,} malformed sentence{'s' * (self.malformed != 1)}, such as " * bool(self.malformed)
        return f"{'' if self.incomplete else skipped}{errors[0]}" if errors else ""


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
        results: Iterable[tuple[Counts, ReadLog]] = _one_by_one(count_shard, calls, "count", progress, sentences)
    else:
        progress("count", 0, len(calls))
        packed = merge_in_workers(
            count_packed, calls, merge_packed, jobs, lambda done: progress("count", done, len(calls))
        )
        results = ((unpack_counts(shard_counts), shard_log) for shard_counts, shard_log in packed)
    for shard_counts, shard_log in results:
        counts.add(shard_counts)
        log.add(shard_log)
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
    parts = cut(corpus, shards)
    calls: list[tuple[Any, ...]] = [
        (k, shard, ready, [Pool(_share(p.limit, len(parts))) for p in pools], exclude) for k, shard in enumerate(parts)
    ]
    cuts: list[tuple[int, int, dict[Cell, int]]] = []
    for k, shard_pools in _proposed(calls, jobs, progress, sentences):
        for i, (pool, shard_pool) in enumerate(zip(pools, shard_pools, strict=True)):
            pool.merge(shard_pool)
            if shard_pool.highest:
                cuts.append((k, i, shard_pool.highest))
    calls = []
    for k, i, highest in sorted(cuts, key=itemgetter(0, 1)):
        if below := {cell: limit for cell, limit in highest.items() if limit < pools[i].needs_up_to(cell)}:
            calls.append((i, parts[k], ready[i : i + 1], [Pool(pools[i].limit)], exclude, below))
    for i, (remainder,) in _proposed(calls, jobs, progress, sentences):
        pools[i].merge(remainder)


def _share(limit: int, shards: int) -> int:
    """How many candidates of each cell a shard is asked for."""
    return min(limit, SHARE_SLACK * limit // shards + SHARE_MARGIN)


def _proposed(
    calls: Sequence[tuple[Any, ...]], jobs: int, progress: Progress, sentences: int | None
) -> Iterator[tuple[int, list[Pool]]]:
    """What shards propose, as it comes, with the number that is the first argument of a call."""
    if jobs == 1:
        pools = _one_by_one(propose_shard, [arguments for _, *arguments in calls], "propose", progress, sentences)
        yield from zip([number for number, *_ in calls], pools, strict=True)
        return
    for done, (number, packed) in enumerate(map_in_workers(propose_packed, calls, jobs, in_order=False), 1):
        yield number, unpack_pools(packed)
        progress("propose", done, len(calls))


def _one_by_one(
    call: Callable[..., T], calls: Sequence[Sequence[Any]], stage: str, progress: Progress, sentences: int | None
) -> Iterator[T]:
    """Make the calls in this process, one after the other."""
    if calls:
        progress(stage, 0, sentences)
    for arguments in calls:
        yield call(*arguments, tick=lambda n: progress(stage, n, sentences))


# One shard


@gc_paused()
def count_shard(
    shard: Shard, tasks: Sequence[Task], skip_bad: bool, tick: Tick | None = None
) -> tuple[Counts, ReadLog]:
    """Count what the tasks need in one shard."""
    counts, log = Counts(language=shard.language), ReadLog()
    tables = frozenset().union(*(t.tables for t in tasks))
    counting = [(t, isolated(t.count)) for t in {t.name: t for t in tasks}.values() if t.count is not None]
    tallies: dict[str, Counter[Any]] = {task.name: Counter() for task, _ in counting}
    kinds: Counter[tuple[str, ...]] = Counter()
    total = 0
    for s in shard.sentences(log.record if skip_bad else None):
        total += digest_of(s)
        counts.sentences += 1
        counts.tokens += len(s.forms)
        kinds[columns(s)] += 1
        if "words" in tables:
            rows = list(zip(s.forms, tags(s), s.feats or s.xpos or ("",) * len(s), strict=True))
            counts.first_words.update(rows[:1])
            counts.words.update(rows[1:])
        if "bigrams" in tables:
            counts.add_bigrams(["", *map(counts.fold, s.forms), ""])
        for task, task_count in counting:
            if task.name in counts.failed:
                continue
            try:
                tallies[task.name].update(task_count(s))
            except KeyboardInterrupt:
                raise
            except BaseException as e:
                counts.failed[task.name] = _failure(s, e, task.count)
        if tick and counts.sentences % TICK == 0:
            tick(counts.sentences)
    for names, n in kinds.items():
        counts.columns.update(dict.fromkeys(names, n))
    counts.tallies = tallies
    log.digest = total % (1 << 128)
    return counts, log


def count_packed(shard: Shard, tasks: Sequence[Task], skip_bad: bool) -> tuple[bytes | Counts, ReadLog]:
    """Counts of a shard, to be sent."""
    counts, log = count_shard(shard, tasks, skip_bad)
    return pack_counts(counts), log


@gc_paused()
def merge_packed(*parts: tuple[bytes | Counts, ReadLog]) -> tuple[bytes | Counts, ReadLog]:
    """The sum of counts that were sent here, to be sent again."""
    counts, log = Counts(), ReadLog()
    for packed, shard_log in parts:
        counts.add(unpack_counts(packed))
        log.add(shard_log)
    return pack_counts(counts), log


@gc_paused()
def propose_shard(
    shard: Shard,
    jobs: Sequence[Job],
    pools: Sequence[Pool],
    excluded: ExcludedSentences | None,
    above: Mapping[Cell, int] | None = None,
    tick: Tick | None = None,
) -> list[Pool]:
    """Fill an empty pool per job from one shard; with ``above``, only cells of it, above a priority each."""
    for pool in pools:
        pool.packs = not shard.in_memory
    proposers = [_Proposer.of(job, pool) for job, pool in zip(jobs, pools, strict=True)]
    strata = [strata_of(job.policy) for job in jobs]
    proposers_by_length: dict[int, list[_Proposer]] = {}
    lengths: Counter[int] = Counter()
    unfit: Counter[tuple[int, str]] = Counter()
    for number, s in enumerate(shard.sentences(_ignore), 1):
        n = len(s.tokens)
        lengths[n] += 1
        if n not in proposers_by_length:
            proposers_by_length[n] = [
                proposer._replace(stratum=names.get(n, ""))
                for proposer, names, job in zip(proposers, strata, jobs, strict=True)
                if takes(job.policy, n)
            ]
        if takers := proposers_by_length[n]:
            reason = rejection_reason(s)
            if reason is None and excluded and excluded.has(s.text, s.tokens):
                reason = EXCLUDED_REASON
            if reason is None:
                _propose(s, takers)
            else:
                unfit[n, reason] += 1
        if tick and number % TICK == 0:
            tick(number)
    for job, pool in zip(jobs, pools, strict=True):
        if outside := sum(k for n, k in lengths.items() if not takes(job.policy, n)):
            pool.rejected[LENGTH_REASON] += outside
        for (n, reason), k in unfit.items():
            if takes(job.policy, n):
                pool.rejected[reason] += k
    return [p.cut() if above is None else p.cut().above(above) for p in pools]


class _Proposer(NamedTuple):
    """What a job needs to propose an example for a sentence; a tuple, since it is unpacked for every sentence."""

    task_propose: Callable[[Sentence, Context], Proposal]
    """The task's own function, for messages."""
    propose: Callable[[Sentence, Context], Proposal]
    context: Context
    salt: int
    pool: Pool
    needs: int
    natural: bool
    stratum: str = ""
    """That of the sentence's length."""

    @classmethod
    def of(cls, job: Job, pool: Pool) -> _Proposer:
        task, policy = job.task, job.policy
        needs = needed_bits(task.readings[job.reading])
        context = Context(policy, job.reading, job.plan, language=job.language)
        return cls(task.propose, isolated(task.propose), context, job.salt, pool, needs, policy.balance == "natural")


def _propose(s: Sentence, proposers: Sequence[_Proposer]) -> None:
    """Put what each job proposes for a sentence into its pool."""
    have, near = column_bits(s), near_duplicate_key(s.text)
    for task_propose, propose, context, salt, pool, needs, natural, stratum in proposers:
        if needs & ~have:
            pool.rejected["the sentence lacks a column"] += 1
            continue
        if pool.failed:
            continue
        context.state = priority = mix(near ^ salt)
        try:
            proposal = propose(s, context)
            if proposal is None or isinstance(proposal, str):
                pool.rejected[proposal or "the question does not apply"] += 1
                continue
            if type(proposal) is not Example or type(label := proposal.label) is not str:
                raise TypeError(f"expected an Example, a reason or None, got {proposal!r:.80}")
            candidate = Candidate.of(priority, near, proposal, context.language)
        except KeyboardInterrupt:
            raise
        except BaseException as e:  # of this task; the other tasks go on
            pool.failed = _failure(s, e, task_propose)
            continue
        pool.proposed[label] += 1
        cell = ("", "") if natural else (label, f"{proposal.stratum}/{stratum}" if proposal.stratum else stratum)
        pool.add(cell, candidate)


def propose_packed(number: int, *arguments: Any) -> tuple[int, bytes]:
    """What a shard proposes, to be sent, with the number of the call."""
    return number, pack_pools(propose_shard(*arguments))


def _failure(s: Sentence, error: BaseException, call: Callable[..., Any] | None) -> str:
    return f"it failed on the sentence {s.id}: {describe_error(error)}{failure_location(error, call)}"


def _ignore(error: CorpusError) -> None:
    """The counting pass has recorded the error or stopped."""


# Counts as bytes, to be sent between processes: workers merge them, and they pass through other processes unopened

_Words = list[tuple[tuple[str, str, str], int]]


class _PackedCounts(msgspec.Struct, array_like=True):
    sentences: int
    tokens: int
    columns: dict[str, int]
    words: _Words
    first_words: _Words
    bigrams: list[tuple[tuple[str, str], int]]
    level: int
    tallies: dict[str, list[tuple[Any, int]]]
    failed: dict[str, str]
    language: str | None


_encoder, _decoder = msgspec.msgpack.Encoder(), msgspec.msgpack.Decoder(_PackedCounts)


def pack_counts(counts: Counts) -> bytes | Counts:
    """Counts as bytes; as they are, if a task counts what cannot be packed."""
    if not all(_is_plain(key) for tally in counts.tallies.values() for key in tally):
        return counts
    packed = _PackedCounts(
        counts.sentences,
        counts.tokens,
        counts.columns,
        list(counts.words.items()),
        list(counts.first_words.items()),
        list(counts.bigrams.items()),
        counts.level,
        {name: list(tally.items()) for name, tally in counts.tallies.items()},
        counts.failed,
        counts.language,
    )
    try:
        return _encoder.encode(packed)
    except (ValueError, OverflowError):  # lone surrogates, or huge numbers
        return counts


def unpack_counts(packed: bytes | Counts) -> Counts:
    """Counts that were packed."""
    if isinstance(packed, Counts):
        return packed
    p = _decoder.decode(packed)
    tallies = {name: Counter({as_tuples(key): n for key, n in tally}) for name, tally in p.tallies.items()}
    return Counts(
        sentences=p.sentences,
        tokens=p.tokens,
        columns=Counter(p.columns),
        words=Counter(dict(p.words)),
        first_words=Counter(dict(p.first_words)),
        bigrams=Counter(dict(p.bigrams)),
        level=p.level,
        tallies=tallies,
        failed=p.failed,
        language=p.language,
    )


def _is_plain(key: Any) -> bool:
    """Whether a key is the same after packing: text, a number, None, or a tuple of these."""
    if type(key) is tuple:
        return all(map(_is_plain, key))
    return key is None or type(key) in (str, int, float, bool)
