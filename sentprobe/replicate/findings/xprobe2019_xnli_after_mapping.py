"""xprobe2019, read from table 3."""

from sentprobe.replicate import Claim, Difference, Models
from sentprobe.replicate.findings._shared import MAPPED_LANGUAGES, MAPPED_OR_NOT

finding = Claim(
    name="xprobe2019_xnli_after_mapping",
    paper="xprobe2019",
    where="read from table 3",
    sentence="XNLI accuracy of every encoder is lower after mapping than in English.",
    statistic=Difference(
        Models("mapped", MAPPED_OR_NOT, languages=MAPPED_LANGUAGES),
        Models("English", "{encoder}", languages=("en",), without=("{encoder}, {mapping}",)),
        tasks=("XNLI",),
        table="3",
        across="language",
        expect="below",
    ),
)
