"""Is the main clause passive?

Passive: the root has an ``aux:pass`` child, is a verb or adjective, and carries Voice=Pass and VerbForm=Part; where a
treebank gives the participle no Voice at all, the auxiliary is enough. Active: the root is a verb without any of these
signs. Roots that show only some of them (reflexive passives, participles without an auxiliary) are in neither class.
"""

from sonde.corpus.sentence import Sentence
from sonde.corpus.syntax import children, feature, root
from sonde.task import Context, Counts, Example, Policy, Proposal, Task, targets


def propose(s: Sentence, context: Context) -> Proposal:
    """1 for passive, 0 for active; the predicate's form is the key."""
    assert s.upos is not None
    assert s.deprels is not None
    head = root(s)
    below = {s.deprels[i] for i in children(s, head)}
    voice = feature(s, head, "Voice")
    participle = feature(s, head, "VerbForm") == "Part" and s.upos[head] in ("VERB", "ADJ")
    if "aux:pass" in below and participle and voice in ("Pass", None):
        label = "1"
    elif voice == "Pass" or s.upos[head] != "VERB" or not below.isdisjoint({"aux:pass", "nsubj:pass", "csubj:pass"}):
        return "neither clearly active nor clearly passive"
    else:
        label = "0"
    key = s.forms[head].lower()
    return Example.of(s, label, key=key, marks=(head,)) if key in context.plan else "form outside the frequency band"


def plan(counts: Counts, policy: Policy, reading: str) -> frozenset[str]:
    """Predicate forms that may be targets."""
    return targets(counts, policy, "VERB", "ADJ")


task = Task(
    name="passive",
    version=1,
    question="Is the main clause passive?",
    paper="universal2019",
    propose=propose,
    labels=("0", "1"),
    readings={"ud": frozenset({"upos", "feats", "heads"})},
    tables=frozenset({"words"}),
    plan=plan,
    policies={
        "universal2019": Policy(disjoint=True, trim=(2, 0.001), cap=0.01, sizes=(75_000, 7_500, 7_500)),
    },
)
