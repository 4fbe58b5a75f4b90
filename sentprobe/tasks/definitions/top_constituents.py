"""Which phrases make up the sentence, from left to right?

``constituency``: the categories of the children of the sentence node, tags of punctuation included: ``ADVP , NP VP .``.
Nodes above it that have one child only (ROOT, a second S, FRAG or a heading around the sentence) are skipped.
Under ``punctuation=final``, sequences with inner punctuation or quotes, or that do not end in a full stop, are left out
altogether, also from OTHER, as in the released SentEval set.
``dependency``: the core arguments of the root in order, with the root marked, ``nsubj ROOT obj``.
"""

from collections.abc import Iterable

from sentprobe.corpus.syntax import base, children, root, sentence_node
from sentprobe.sentence import Sentence
from sentprobe.tasks import Context, Counts, Example, Policy, Proposal, Task, most_frequent

CORE = frozenset({"nsubj", "csubj", "obj", "iobj", "ccomp", "xcomp"})
PUNCTUATION_TAGS = frozenset({",", ":", "``", "''", "-LRB-", "-RRB-", "NFP", "HYPH", ".", "$", "#", "SYM"})
OTHER = "OTHER"


def sequence(s: Sentence, reading: str) -> str | None:
    """The label before rare ones become OTHER; None when the sentence is left out."""
    if reading == "constituency":
        below = sentence_node(s.tree).nodes if s.tree else ()
        return None if len(below) < 2 and not any(c.nodes for c in below) else " ".join(c.category for c in below)
    if s.heads is None or s.deprels is None:
        return None
    top = root(s)
    parts = [
        "ROOT" if i == top else base(s.deprels[i])
        for i in sorted([top, *children(s, top)])
        if i == top or base(s.deprels[i]) in CORE
    ]
    return " ".join(parts)


def is_final(label: str) -> bool:
    """Whether a sequence of categories has no punctuation but a full stop at its end."""
    *inner, last = label.split(" ")
    return bool(inner) and last == "." and PUNCTUATION_TAGS.isdisjoint(inner)


def propose(s: Sentence, context: Context) -> Proposal:
    """The sequence if it is among the most frequent, otherwise OTHER."""
    label = sequence(s, context.reading)
    if label is None:
        return "no phrases below the sentence node" if s.tree else "no tree"
    if context.reading == "constituency" and context.policy.punctuation == "final" and not is_final(label):
        return "inner punctuation or no full stop"
    return Example.of(s, label if label in context.plan else OTHER)


def count(s: Sentence) -> Iterable[tuple[str, str]]:
    """Both readings of the sentence, as (reading, sequence)."""
    for reading in ("constituency", "dependency"):
        label = sequence(s, reading)
        if label is not None:
            yield reading, label


def plan(counts: Counts, policy: Policy, reading: str) -> frozenset[str]:
    """The most frequent sequences of the reading."""
    every = reading == "dependency" or policy.punctuation == "kept"
    tally = counts.tallies["top_constituents"]
    return most_frequent(
        {label: n for (r, label), n in tally.items() if r == reading and (every or is_final(label))}, policy
    )


task = Task(
    name="top_constituents",
    version=3,
    question="Which phrases make up the sentence, from left to right?",
    paper="conneau2018",
    propose=propose,
    settings=("constituency.punctuation",),
    labels="the 19 most frequent sequences, and OTHER",
    solved_by=frozenset({"length", "punctuation", "edges", "unigrams", "bigrams", "characters"}),
    readings={"constituency": frozenset({"tree"}), "dependency": frozenset({"heads"})},
    count=count,
    plan=plan,
    policies={"conneau2018": Policy(classes=20, min_classes=5, strata=())},
)
