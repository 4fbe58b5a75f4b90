"""Was a word of the sentence replaced by one that does not belong?

A position and a replacement are chosen before the label, and a sentence qualifies for either label only if it has both.
The replacement has the part of speech and features of the original, and both its bigrams are attested in the corpus
about as often as the original's. Where there are dependencies, a verb is replaced only by one seen with the same kinds
of complements, and parts of compounds are kept. Replacements are divided among the splits, and a sentence is used
once. Some changed sentences remain well-formed: human accuracy in the paper is 81 %.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from sentprobe.corpus.syntax import children, feature, tags
from sentprobe.sentence import Sentence
from sentprobe.tasks import TARGET_FIELDS, Context, Counts, Example, Policy, Proposal, Task, target_forms
from sentprobe.tasks.example import replace_words, replaceable_words, restore_words

FRAME = frozenset({"obj", "iobj", "ccomp", "xcomp", "compound:prt"})
"""Complements that a verb takes or does not take."""
MAINLY = 0.5
"""A form is of a kind if at least this share of its occurrences has that part of speech."""


@dataclass(frozen=True, slots=True)
class ReplacementPlan:
    """What may replace what, and where. Words are folded forms."""

    spelling: dict[str, str]
    """Word → its usual spelling inside sentences: German nouns have a capital."""
    words: dict[tuple[str, str], frozenset[str]]
    """(part of speech, features) → the words of this kind."""
    frames: dict[str, frozenset[str]]
    """Word → the complements it has been seen with."""
    after: dict[str, dict[str, int]]
    """Left neighbour → word → count of the bigram."""
    before: dict[str, dict[str, int]]
    """Right neighbour → word → count of the bigram."""


def propose(s: Sentence, context: Context) -> Proposal:
    """C (changed) or O (original) by the toss of a coin, once a position and a replacement are found."""
    plan: ReplacementPlan = context.plan
    forms, pos, domain = s.forms, tags(s), context.policy.domain
    words = replaceable_words(s)
    positions = [
        i
        for i in range(1, len(s) - 1)
        if (pos[i] in domain if domain else pos[i] not in ("PUNCT", "SYM", "X"))
        and i in words
        and plan.spelling.get(context.fold(forms[i])) == forms[i]
        and feature(s, i, "Abbr") != "Yes"
        and not _in_compound(s, i)
    ]
    while positions:
        i = positions.pop(context.draw(len(positions)))
        kind = (pos[i], s.feats[i] if s.feats else (s.xpos[i] if s.xpos else ""))
        trigram = [context.fold(form) for form in forms[i - 1 : i + 2]]
        fitting = replacements(plan, kind, trigram, _frame(s, i), context.policy.tolerance)
        if fitting:
            new = fitting[context.draw(len(fitting))]
            extra = (("original", s.forms[i]), ("replacement", plan.spelling[new]))
            key = context.lower_case(plan.spelling[new])
            if context.draw(2):
                return replace_words(s, "O", {i: s.forms[i]}, key=key, extra=extra)
            return replace_words(s, "C", {i: plan.spelling[new]}, key=key, extra=extra)
    return "no word with a matching replacement"


def original(row: Example) -> str | None:
    """The original word in the place of its replacement."""
    if row.label != "C":
        return row.text
    word = dict(row.extra).get("original")
    return restore_words(row, {row.marks[0]: word}) if word and len(row.marks) == 1 else None


def replacements(
    plan: ReplacementPlan, kind: tuple[str, str], trigram: list[str], frame: frozenset[str], tolerance: float
) -> list[str]:
    """Words that may replace the middle one of three: same kind, and bigrams about as frequent as the original's.

    The occurrence at hand is not counted, so that the original's bigrams are attested elsewhere, as the others' are.
    """
    left, word, right = trigram
    after, before = plan.after.get(left, {}), plan.before.get(right, {})
    left_count, right_count = after.get(word, 0) - 1, before.get(word, 0) - 1
    if left_count < 1 or right_count < 1:
        return []
    left_low, left_high = counts_near(left_count, tolerance)
    right_low, right_high = counts_near(right_count, tolerance)
    capital = plan.spelling[word][0].isupper()
    return sorted(
        [
            r
            for r in after.keys() & before.keys() & plan.words.get(kind, frozenset())
            if left_low <= after[r] <= left_high
            and right_low <= before[r] <= right_high
            and r != word
            and plan.spelling[r][0].isupper() == capital
            and frame <= plan.frames.get(r, frozenset())
        ]
    )


@lru_cache(maxsize=1 << 12)
def counts_near(count: int, tolerance: float) -> tuple[int, int]:
    """The smallest and the largest count whose log differs by at most ``tolerance`` from that of another one."""

    def near(n: int) -> bool:
        return abs(math.log(n / count)) <= tolerance

    factor = math.exp(min(tolerance, 600.0))  # a larger one would exceed the range of floats
    low, high = int(count / factor), int(count * factor)  # rounded, and thus one off at most
    return (
        next(n for n in range(max(1, low - 1), count + 1) if near(n)),
        next(n for n in range(high + 1, count - 1, -1) if near(n)),
    )


def count(s: Sentence) -> Iterable[tuple[str, str]]:
    """(verb, complement) for every complement of every verb."""
    if s.heads is not None and s.deprels is not None:
        pos = tags(s)
        for head, relation in zip(s.heads, s.deprels, strict=True):
            if head >= 0 and relation in FRAME and pos[head] == "VERB":
                yield s.forms[head], relation


def plan(counts: Counts, policy: Policy, reading: str) -> ReplacementPlan:
    """Index the bigrams of every form in the frequency band."""
    band = target_forms(counts, policy, *policy.domain)
    seen = counts.forms()
    words: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    spellings: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for (form, tag, feats), n in counts.words.items():
        if policy.domain and tag not in policy.domain:
            continue
        word = counts.fold(form)
        if word in band and counts.keeps(word) and counts.forms(tag)[word] >= MAINLY * seen[word]:
            words[tag, feats].add(word)
            spellings[word][form] += n
    after: defaultdict[str, dict[str, int]] = defaultdict(dict)
    before: defaultdict[str, dict[str, int]] = defaultdict(dict)
    for (left, right), n in counts.bigrams.items():
        if right in spellings:
            after[left][right] = n
        if left in spellings:
            before[right][left] = n
    frames: defaultdict[str, set[str]] = defaultdict(set)
    for form, relation in counts.tallies.get("odd_man_out", ()):
        if (verb := counts.fold(form)) in spellings:
            frames[verb].add(relation)
    return ReplacementPlan(
        {word: min(c, key=lambda form: (-c[form], form)) for word, c in spellings.items()},
        {kind: frozenset(forms) for kind, forms in words.items()},
        {word: frozenset(f) for word, f in frames.items()},
        dict(after),
        dict(before),
    )


def _frame(s: Sentence, i: int) -> frozenset[str]:
    if s.heads is None or s.deprels is None or tags(s)[i] != "VERB":
        return frozenset()
    return FRAME & {s.deprels[j] for j in children(s, i)}


def _in_compound(s: Sentence, i: int) -> bool:
    """Whether the word is part of a compound, which another noun may join as well: *student loan*."""
    if s.heads is None or s.deprels is None:
        return False
    below = {s.deprels[j] for j in children(s, i)}
    return s.deprels[i] == "compound" or not below.isdisjoint({"compound", "flat", "fixed"})


THREE_LENGTH_BINS = ((5, 12), (13, 18), (19, 28))

task = Task(
    name="odd_man_out",
    version=2,
    question="Was a word of the sentence replaced by one that does not belong?",
    paper="conneau2018",
    propose=propose,
    settings=(*TARGET_FIELDS, "tolerance", "domain"),
    changes="words",
    original=original,
    labels=("C", "O"),
    label_names={"C": "changed", "O": "original"},
    readings={"ud": frozenset({"upos"}), "penn": frozenset({"penn"})},
    tables=frozenset({"words", "bigrams"}),
    count=count,
    plan=plan,
    as_published={"xprobe2019": {"disjoint": False}},
    policies={
        "conneau2018": Policy(disjoint=True, band=(40, 400), domain=("NOUN", "VERB"), strata=THREE_LENGTH_BINS),
        "xprobe2019": Policy(disjoint=True, band=(40, 400), strata=THREE_LENGTH_BINS),
    },
)
