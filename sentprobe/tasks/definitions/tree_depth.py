"""How deep is the syntactic tree?

Conneau et al. (2018) take the constituency tree (nodes from ROOT to a part-of-speech node); the UD suites take the
dependency tree (words from the root down, punctuation left out). Depth grows with length, so classes are drawn with the
same length histogram to the last row (``decorrelate="exact"``), or from SentEval's Gaussian over length and depth
(``"gaussian"``). The classes are neighbouring depths that the corpus has enough rows of, unless the policy's ``depths``
fixes them: sets of two languages are then about the same depths.
"""

from sentprobe.corpus.syntax import depth, height
from sentprobe.sentence import Sentence
from sentprobe.tasks import Context, Example, Policy, Proposal, Task

CONSTITUENCY_DEPTHS = (5, 12)
"""The classes of the paper."""


def propose(s: Sentence, context: Context) -> Proposal:
    """The number of nodes on the longest path."""
    depths = context.policy.depths
    if context.reading == "constituency":
        if s.tree is None:
            return "no tree"
        nodes, (low, high) = height(s.tree), depths or CONSTITUENCY_DEPTHS
    elif not s.heads:
        return "no heads"
    else:
        nodes, (low, high) = depth(s), depths or (1, len(s))
    return Example.of(s, f"{nodes:02d}") if low <= nodes <= high else "depth outside the classes"


task = Task(
    name="tree_depth",
    version=2,
    question="How deep is the syntactic tree of the sentence?",
    paper="conneau2018",
    propose=propose,
    settings=("depths",),
    labels="the depth in nodes, two digits",
    solved_by=frozenset({"punctuation", "unigrams", "bigrams", "characters"}),
    readings={"constituency": frozenset({"tree"}), "dependency": frozenset({"heads"})},
    as_published={"conneau2018": {"decorrelate": "gaussian"}},
    policies={
        "conneau2018": Policy(strata="exact", remainder="drop", min_classes=5),
        "universal2019": Policy(
            strata="exact", remainder="drop", readings=("dependency",), min_classes=5, sizes=(75_000, 7_500, 7_500)
        ),
        "xprobe2019": Policy(strata="exact", remainder="drop", readings=("dependency",), min_classes=5),
    },
)
