"""The two passes of ``make`` over a corpus: count, then propose. Shards are independent and merge in any order.

A pool keeps, per (class, stratum), the candidates with the lowest priorities. The priority is a hash of seed, task and
the sentence's near-duplicate key, so what is kept depends neither on the order of the corpus nor on the number of
workers, near-duplicates meet in the same place, and the number of candidates held is bounded by the sizes asked for.
The count tables grow as a vocabulary does; the table of bigrams, which would grow faster, is thinned out.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import msgspec

from sonde.core.hashing import hash_64, mix
from sonde.core.third_party import isolated
from sonde.corpus.artifacts import find_invisible_character, find_markup
from sonde.corpus.corpus import Corpus, digest_of, gc_paused
from sonde.corpus.near_duplicates import near_duplicate_key
from sonde.corpus.sentence import Sentence
from sonde.corpus.syntax import PENN_TAGS, tags
from sonde.errors import CorpusError, describe_error, error_location
from sonde.task import Context, Counts, Example, Policy, Task

if TYPE_CHECKING:
    from sonde.make.exclusion import ExcludedSentences

ADDRESS = re.compile(r"https?:|www\.|\w@\w|\.(?:com|org|net|html?)\b", re.IGNORECASE)
ADDRESS_HINTS = ("http", "www.", "@", ".com", ".org", ".net", ".htm")
"""One of these is in every address, and looking for them is cheap."""
BRACKET_PAIRS = (("(", ")"), ("[", "]"), ("{", "}"), ("«", "»"), ("-LRB-", "-RRB-"), ("``", "''"))
QUOTED = re.compile(r"""[()\[\]{}«»"„“”]|-[LR]RB-|``|''""")
MAX_LISTED_ERRORS = 100
"""How many skipped sentences are listed in full; all are counted."""


@dataclass(frozen=True, slots=True)
class Job:
    """A task under a policy, ready to propose from one corpus."""

    task: Task
    policy: Policy
    suite: str
    reading: str = ""
    plan: object = None
    seed: int = 0

    @property
    def salt(self) -> int:
        """What sets this job's priorities apart from every other job's."""
        return hash_64(f"{self.seed}/{self.policy.pool or self.task.name}")


Candidate = tuple[int, int, int, Example]
"""Priority, near-duplicate key, how many near-duplicates it stands for, example; a priority has one key."""


@dataclass(slots=True)
class Pool:
    """The candidates of one job with the lowest priorities in every cell."""

    limit: int
    cells: dict[tuple[str, str], list[Candidate]] = field(default_factory=dict)
    proposed: Counter[str] = field(default_factory=Counter)
    rejected: Counter[str] = field(default_factory=Counter)
    failed: str = ""
    """What the task raised, if it did; the pool is of no use then."""

    def add(self, cell: tuple[str, str], candidate: Candidate) -> None:
        """Take in one candidate; the cell is cut back when it has grown to half more than its limit."""
        items = self.cells.get(cell)
        if items is None:
            items = self.cells[cell] = []
        items.append(candidate)
        if len(items) > 1.5 * self.limit + 8:
            self.cells[cell] = lowest(items, self.limit)

    def merge(self, other: Pool) -> None:
        """Take in another shard's pool, which has been cut."""
        for cell, items in other.cells.items():
            mine = self.cells.get(cell)
            self.cells[cell] = lowest(mine + items, self.limit) if mine else items
        self.proposed.update(other.proposed)
        self.rejected.update(other.rejected)
        self.failed = min(filter(None, (self.failed, other.failed)), default="")

    def cut(self) -> Pool:
        """Every cell cut to its limit."""
        for cell, items in self.cells.items():
            self.cells[cell] = lowest(items, self.limit)
        return self


def lowest(items: Iterable[Candidate], limit: int) -> list[Candidate]:
    """The candidates of lowest priority, one for all near-duplicates."""
    kept: list[Candidate] = []
    for item in sorted(items, key=itemgetter(0)):
        if kept and kept[-1][0] == item[0]:
            best = min(kept[-1], item, key=tie_break_key)
            kept[-1] = (best[0], best[1], kept[-1][2] + item[2], best[3])
        elif len(kept) == limit:
            break
        else:
            kept.append(item)
    return kept


def tie_break_key(candidate: Candidate) -> tuple[Any, ...]:
    """Which of several near-duplicates is taken; it must not depend on their order."""
    e = candidate[3]
    return e.text, e.tokens, e.label, e.key or "", e.marks, e.stratum, e.extra, e.source


@dataclass(slots=True)
class ReadLog:
    """What a pass learns about the corpus besides counts: its digest and what could not be read."""

    digest: int = 0
    malformed: int = 0
    messages: list[str] = field(default_factory=list)

    def record(self, error: CorpusError) -> None:
        """Remember one unreadable sentence."""
        self.malformed += 1
        self.messages.append(str(error))

    def add(self, other: ReadLog) -> None:
        """Add another shard's; a fault of a whole file is met by every shard and counts once."""
        self.digest = (self.digest + other.digest) % (1 << 128)
        self.malformed += other.malformed - len(set(self.messages) & set(other.messages))
        self.messages = sorted({*self.messages, *other.messages})[:MAX_LISTED_ERRORS]


Tick = Callable[[int], None]
"""Called now and then with the number of sentences gone through."""
TICK = 1000


@gc_paused()
def count_shard(
    corpus: Corpus, shard: int, of: int, tasks: Sequence[Task], skip_bad: bool, tick: Tick | None = None
) -> tuple[Counts, ReadLog]:
    """Count what the tasks need in one shard."""
    counts, seen = Counts(), ReadLog()
    tables = frozenset().union(*(t.tables for t in tasks))
    own = [(t.name, isolated(t.count)) for t in {t.name: t for t in tasks}.values() if t.count is not None]
    tallies: dict[str, Counter[Any]] = {name: Counter() for name, _ in own}
    total = 0
    for s in corpus.sentences(shard, of, on_error=seen.record if skip_bad else None):
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
        for name, count in own:
            if name in counts.failed:
                continue
            try:
                tallies[name].update(count(s))
            except KeyboardInterrupt:
                raise
            except BaseException as e:
                counts.failed[name] = _failure(s, e)
        if tick and counts.sentences % TICK == 0:
            tick(counts.sentences)
    counts.tallies = tallies
    seen.digest = total % (1 << 128)
    return counts, seen


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
        n, have = len(s.tokens), _present(s)
        reason, near = None, 0
        if shortest <= n <= longest:
            reason = rejection_reason(s)
            near = near_duplicate_key(s.text) if reason is None else 0
            if reason is None and excluded and excluded.has(s.text, s.tokens):
                reason = EXCLUDED_REASON
        for propose, context, salt, pool, (low, high), stratum_of, needs, natural in work:
            if not low <= n <= high:
                pool.rejected["length outside the window"] += 1
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
                pool.failed = _failure(s, e)
                continue
            pool.proposed[found.label] += 1
            stratum = stratum_of.get(n, "")
            cell = ("", "") if natural else (found.label, f"{found.stratum}/{stratum}" if found.stratum else stratum)
            pool.add(cell, (priority, near, 1, found))
        if tick and number % TICK == 0:
            tick(number)
    return [p.cut() for p in pools]


def propose_packed(*arguments: Any) -> bytes:
    """What ``propose_shard`` returns, packed for the way between processes: several times faster than pickling it."""
    pools = propose_shard(*arguments)
    return msgspec.msgpack.encode([(list(p.cells.items()), p.proposed, p.rejected, p.failed) for p in pools])


def unpack_pools(data: bytes) -> list[Pool]:
    """The pools that a worker packed; their limits stay behind."""
    parts = msgspec.msgpack.decode(data, type=Packed)
    return [
        Pool(0, dict(cells), Counter(proposed), Counter(rejected), failed)
        for cells, proposed, rejected, failed in parts
    ]


Packed = list[tuple[list[tuple[tuple[str, str], list[Candidate]]], dict[str, int], dict[str, int], str]]

EXCLUDED_REASON = "withheld by --exclude"
COLUMN_BITS = {"upos": 1, "penn": 2, "feats": 4, "heads": 8, "tree": 16, "lemmas": 32, "xpos": 2, "deprels": 8}


def _present(s: Sentence) -> int:
    """The columns a sentence has, as bits."""
    return (
        (s.upos is not None)
        + 2 * (s.xpos is not None)
        + 4 * (s.feats is not None)
        + 8 * (s.heads is not None and s.deprels is not None)
        + 16 * (s.tree is not None)
        + 32 * (s.lemmas is not None)
    )


def _failure(s: Sentence, error: BaseException) -> str:
    return f"it failed on the sentence {s.id}: {describe_error(error)}{error_location(error)}"


def _ignore(error: CorpusError) -> None:
    """The counting pass has noted it or stopped."""


def strata_of(policy: Policy) -> dict[int, str]:
    """Sentence length → the name of the stratum it falls into; lengths outside all strata share one."""
    if policy.strata == "exact":
        return {n: f"{n:02d}" for n in range(policy.length[0], policy.length[1] + 1)}
    return {n: f"{low:02d}-{high:02d}" for low, high in policy.strata for n in range(low, high + 1)}


def columns(s: Sentence) -> list[str]:
    """The optional columns of a sentence that say something, and ``penn`` if its language-specific tags are Penn's."""
    found = []
    if s.upos is not None:
        found.append("upos")
    if s.heads is not None:
        found.append("heads")
    if s.tree is not None:
        found.append("tree")
    if s.feats is not None and any(f != "_" for f in s.feats):
        found.append("feats")
    if s.xpos is not None and PENN_TAGS.issuperset(s.xpos):
        found.append("penn")
    return found


def rejection_reason(s: Sentence) -> str | None:
    """Why no task may use the sentence, or None."""
    tokens, text = s.tokens, s.text
    if len("".join(tokens).split()) != 1:
        return "white space inside a token"
    half = len(tokens) / 2
    if sum(map(str.isalpha, tokens)) < half and sum(any(map(str.isalpha, t)) for t in tokens) < half:
        return "fewer than half of the tokens are words"
    folded = text.lower()
    if any(hint in folded for hint in ADDRESS_HINTS) and ADDRESS.search(text):
        return "web or mail address"
    if QUOTED.search(text) and (
        any(text.count(left) != text.count(right) for left, right in BRACKET_PAIRS)
        or text.count('"') % 2
        or sum(map(text.count, "„“”")) % 2
    ):
        return "unbalanced quotes or brackets"
    if next(find_markup(text), None) or find_invisible_character(text) or "\ufffd" in text:
        return "markup, invisible or lost characters"
    return None
