"""Was a word of the sentence replaced by one that does not belong?

A position and a replacement are chosen before the label, and a sentence qualifies for either label only if it has both.
The replacement has the part of speech and features of the original, and both its bigrams are attested in the corpus
about as often as the original's. Replacements are shared out between the splits, and a sentence is used once.
"""

import math
from collections import defaultdict
from dataclasses import dataclass

from sonde.corpus.sentence import Sentence
from sonde.corpus.syntax import tags
from sonde.edit import plain_words, replaced
from sonde.task import Context, Counts, Policy, Proposal, Task, targets


@dataclass(frozen=True, slots=True)
class Plan:
    """What may replace what, and where."""

    kinds: dict[str, frozenset[tuple[str, str]]]
    """Lower-cased form → its (part of speech, features)."""
    after: dict[str, dict[str, int]]
    """Left neighbour → candidate → count of the bigram."""
    before: dict[str, dict[str, int]]
    """Right neighbour → candidate → count of the bigram."""


def propose(s: Sentence, context: Context) -> Proposal:
    """C (changed) or O (original) by the toss of a coin, once a position and a replacement are found."""
    plan: Plan = context.plan
    words, pos = plain_words(s), tags(s)
    places = [
        i
        for i in range(1, len(s) - 1)
        if i in words
        and s.forms[i] in plan.kinds
        and (pos[i] in context.policy.domain if context.policy.domain else pos[i] not in ("PUNCT", "SYM", "X"))
    ]
    low = [form.lower() for form in s.forms]
    while places:
        i = places.pop(context.draw(len(places)))
        kind = (pos[i], s.feats[i] if s.feats else (s.xpos[i] if s.xpos else ""))
        fit = candidates(plan, kind, low[i - 1], low[i], low[i + 1], context.policy.tolerance)
        if not fit:
            continue
        new = fit[context.draw(len(fit))]
        extra = (("original", s.forms[i]), ("replacement", new))
        if context.draw(2):
            example = replaced(s, "O", {i: s.forms[i]}, key=new, extra=extra)
        else:
            example = replaced(s, "C", {i: new}, key=new, extra=extra)
        return example
    return "no word with a matching replacement"


def candidates(plan: Plan, kind: tuple[str, str], left: str, word: str, right: str, tolerance: float) -> list[str]:
    """Words of the same kind whose two bigrams are about as frequent as the original's, this occurrence not counted."""
    after, before = plan.after.get(left, {}), plan.before.get(right, {})
    one, two = after.get(word, 0) - 1, before.get(word, 0) - 1
    if one < 1 or two < 1:
        return []
    few, many = (after, before) if len(after) < len(before) else (before, after)
    return sorted(
        r
        for r in few
        if r in many
        and r != word
        and kind in plan.kinds[r]
        and abs(math.log(after[r] / one)) <= tolerance
        and abs(math.log(before[r] / two)) <= tolerance
    )


def plan(counts: Counts, policy: Policy, reading: str) -> Plan:
    """Index the bigrams of every form in the frequency band."""
    band = targets(counts, policy, *policy.domain)
    kinds: defaultdict[str, set[tuple[str, str]]] = defaultdict(set)
    for form, tag, feats in counts.words:
        if form in band and (not policy.domain or tag in policy.domain):
            kinds[form].add((tag, feats))
    after: defaultdict[str, dict[str, int]] = defaultdict(dict)
    before: defaultdict[str, dict[str, int]] = defaultdict(dict)
    for (left, right), n in counts.bigrams.items():
        if right in kinds:
            after[left][right] = n
        if left in kinds:
            before[right][left] = n
    return Plan({form: frozenset(k) for form, k in kinds.items()}, dict(after), dict(before))


COARSE = ((5, 12), (13, 18), (19, 28))

task = Task(
    name="odd_man_out",
    version=1,
    question="Was a word of the sentence replaced by one that does not belong?",
    paper="conneau2018",
    propose=propose,
    labels=("C", "O"),
    readings={"tags": frozenset({"upos"}), "penn": frozenset({"penn"})},
    tables=frozenset({"words", "bigrams"}),
    plan=plan,
    policies={
        "conneau2018": Policy(disjoint=True, band=(40, 400), domain=("NOUN", "VERB"), strata=COARSE),
        "xprobe2019": Policy(disjoint=True, band=(40, 400), strata=COARSE),
    },
)
