"""What a worker does with one shard of a corpus: count, and propose."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from sentprobe.core.hashing import mix
from sentprobe.core.resources import gc_paused
from sentprobe.core.third_party import isolated
from sentprobe.corpus.corpus import Shard, digest_of
from sentprobe.corpus.folding import near_duplicate_key
from sentprobe.corpus.syntax import tags
from sentprobe.errors import CorpusError, describe_error
from sentprobe.make.candidates import Candidate, Cell, Pool, pack_pools
from sentprobe.make.filters import (
    COLUMN_BITS,
    EXCLUDED_REASON,
    LENGTH_REASON,
    column_bits,
    columns,
    rejection_reason,
    strata_of,
    takes,
)
from sentprobe.make.job import Job
from sentprobe.make.packed_counts import pack_counts, unpack_counts
from sentprobe.sentence import Sentence
from sentprobe.tasks import Context, Counts, Example, Proposal, Task
from sentprobe.tasks.task import failure_location

if TYPE_CHECKING:
    from sentprobe.make.exclusion import ExcludedSentences

MAX_LISTED_ERRORS = 100
"""How many skipped sentences are listed in full; all are counted."""
TICK = 1000

Tick = Callable[[int], None]
"""Called now and then with the number of sentences read."""


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


@gc_paused()
def count_shard(
    shard: Shard, tasks: Sequence[Task], skip_bad: bool, tick: Tick | None = None
) -> tuple[Counts, ReadLog]:
    """Count what the tasks need in one shard."""
    counts, log = Counts(language=shard.language), ReadLog()
    tables = frozenset().union(*(t.tables for t in tasks))
    own = [(t, isolated(t.count)) for t in {t.name: t for t in tasks}.values() if t.count is not None]
    tallies: dict[str, Counter[Any]] = {task.name: Counter() for task, _ in own}
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
    for part, part_log in parts:
        counts.add(unpack_counts(part))
        log.add(part_log)
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
    work = [_work(job, pool) for job, pool in zip(jobs, pools, strict=True)]
    strata = [strata_of(job.policy) for job in jobs]
    work_at: dict[int, list[_Work]] = {}
    lengths: Counter[int] = Counter()
    unfit: Counter[tuple[int, str]] = Counter()
    for number, s in enumerate(shard.sentences(_ignore), 1):
        n = len(s.tokens)
        lengths[n] += 1
        if n not in work_at:
            takers = [(w, names) for w, names, j in zip(work, strata, jobs, strict=True) if takes(j.policy, n)]
            work_at[n] = [w._replace(stratum=names.get(n, "")) for w, names in takers]
        if here := work_at[n]:
            reason = rejection_reason(s)
            if reason is None and excluded and excluded.has(s.text, s.tokens):
                reason = EXCLUDED_REASON
            if reason is None:
                _propose(s, here)
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


class _Work(NamedTuple):
    """What a job does with a sentence."""

    own: Callable[[Sentence, Context], Proposal]
    propose: Callable[[Sentence, Context], Proposal]
    context: Context
    salt: int
    pool: Pool
    needs: int
    natural: bool
    stratum: str = ""
    """That of the sentence's length."""


def _work(job: Job, pool: Pool) -> _Work:
    task, policy = job.task, job.policy
    needs = sum(COLUMN_BITS[c] for c in task.readings[job.reading] if c in COLUMN_BITS)
    context = Context(policy, job.reading, job.plan, language=job.language)
    return _Work(task.propose, isolated(task.propose), context, job.salt, pool, needs, policy.balance == "natural")


def _propose(s: Sentence, work: Sequence[_Work]) -> None:
    """Put what each job proposes for a sentence into its pool."""
    have, near = column_bits(s), near_duplicate_key(s.text)
    for own, propose, context, salt, pool, needs, natural, stratum in work:
        if needs & ~have:
            pool.rejected["the sentence lacks a column"] += 1
            continue
        if pool.failed:
            continue
        context.state = priority = mix(near ^ salt)
        try:
            found = propose(s, context)
            if found is None or isinstance(found, str):
                pool.rejected[found or "the question does not apply"] += 1
                continue
            if type(found) is not Example or type(label := found.label) is not str:
                raise TypeError(f"expected an Example, a reason or None, got {found!r:.80}")
            candidate = Candidate.of(priority, near, found, context.language)
        except KeyboardInterrupt:
            raise
        except BaseException as e:  # of this task; the others go on
            pool.failed = _failure(s, e, own)
            continue
        pool.proposed[label] += 1
        cell = ("", "") if natural else (label, f"{found.stratum}/{stratum}" if found.stratum else stratum)
        pool.add(cell, candidate)


def propose_packed(number: int, *arguments: Any) -> tuple[int, bytes]:
    """What a shard proposes, to be sent, with the number of the call."""
    return number, pack_pools(propose_shard(*arguments))


def _failure(s: Sentence, error: BaseException, call: Callable[..., Any] | None) -> str:
    return f"it failed on the sentence {s.id}: {describe_error(error)}{failure_location(error, call)}"


def _ignore(error: CorpusError) -> None:
    """The counting pass has recorded the error or stopped."""
