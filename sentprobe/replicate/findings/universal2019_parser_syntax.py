"""universal2019, section 5, table 1."""

from sentprobe.replicate import BestOf, Claim, Models
from sentprobe.replicate.findings._shared import WITHOUT_TREES

finding = Claim(
    name="universal2019_parser_syntax",
    paper="universal2019",
    where="section 5, table 1",
    sentence="Vectors of a parser have the best tree depth and top dependencies.",
    statistic=BestOf(
        Models("parser", "COMBO_mean"),
        Models("other encoders", WITHOUT_TREES),
        tasks=("tree_depth", "top_dependencies"),
        table="1",
    ),
)
