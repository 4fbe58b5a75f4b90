"""What a probing task is: a question, the columns it reads, and a function from a sentence to an example."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from itertools import pairwise
from random import Random
from typing import Any, Literal, NamedTuple

from sonde.corpus.sentence import Sentence
from sonde.corpus.syntax import is_word
from sonde.digest import hash_64, mix
from sonde.errors import UsageError
from sonde.literals import check_words

Range = tuple[int, int]
LENGTHS: tuple[Range, ...] = ((5, 8), (9, 12), (13, 16), (17, 20), (21, 25), (26, 28))
"""The length bins of the released SentEval sets; classes are balanced inside each, so that length says nothing."""
SPLITS = ("tr", "va", "te")


class Example(NamedTuple):
    """One row of a probing set. ``key`` is the target form that must not be shared between splits.

    A named tuple: a pass over a corpus makes several per sentence, and a frozen dataclass takes twice as long.
    """

    label: str
    tokens: tuple[str, ...]
    text: str
    source: str = ""
    key: str | None = None
    stratum: str = ""
    marks: tuple[int, ...] = ()
    """Positions of the target or changed tokens."""
    extra: tuple[tuple[str, str], ...] = ()
    """Further columns by name: the word of Adi's tasks, the replaced word of odd man out. One whose name begins with #
    is a note for the manifest, which ``make`` counts and takes away."""

    @classmethod
    def of(
        cls, s: Sentence, label: str, *, key: str | None = None, stratum: str = "", marks: Sequence[int] = ()
    ) -> Example:
        """The unchanged sentence under ``label``; ``marks`` are word positions here and become token positions."""
        return cls(label, s.tokens, s.text, s.id, key, stratum, token_positions(s, marks) if marks else ())


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """Every choice a paper makes, or leaves open, in building a set. Data, not code."""

    sizes: tuple[int, int, int] = (100_000, 10_000, 10_000)
    """Rows in train, validation and test; scaled down together when the corpus is smaller."""
    floor: int = 500
    """Rows that validation and test keep when the sizes are scaled down, as long as that is at most a fifth each."""
    length: Range = (5, 28)
    """Tokens in a sentence, both ends included."""
    bins: tuple[Range, ...] = ()
    """Length classes (sentence_length)."""
    classes: int | None = None
    """How many classes there may be at most; None: as many as the task proposes."""
    min_classes: int = 2
    """Fewer classes than this and the set is not made."""
    min_class: int = 24
    """A class with fewer examples than this is left out, or the set is not made if its classes are fixed."""
    balance: Literal["equal", "natural"] = "equal"
    """Equal counts per class in every split and stratum, or the corpus's own distribution."""
    remainder: Literal["spread", "drop"] = "spread"
    """Rows left over when a size is no multiple of the class count: given to the largest pools, or not made."""
    strata: tuple[Range, ...] | Literal["exact"] = LENGTHS
    """Length bins inside which classes are balanced; ``exact``: every length is a bin of its own; empty: none."""
    decorrelate: Literal["exact", "gaussian"] = "exact"
    """Equal length histograms for every class, or SentEval's bivariate Gaussian over (length, label)."""
    disjoint: bool = False
    """A target form occurs in one split only."""
    band: Range | None = None
    """Occurrences of the target form in a corpus of ``band_tokens`` words, scaled to the corpus at hand."""
    band_tokens: int = 203_000_000
    """The source of the SentEval sets: 203 million words (Paperno et al. 2016, section 3)."""
    trim: tuple[int, float] | None = None
    """Drop target forms seen fewer than this many times, and this share of the most frequent form types."""
    cap: float | None = None
    """One target form has at most this share of the rows its class could have, and never fewer than five."""
    readings: tuple[str, ...] = ()
    """Which of the task's readings of the annotation may be used, best first; empty: all, as the task lists them."""
    depths: Range = (5, 12)
    """Smallest and largest depth of a constituency tree that may be a class (tree_depth)."""
    ranks: Range = (2001, 3000)
    """Frequency ranks of the target words (word_content)."""
    tolerance: float = 1.0
    """Largest difference of log counts between an original and a replaced bigram, natural log (odd_man_out)."""
    domain: tuple[str, ...] = ()
    """UD parts of speech that may be replaced (odd_man_out); empty: any word."""
    subtypes: bool = True
    """Keep relation subtypes such as ``aux:pass`` in labels (top_dependencies)."""
    upos: tuple[str, ...] = ()
    """UD parts of speech the target must have; empty: any."""
    tense: Literal["clause", "root"] = "clause"
    """Drop roots whose finite auxiliary contradicts their Tense, or look at the root alone (past_present)."""
    pool: str = ""
    """Tasks with the same pool name draw the same sentences; empty: the task's own."""

    @property
    def most_classes(self) -> int:
        """The most classes there may be; few rows cannot be shared among many classes."""
        affordable = max(2, self.min_classes, sum(self.sizes) // self.min_class)
        return min(self.classes or affordable, affordable)

    def __post_init__(self) -> None:
        """Refuse what cannot be meant."""
        check_words(self, "A policy")
        ranges = (self.length, self.ranks, self.depths, *self.bins, *(() if self.strata == "exact" else self.strata))
        if min(self.sizes) < 1 or any(low > high or low < 0 for low, high in (*ranges, self.band or (1, 1))):
            raise UsageError(f"A policy needs positive sizes and ranges from low to high, got {self}.")
        least = {"min_classes": 2, "min_class": 1, "floor": 0, "band_tokens": 1, "tolerance": 0, "classes": 2, "cap": 0}
        for name, low in least.items():
            value = getattr(self, name)
            if value is not None and value < low:
                raise UsageError(f"A policy's {name} must be at least {low}, got {value}.")
        if self.band is not None and self.band[0] < 1:
            raise UsageError(f"A policy's band must begin at 1 or more, got {self.band}.")


@dataclass(slots=True)
class Counts:
    """What the first pass counts. Counts of shards add up to the counts of the whole."""

    sentences: int = 0
    tokens: int = 0
    columns: Counter[str] = field(default_factory=Counter)
    words: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    """(form, part of speech, features) of every word but the first of its sentence."""
    firsts: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    """The same for the first words, whose capital letter means nothing."""
    bigrams: Counter[tuple[str, str]] = field(default_factory=Counter)
    """Adjacent lower-cased forms; sentence edges are empty strings. Complete for every word that ``keeps`` says."""
    level: int = 0
    """How often the bigrams have been thinned out."""
    most_bigrams: int = 500_000
    """More bigrams than this are thinned out."""
    tallies: dict[str, Counter[Any]] = field(default_factory=dict)
    """What each task's own ``count`` yields, by task name."""
    failed: dict[str, str] = field(default_factory=dict)
    """Tasks whose own ``count`` failed, and how."""
    folded: dict[tuple[str, ...], Counter[str]] = field(default_factory=dict, compare=False, repr=False)
    """What ``forms`` has answered; several tasks ask the same."""

    def add(self, other: Counts) -> None:
        """Add another shard's counts to these."""
        self.sentences += other.sentences
        self.tokens += other.tokens
        self.level = max(self.level, other.level)
        for mine, theirs in (
            (self.columns, other.columns),
            (self.words, other.words),
            (self.firsts, other.firsts),
            (self.bigrams, other.bigrams),
        ):
            mine.update(theirs)  # type: ignore[arg-type]
        if not self.level and len(self.bigrams) > self.most_bigrams:
            self.level = 1
        self._thin()
        for name, tally in other.tallies.items():
            self.tallies.setdefault(name, Counter()).update(tally)
        for name, reason in other.failed.items():
            self.failed[name] = min(reason, self.failed.get(name, reason))

    def keeps(self, word: str) -> bool:
        """Whether every bigram of a word has been counted: half of the words drop out each time bigrams are thinned."""
        return not self.level or hash_64(word) % (1 << self.level) == 0

    def add_bigrams(self, words: Sequence[str]) -> None:
        """Count the bigrams of one sentence, edges included."""
        pairs = pairwise(words)
        if self.level:
            kept = {w for w in words if self.keeps(w)}
            pairs = (pair for pair in pairs if pair[0] in kept or pair[1] in kept)  # type: ignore[assignment]
        self.bigrams.update(pairs)
        if len(self.bigrams) > self.most_bigrams:
            self.level += 1
            self._thin()

    def _thin(self) -> None:
        """Drop words, by a hash of each, until the bigrams of the others are few enough.

        Which words remain depends on the whole corpus only: a table once too large stays too large.
        """
        while self.level:
            kept = {w for pair in self.bigrams for w in pair if self.keeps(w)}
            self.bigrams = Counter({p: n for p, n in self.bigrams.items() if p[0] in kept or p[1] in kept})
            if len(self.bigrams) <= self.most_bigrams:
                break
            self.level += 1

    def forms(self, *pos: str) -> Counter[str]:
        """Occurrences of every folded form, of these parts of speech only if any are given. Do not modify it."""
        if pos in self.folded:
            return self.folded[pos]
        out = self.folded[pos] = Counter()
        for table in (self.words, self.firsts):
            for (form, tag, _), n in table.items():
                if not pos or tag in pos:
                    out[fold(form)] += n
        return out


@dataclass(slots=True)
class Context:
    """What ``propose`` may look at besides the sentence; its draws depend on seed, task and sentence only."""

    policy: Policy
    reading: str
    plan: Any
    state: int = 0

    def draw(self, n: int) -> int:
        """A number in 0 … n-1, each as likely as the others."""
        self.state = (self.state + 0x9E3779B97F4A7C15) & 0xFFFFFFFFFFFFFFFF
        return mix(self.state) % n


Doubt = Literal["", "wrong", "ambiguous"]
"""A label that the tokens contradict, one of several that they support, or nothing to say against it."""
Proposal = Example | str | None
"""The example, or the reason there is none; None: the question does not apply to the sentence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """One probing task. ``readings`` are ways to read the label off the annotation, each with the columns it needs."""

    name: str
    version: int
    question: str
    paper: str
    propose: Callable[[Sentence, Context], Proposal]
    labels: tuple[str, ...] | str
    """The labels, or a sentence that says what they are when they depend on the corpus."""
    readings: Mapping[str, frozenset[str]] = field(default_factory=lambda: {"text": frozenset()})
    policies: Mapping[str, Policy] = field(default_factory=lambda: {"default": Policy()})
    """One policy per suite the task belongs to."""
    tables: frozenset[str] = frozenset()
    """Count tables the plan reads: ``words``, ``bigrams``."""
    count: Callable[[Sentence], Iterable[Hashable]] | None = None
    """Anything else to count in the first pass."""
    plan: Callable[[Counts, Policy, str], Any] | None = None
    """From counts to whatever ``propose`` needs, once per corpus; what it returns is sent to every worker."""
    complete: Callable[[Sequence[Example], Random], list[Example]] | None = None
    """From the chosen examples of one split to its rows (Adi's word tasks add the word and its opposite here)."""
    original: Callable[[Example], str | None] | None = None
    """Of a task that changes sentences: from a row to the text before the change, or None if the row does not tell."""
    changes: Literal["", "order", "words"] = ""
    """Whether rows may hold a sentence with words moved or replaced, which must not be another row's sentence."""
    solved_by: frozenset[str] = frozenset()
    """Shallow cues that answer the question honestly, so that an audit expects them: ``length``, ``unigrams``, …"""
    inputs: tuple[str, ...] = ()
    """Further columns that the probe is given beside the sentence: the words of Adi's tasks."""
    settings: tuple[str, ...] | None = None
    """The fields of a policy among ``SPECIFIC`` that it takes note of; one that only some readings know has these in
    front: ``constituency.depths``. None: it may take note of any."""
    doubts: Callable[[Sequence[Example]], list[Doubt]] | None = None
    """What the tokens alone say against the label of each row, where they can; of any set of this task, by whomever."""


TARGETED = ("band", "band_tokens", "trim", "disjoint", "cap")
"""Fields of a policy for tasks whose examples have a target form that ``targets`` chooses."""
SPECIFIC = (*TARGETED, "bins", "depths", "ranks", "tolerance", "domain", "subtypes", "upos", "tense")
"""Fields that only some tasks know."""
NEEDS = {
    "strata": "balance=equal",
    "remainder": "balance=equal and decorrelate=exact",
    "disjoint": "balance=equal and decorrelate=exact",
    "cap": "balance=equal and decorrelate=exact",
    "decorrelate": 'balance=equal and strata="exact"',
    "band_tokens": "a band",
    "classes": "a task whose labels depend on the corpus",
    "min_classes": "a task whose labels depend on the corpus",
}
"""What must be so for a field to have an effect, in words."""


def effective(task: Task, policy: Policy, readings: Collection[str]) -> frozenset[str]:
    """The fields of a policy that can have an effect on the task's sets under one of these readings."""
    known = {f.name for f in fields(Policy)}
    if task.settings is not None:
        named = [name.rpartition(".") for name in task.settings]
        known -= set(SPECIFIC) - {field for reading, _, field in named if not reading or reading in readings}
    if isinstance(task.labels, tuple):
        known -= {"classes", "min_classes"}
    if policy.balance == "natural":
        known -= {"strata", "decorrelate", "remainder", "disjoint", "cap"}
    elif policy.strata != "exact":
        known -= {"decorrelate"}
    elif policy.decorrelate == "gaussian":
        known -= {"remainder", "disjoint", "cap"}
    if policy.band is None:
        known -= {"band_tokens"}
    return frozenset(known)


def fold(form: str) -> str:
    """A form as a key: lower case, one kind of apostrophe."""
    return form.lower().replace("’", "'")


def token_positions(s: Sentence, words: Iterable[int]) -> tuple[int, ...]:
    """Where the surface tokens of these words stand; a word inside a multi-word token stands where that token does."""
    if not s.mwts or not words:
        return tuple(words)
    where: list[int] = []
    starts = {first: end for first, end, _ in s.mwts}
    word = token = 0
    while word < len(s):
        end = starts.get(word, word + 1)
        where += [token] * (end - word)
        word, token = end, token + 1
    return tuple(where[w] for w in words)


def targets(counts: Counts, policy: Policy, *pos: str) -> frozenset[str]:
    """The folded forms of these parts of speech, two letters or more, neither too rare nor too frequent to be a target.

    A band is scaled from ``band_tokens`` words to this corpus, but its lower end is never below 2 occurrences and it is
    never narrower than the ratio of its ends, or a small treebank would have no targets at all.
    """
    seen = counts.forms(*pos)
    low, high = 1.0, float("inf")
    if policy.band is not None:
        scale = counts.tokens / policy.band_tokens
        low = max(2.0, policy.band[0] * scale)
        high = max(policy.band[1] * scale, low * policy.band[1] / policy.band[0])
    if policy.trim is not None:
        rarest, share = policy.trim
        low = max(low, rarest)
        if top := int(len(seen) * share):
            high = min(high, sorted(seen.values(), reverse=True)[top - 1] - 1)
    return frozenset(form for form, n in seen.items() if low <= n <= high and len(form) > 1 and is_word(form))


def most_frequent(tally: Mapping[str, int], policy: Policy) -> frozenset[str]:
    """The labels that a list of ``policy.classes`` keeps besides OTHER: the most frequent, none below ``min_class``."""
    ranked = sorted(tally, key=lambda label: (-tally[label], label))
    most = None if policy.classes is None else policy.classes - 1
    return frozenset(label for label in ranked[:most] if tally[label] >= policy.min_class)
