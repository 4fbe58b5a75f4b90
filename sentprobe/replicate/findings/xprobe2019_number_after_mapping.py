"""xprobe2019, section 8.2, table 4."""

from sentprobe.replicate import Claim, Difference, Models
from sentprobe.replicate.findings._shared import MAPPED_LANGUAGES, MAPPED_OR_NOT

finding = Claim(
    name="xprobe2019_number_after_mapping",
    paper="xprobe2019",
    where="section 8.2, table 4",
    sentence="The number of subject and object is encoded better after mapping than in English.",
    statistic=Difference(
        Models("mapped", MAPPED_OR_NOT, languages=MAPPED_LANGUAGES),
        Models("English", "{encoder}", languages=("en",), without=("{encoder}, {mapping}",)),
        tasks=("subj_number", "obj_number"),
        table="4",
        across="language",
    ),
    note="Read as a claim about each language: scores rise in Spanish and French and fall in Russian.",
)
