"""xprobe2019, section 8.2, table 4."""

from sentprobe.replicate import Claim, Difference, Models
from sentprobe.replicate.findings._shared import MAPPED_LANGUAGES, MAPPED_OR_NOT

finding = Claim(
    name="xprobe2019_length_after_mapping",
    paper="xprobe2019",
    where="section 8.2, table 4",
    sentence="Sentence length is encoded better after mapping than in English, by most encoders.",
    statistic=Difference(
        Models("mapped", MAPPED_OR_NOT, languages=MAPPED_LANGUAGES),
        Models("English", "{encoder}", languages=("en",), without=("{encoder}, {mapping}",)),
        tasks=("sentence_length",),
        table="4",
        across="language",
        cells="most",
    ),
)
