"""universal2019, read from table 1."""

from sentprobe.replicate import Claim, Difference, Models
from sentprobe.replicate.findings._shared import WITHOUT_TREES

finding = Claim(
    name="universal2019_parser_words",
    paper="universal2019",
    where="read from table 1",
    sentence="In English, vectors of a parser keep words worse than all others.",
    statistic=Difference(
        Models("parser", "COMBO_{combo}"),
        Models("other encoders", WITHOUT_TREES),
        tasks=("word_content",),
        languages=("en",),
        table="1",
        expect="below",
    ),
)
