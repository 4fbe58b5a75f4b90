"""Which dependents does the root have, order aside?

The multiset of relations between the root and its children, punctuation left out: *She has starred with many leading
actors.* is ``aux nsubj obl``. Order does not count, because it does not mark functions in every language.
"""

from collections.abc import Iterable

from sentprobe.corpus.syntax import base, children, root
from sentprobe.sentence import Sentence
from sentprobe.tasks import Context, Counts, Example, Policy, Proposal, Task, most_frequent

OTHER = "OTHER"


def relations(s: Sentence) -> list[str]:
    """The sorted relations of the root's children, punctuation left out."""
    assert s.deprels is not None
    return sorted([relation for i in children(s, root(s)) if base(relation := s.deprels[i]) != "punct"])


def multiset_label(names: list[str], subtypes: bool) -> str:
    """The label of these relations; a dash for a root without any."""
    return " ".join(names if subtypes else sorted(map(base, names))) or "-"


def propose(s: Sentence, context: Context) -> Proposal:
    """The multiset if it is among the most frequent, otherwise OTHER."""
    if s.heads is None:
        return "no heads"
    label = multiset_label(relations(s), context.policy.subtypes)
    return Example.of(s, label if label in context.plan else OTHER)


def count(s: Sentence) -> Iterable[tuple[bool, str]]:
    """The multiset with and without subtypes, as (subtypes, multiset)."""
    if s.heads is not None:
        names = relations(s)
        label = multiset_label(names, True)
        yield True, label
        yield False, multiset_label(names, False) if ":" in label else label


def plan(counts: Counts, policy: Policy, reading: str) -> frozenset[str]:
    """The most frequent multisets."""
    tally = counts.tallies["top_dependencies"]
    return most_frequent({label: n for (subtypes, label), n in tally.items() if subtypes == policy.subtypes}, policy)


task = Task(
    name="top_dependencies",
    version=2,
    question="Which dependents does the root have, order aside?",
    paper="universal2019",
    propose=propose,
    settings=("subtypes",),
    labels="the 19 most frequent multisets of relations, and OTHER",
    solved_by=frozenset({"length", "punctuation", "edges", "unigrams", "bigrams", "characters"}),
    readings={"dependency": frozenset({"heads"})},
    count=count,
    plan=plan,
    policies={"universal2019": Policy(classes=20, min_classes=5, strata=(), sizes=(75_000, 7_500, 7_500))},
)
