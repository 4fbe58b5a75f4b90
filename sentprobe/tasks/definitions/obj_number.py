"""Is the direct object of the main clause singular or plural?

The object is the one direct object of the root, a finite verb (or the last plain NP of the innermost VP), and a common
noun; the rest is as for the subject. Objects of passives are left out: they are what remains of two objects (*he was
given books*), or obliques that a treebank calls objects. In Finnic languages the object of a passive is an object like
any other.
"""

from sentprobe.corpus.syntax import head_noun, lexical_phrase, main_clause, sentence_node
from sentprobe.sentence import Sentence, Tree
from sentprobe.tasks import TARGET_FIELDS, Context, Proposal, Task
from sentprobe.tasks.definitions.subj_number import (
    AS_PUBLISHED,
    OF_A_PASSIVE,
    POLICIES,
    READINGS,
    argument,
    number,
    plan,
)


def propose(s: Sentence, context: Context) -> Proposal:
    """The number of the object; its form is the key."""
    if context.reading != "constituency":
        return number(s, context, argument(s, "obj"), "obj")
    phrase = main_clause(sentence_node(s.tree))[1] if s.tree else None
    if phrase is None:
        return "no main clause with a verb"
    if is_passive_phrase(phrase):
        return OF_A_PASSIVE
    inner = lexical_phrase(phrase)
    if not inner.nodes or str(inner.nodes[0].children[0]).lower() in LINKING:
        return "linking verb"
    nouns = [c for c in inner.nodes if c.label == "NP"]  # function tags mark times, manners and vocatives
    return number(s, context, head_noun(s, nouns[-1]) if nouns else "no object", "obj")


def is_passive_phrase(verb: Tree) -> bool:
    """Whether a VP is that of a passive: a form of *be* or *get* above the participle of the innermost VP."""
    above: Tree | None = None
    while inner := next((c for c in verb.nodes if c.category == "VP"), None):
        above, verb = verb, inner
    if above is None or not any(c.label == "VBN" for c in verb.nodes):
        return False
    auxiliary = next((str(c.children[0]) for c in above.nodes if c.label.startswith("VB")), "")
    return auxiliary.lower() in PASSIVE_AUXILIARIES


BE = frozenset({"be", "is", "are", "am", "was", "were", "been", "being", "'re", "’re", "'m", "’m"})
PASSIVE_AUXILIARIES = BE | {"get", "gets", "got", "gotten", "getting"}  # *'s* is *has* more often
BECOME = frozenset({"become", "becomes", "became", "becoming"})
REMAIN = frozenset({"remain", "remains", "remained", "remaining"})
SEEM = frozenset({"seem", "seems", "seemed", "seeming"})
LINKING = BE | BECOME | REMAIN | SEEM | {"'s", "’s"}

task = Task(
    name="obj_number",
    title="object number",
    version=2,
    question="Is the direct object of the main clause singular or plural?",
    paper="conneau2018",
    propose=propose,
    settings=TARGET_FIELDS,
    labels=("NN", "NNS"),
    label_names={"NN": "singular", "NNS": "plural"},
    solved_by=frozenset({"unigrams", "bigrams", "characters"}),
    readings=READINGS,
    tables=frozenset({"words"}),
    plan=plan,
    policies=POLICIES,
    as_published=AS_PUBLISHED,
)
