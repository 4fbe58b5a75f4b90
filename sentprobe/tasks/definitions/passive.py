"""Is the main clause passive?

Passive: the root has an ``aux:pass`` child, is a verb or adjective, and carries Voice=Pass and VerbForm=Part; where a
treebank gives the participle no Voice or VerbForm at all, the auxiliary is enough. In languages with passive forms of
the verb itself (Turkish, Swedish, …), a finite root with Voice=Pass is passive, too. Active: the root is a verb with a
finite form and without any of these signs. Roots that show only some of them (reflexive passives, participles without
an auxiliary, French *peut être utilisé*) are in neither class; nor are Spanish verbs with a reflexive clitic, whatever
the treebank calls it.
"""

from collections.abc import Sequence

from sentprobe.corpus.languages import MORPHOLOGICAL_PASSIVE, NEVER_PASSIVE, REFLEXIVE_PASSIVE, code_of
from sentprobe.corpus.syntax import PASSIVE_RELATIONS, base, children, feature, finite, is_finite, not_main, root
from sentprobe.sentence import Sentence
from sentprobe.tasks import (
    OUTSIDE_BAND,
    TARGET_FIELDS,
    Context,
    Counts,
    Example,
    Policy,
    Proposal,
    Task,
    target_forms,
    target_words,
)


def propose(s: Sentence, context: Context) -> Proposal:
    """1 for passive, 0 for active; the predicate's form is the key."""
    assert s.upos is not None
    assert s.deprels is not None
    head = root(s)
    below = {s.deprels[i] for i in children(s, head)}
    voice = feature(s, head, "Voice")
    participle = feature(s, head, "VerbForm") in ("Part", None) and s.upos[head] in ("VERB", "ADJ")
    if problem := not_main(s, head):
        return problem
    language = code_of(context.language)
    with_auxiliary = "aux:pass" in below and participle and voice in ("Pass", None)
    if with_auxiliary or (language in MORPHOLOGICAL_PASSIVE and _is_passive_form(s, head)):
        label = "1"
    elif (
        voice in ("Pass", "Mid")
        or s.upos[head] != "VERB"
        or not below.isdisjoint(PASSIVE_RELATIONS)
        or (language in REFLEXIVE_PASSIVE and "expl:pv" in below)
        or _passive_below(s, head)
    ):
        return "neither clearly active nor clearly passive"
    elif finite(s, head) is None:
        return "no finite verb"
    else:
        label = "0"
    if context.fold(s.forms[head]) not in context.plan:
        return OUTSIDE_BAND
    return Example.of(s, label, key=context.lower_case(s.forms[head]), marks=(head,))


def _is_passive_form(s: Sentence, head: int) -> bool:
    """Whether a word is a finite verb in a passive form: Turkish *yapıldı*."""
    return s.upos is not None and s.upos[head] == "VERB" and feature(s, head, "Voice") == "Pass" and is_finite(s, head)


def _passive_below(s: Sentence, head: int) -> bool:
    """Whether an infinitive under the root is passive: French *peut être utilisé*."""
    assert s.deprels is not None
    return any(
        s.deprels[j] == "aux:pass" for i in children(s, head) if base(s.deprels[i]) == "xcomp" for j in children(s, i)
    )


def plan(counts: Counts, policy: Policy, reading: str) -> frozenset[str]:
    """Predicate forms that may be targets."""
    return target_forms(counts, policy, "VERB", "ADJ")


def doubts(rows: Sequence[Example], language: str | None) -> list[str]:
    """Participles among the passives that have none: *est né* is a perfect."""
    never = NEVER_PASSIVE.get(code_of(language))
    return [
        "a verb without a passive"
        if never and row.label == "1" and any(never.fullmatch(form) for form in target_words(row))
        else ""
        for row in rows
    ]


task = Task(
    name="passive",
    version=3,
    question="Is the main clause passive?",
    paper="universal2019",
    propose=propose,
    settings=TARGET_FIELDS,
    labels=("0", "1"),
    label_names={"0": "active", "1": "passive"},
    solved_by=frozenset({"unigrams", "bigrams", "characters"}),
    readings={"ud": frozenset({"upos", "feats", "heads"})},
    doubts=doubts,
    tables=frozenset({"words"}),
    plan=plan,
    policies={
        "universal2019": Policy(disjoint=True, trim=(2, 0.001), cap=0.01, sizes=(75_000, 7_500, 7_500)),
    },
)
