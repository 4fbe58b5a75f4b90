"""Is the direct object of the main clause singular or plural?

The object is the one direct object of the root verb (or the last NP of the innermost VP), a common noun.
"""

from sonde.corpus.sentence import Sentence
from sonde.corpus.syntax import head_noun, lexical_phrase, main_clause, sentence_node
from sonde.task import Context, Proposal, Task
from sonde.tasks.subj_number import POLICIES, READINGS, argument, number, plan


def propose(s: Sentence, context: Context) -> Proposal:
    """The number of the object; its form is the key."""
    if context.reading != "constituency":
        return number(s, context, argument(s, "obj"))
    phrase = main_clause(sentence_node(s.tree))[1] if s.tree else None
    if phrase is None:
        return "no main clause with a verb"
    inner = lexical_phrase(phrase)
    if inner.nodes[0].label in ("VBD", "VBZ", "VBP") and str(inner.nodes[0].children[0]).lower() in BE:
        return "copula"
    nouns = [
        c for c in inner.nodes if c.category == "NP" and not {"TMP", "ADV", "PRD", "LGS"} & set(c.label.split("-"))
    ]
    return number(s, context, head_noun(s, nouns[-1]) if nouns else "no object")


BE = frozenset({"is", "are", "am", "was", "were", "'s", "'re", "'m"})

task = Task(
    name="obj_number",
    version=1,
    question="Is the direct object of the main clause singular or plural?",
    paper="conneau2018",
    propose=propose,
    labels=("NN", "NNS"),
    readings=READINGS,
    tables=frozenset({"words"}),
    plan=plan,
    policies=POLICIES,
)
