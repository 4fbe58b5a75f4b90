"""Is the subject of the main clause singular or plural?

The subject is the one nominal subject of the root (or the NP before the VP of the sentence node), a common noun. Left
out: coordinated subjects, whose number is not their head's, and heads whose finite verb disagrees with them in number
(*a lot of people were*).
"""

from sonde.corpus.sentence import Sentence
from sonde.corpus.syntax import base, children, feature, finite, head_noun, main_clause, root, sentence_node
from sonde.task import Context, Counts, Example, Policy, Proposal, Task, targets

PENN = {"NN": "NN", "NNS": "NNS"}
UD = {"Sing": "NN", "Plur": "NNS"}


def propose(s: Sentence, context: Context) -> Proposal:
    """The number of the subject; its form is the key."""
    noun: int | str | None
    if context.reading == "constituency":
        phrase = main_clause(sentence_node(s.tree))[0] if s.tree else None
        noun = head_noun(s, phrase) if phrase else None
    else:
        noun = argument(s, "nsubj")
    return number(s, context, noun)


def argument(s: Sentence, relation: str) -> int | str:
    """The one dependent of the root with this relation, or why there is none."""
    assert s.deprels is not None
    head = root(s)
    found = [i for i in children(s, head) if base(s.deprels[i]) == relation]
    if len(found) != 1:
        return f"no {relation} of the root" if not found else f"several {relation}"
    verb = finite(s, head)
    if verb is not None and relation == "nsubj":
        agreement = feature(s, verb, "Number")
        if agreement is not None and agreement != feature(s, found[0], "Number"):
            return "verb and subject disagree in number"
    return found[0]


def number(s: Sentence, context: Context, noun: int | str | None) -> Proposal:
    """The example for a noun at a known position, under the reading's own idea of number."""
    if not isinstance(noun, int):
        return noun or "no common noun as head"
    if context.reading == "ud":
        assert s.upos is not None
        label = UD.get(feature(s, noun, "Number") or "") if s.upos[noun] == "NOUN" else None
    else:
        label = PENN.get(s.xpos[noun]) if s.xpos else None
    if label is None:
        return "no common noun with a number"
    if s.deprels is not None and any(s.deprels[i] == "conj" for i in children(s, noun)):
        return "coordinated"
    key = s.forms[noun].lower()
    return Example.of(s, label, key=key, marks=(noun,)) if key in context.plan else "form outside the frequency band"


def plan(counts: Counts, policy: Policy, reading: str) -> frozenset[str]:
    """Noun forms that may be targets."""
    return targets(counts, policy, "NOUN")


READINGS = {
    "constituency": frozenset({"penn", "tree"}),
    "penn": frozenset({"penn", "heads"}),
    "ud": frozenset({"upos", "feats", "heads"}),
}
POLICIES = {
    "conneau2018": Policy(disjoint=True, band=(100, 5000)),
    "universal2019": Policy(disjoint=True, trim=(2, 0.001), cap=0.01, readings=("ud",), sizes=(75_000, 7_500, 7_500)),
    "xprobe2019": Policy(disjoint=True, readings=("ud",)),
}

task = Task(
    name="subj_number",
    version=1,
    question="Is the subject of the main clause singular or plural?",
    paper="conneau2018",
    propose=propose,
    labels=("NN", "NNS"),
    readings=READINGS,
    tables=frozenset({"words"}),
    plan=plan,
    policies=POLICIES,
)
