"""Is the main clause in the past or the present tense?

``penn`` and ``constituency`` read the tag of the finite verb of the main clause (VBD against VBP and VBZ), as Conneau
et al. (2018) do; with an auxiliary that is the auxiliary, and modals are out. ``ud`` reads the Tense feature of the
root, as the UD suites do: *has starred* is past there, because the participle is. A participle says nothing about the
tense of *is built* or *was eating*, so a root whose finite auxiliary contradicts it is dropped, the perfect excepted;
the policy ``tense="root"`` keeps it.
"""

from sonde.corpus.sentence import Sentence
from sonde.corpus.syntax import base, children, feature, finite_verb, main_clause, root, sentence_node, tags
from sonde.task import Context, Counts, Example, Policy, Proposal, Task, targets

PENN = {"VBD": "PAST", "VBP": "PRES", "VBZ": "PRES"}
UD = {"Past": "PAST", "Pres": "PRES"}


def propose(s: Sentence, context: Context) -> Proposal:
    """The tense of the verb that the chosen reading looks at; its form is the key."""
    if context.reading == "constituency":
        found = _from_tree(s)
    elif context.reading == "penn":
        found = _from_tags(s)
    else:
        found = _from_features(s, context.policy)
    if isinstance(found, str):
        return found
    verb, label = found
    key = s.forms[verb].lower()
    return Example.of(s, label, key=key, marks=(verb,)) if key in context.plan else "form outside the frequency band"


def _from_tree(s: Sentence) -> tuple[int, str] | str:
    phrase = main_clause(sentence_node(s.tree))[1] if s.tree else None
    verb = finite_verb(s, phrase) if phrase else None
    if verb is None or s.xpos is None:
        return "no main clause with a verb"
    label = PENN.get(s.xpos[verb])
    return (verb, label) if label else "modal or no tense"


def _from_tags(s: Sentence) -> tuple[int, str] | str:
    """The root if tagged finite, otherwise its first finite auxiliary or copula."""
    assert s.deprels is not None
    assert s.xpos is not None
    head = root(s)
    verbs = [head] + [i for i in children(s, head) if base(s.deprels[i]) in ("aux", "cop")]
    verb = next((i for i in verbs if s.xpos[i] in PENN or s.xpos[i] == "MD"), None)
    if verb is None:
        return "no finite verb"
    label = PENN.get(s.xpos[verb])
    return (verb, label) if label else "modal or no tense"


def _from_features(s: Sentence, policy: Policy) -> tuple[int, str] | str:
    assert s.deprels is not None
    verb = root(s)
    if policy.upos and tags(s)[verb] not in policy.upos:
        return "root is no verb"
    tense = feature(s, verb, "Tense") or ""
    if tense not in UD:
        return "no past or present tense"
    if policy.tense == "clause":
        for i in children(s, verb):
            if base(s.deprels[i]) != "aux":
                continue
            if feature(s, i, "Mood") == "Cnd":
                return "conditional"
            if feature(s, i, "VerbForm") != "Fin":
                continue
            helper = feature(s, i, "Tense")
            perfect = helper in UD and tense == "Past" and s.deprels[i] != "aux:pass"
            if helper != tense and not perfect:
                return "the auxiliary contradicts the participle"
    return verb, UD[tense]


def plan(counts: Counts, policy: Policy, reading: str) -> frozenset[str]:
    """Verb forms that may be targets."""
    return targets(counts, policy, *(policy.upos or ("VERB", "AUX")))


task = Task(
    name="past_present",
    version=1,
    question="Is the main clause in the past or the present tense?",
    paper="conneau2018",
    propose=propose,
    labels=("PAST", "PRES"),
    readings={
        "constituency": frozenset({"penn", "tree"}),
        "penn": frozenset({"penn", "heads"}),
        "ud": frozenset({"upos", "feats", "heads"}),
    },
    tables=frozenset({"words"}),
    plan=plan,
    policies={
        "conneau2018": Policy(disjoint=True, band=(100, 5000)),
        "universal2019": Policy(
            disjoint=True, trim=(2, 0.001), cap=0.01, readings=("ud",), upos=("VERB",), sizes=(75_000, 7_500, 7_500)
        ),
        "xprobe2019": Policy(disjoint=True, readings=("ud",), upos=("VERB",)),
    },
)
