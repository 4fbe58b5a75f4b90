"""Is the sentence a question, a command, or neither?

``inter``: the sentence ends in a question mark. ``imper``: the root is imperative, or its auxiliary (*don't go*) or
copula (*be quiet*). ``other``: everything else. Left out: a question mark anywhere but at the end, a hortative particle
(Polish *niech*), and an imperative below a finite auxiliary that is none (Finnish *en mene*, with the form of *mene!*):
of the two, the mood of the auxiliary is that of the clause, but one of the tags is wrong.
"""

from sentprobe.corpus.syntax import auxiliaries, feature, is_finite, root
from sentprobe.sentence import Sentence
from sentprobe.tasks import Context, Example, Policy, Proposal, Task


def propose(s: Sentence, context: Context) -> Proposal:
    """One of the three types."""
    last, top = len(s) - 1, root(s)
    if not QUESTIONS.isdisjoint("".join(s.forms)):
        final = set(s.forms[last])
        if final <= FINAL_MARKS and not QUESTIONS.isdisjoint(final):
            return Example.of(s, "inter", marks=(last,))
        return "question mark inside"
    assert s.deprels is not None
    helpers = auxiliaries(s, top, "aux", "cop")
    if imperatives := [i for i in (top, *helpers) if feature(s, i, "Mood") == "Imp"]:
        if imperatives == [top] and any(is_finite(s, i) for i in helpers):
            return "imperative below an auxiliary that is none"
        return Example.of(s, "imper", marks=imperatives[:1])
    if "aux:imp" in s.deprels and "aux:imp" in [s.deprels[i] for i in helpers]:
        return "hortative particle"
    return Example.of(s, "other")


QUESTIONS = frozenset("?؟？")
FINAL_MARKS = QUESTIONS | {"!"}


task = Task(
    name="sentence_type",
    version=3,
    question="Is the sentence a question, a command, or neither?",
    paper="universal2019",
    propose=propose,
    settings=(),
    labels=("imper", "inter", "other"),
    label_names={"imper": "imperative", "inter": "interrogative"},
    readings={"ud": frozenset({"feats", "heads"})},
    policies={
        "universal2019": Policy(length=(3, 28), strata=((3, 8), (9, 14), (15, 28)), sizes=(75_000, 7_500, 7_500))
    },
    solved_by=frozenset({"punctuation", "edges", "unigrams", "bigrams", "characters"}),
)
