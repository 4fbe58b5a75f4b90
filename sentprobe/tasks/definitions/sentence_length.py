"""How many words does the sentence have?

Conneau et al. (2018) and X-Probe use the bins of the released SentEval file (unequal at the end); Krasnowska-Kieraś and
Wróblewska (2019) list seven intervals of three and speak of six classes (``classes=6`` drops the last one); Adi et al.
(2017) use eight bins and leave the classes unbalanced.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence

from sentprobe.sentence import Sentence
from sentprobe.tasks import LENGTH_BINS, Context, Example, LabelIssue, Policy, Proposal, Task


def propose(s: Sentence, context: Context) -> Proposal:
    """The bin of the number of surface tokens, punctuation included."""
    n = len(s.tokens)
    for label, (low, high) in enumerate(context.policy.bins[: context.policy.classes]):
        if low <= n <= high:
            return Example.of(s, str(label))
    return "outside all bins"


THREES = ((3, 5), (6, 8), (9, 11), (12, 14), (15, 17), (18, 20), (21, 23))
ADI = ((5, 8), (9, 12), (13, 16), (17, 20), (21, 25), (26, 29), (30, 33), (34, 70))


def label_issues(rows: Sequence[Example]) -> list[LabelIssue]:
    """Sentences of one length belong in one bin, whatever the bins: the one that has most of them."""
    seen: defaultdict[int, Counter[str]] = defaultdict(Counter)
    for row in rows:
        seen[len(row.tokens)][row.label] += 1
    usual = {n: max(counts.values()) for n, counts in seen.items()}
    return ["" if seen[len(row.tokens)][row.label] == usual[len(row.tokens)] else "wrong" for row in rows]


SIX_EQUAL = ((5, 8), (9, 12), (13, 16), (17, 20), (21, 24), (25, 28))
"""The bins of the paper's text; the released file has others."""

task = Task(
    name="sentence_length",
    version=2,
    question="How many words does the sentence have?",
    paper="conneau2018",
    propose=propose,
    settings=("bins",),
    labels="the number of the length bin, from 0",
    as_published={"conneau2018": {"bins": SIX_EQUAL}},
    policies={
        "conneau2018": Policy(bins=LENGTH_BINS, strata=()),
        "universal2019": Policy(bins=THREES, length=(3, 23), strata=(), sizes=(75_000, 7_500, 7_500)),
        "xprobe2019": Policy(bins=LENGTH_BINS, strata=()),
        "adi2017": Policy(
            bins=ADI,
            length=(5, 70),
            strata=(),
            balance="natural",
            sizes=(150_000, 25_000, 25_000),
            pool="adi2017",
        ),
    },
    solved_by=frozenset({"length", "punctuation", "edges", "unigrams", "bigrams", "characters"}),
    label_issues=label_issues,
)
