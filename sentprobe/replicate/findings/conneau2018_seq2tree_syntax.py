"""conneau2018, section 4, table 2."""

from sentprobe.replicate import BestOf, Claim, Models
from sentprobe.replicate.findings._shared import OBJECTIVES

finding = Claim(
    name="conneau2018_seq2tree_syntax",
    paper="conneau2018",
    where="section 4, table 2",
    sentence="Of all objectives, parsing gives the best tree depth and top constituents.",
    statistic=BestOf(
        Models("parsing", "{architecture} Seq2Tree"),
        Models("other objectives", OBJECTIVES),
        tasks=("tree_depth", "top_constituents"),
        table="2",
    ),
)
