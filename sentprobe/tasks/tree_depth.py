"""How deep is the syntactic tree?

Conneau et al. (2018) take the constituency tree (nodes from ROOT to a part-of-speech node); the UD suites take the
dependency tree (words from the root down, punctuation left out). Depth grows with length, so classes are drawn with the
same length histogram to the last row (``decorrelate="exact"``), or from SentEval's Gaussian over length and depth
(``"gaussian"``).
"""

from sentprobe.corpus.sentence import Sentence
from sentprobe.corpus.syntax import depth, height
from sentprobe.task import Context, Example, Policy, Proposal, Task


def propose(s: Sentence, context: Context) -> Proposal:
    """The number of nodes on the longest path."""
    if context.reading == "constituency":
        if s.tree is None:
            return "no tree"
        found = height(s.tree)
        low, high = context.policy.depths
        return Example.of(s, f"{found:02d}") if low <= found <= high else "depth outside the classes"
    return Example.of(s, f"{depth(s):02d}") if s.heads else "no heads"


task = Task(
    name="tree_depth",
    version=2,
    question="How deep is the syntactic tree of the sentence?",
    paper="conneau2018",
    propose=propose,
    settings=("constituency.depths",),
    labels="the depth in nodes, two digits",
    solved_by=frozenset({"punctuation", "unigrams", "bigrams", "characters"}),
    readings={"constituency": frozenset({"tree"}), "dependency": frozenset({"heads"})},
    policies={
        "conneau2018": Policy(strata="exact", remainder="drop", min_classes=5),
        "universal2019": Policy(
            strata="exact", remainder="drop", readings=("dependency",), min_classes=5, sizes=(75_000, 7_500, 7_500)
        ),
        "xprobe2019": Policy(strata="exact", remainder="drop", readings=("dependency",), min_classes=5),
    },
)
