"""conneau2019, section 4.3, table 4.12."""

from sentprobe.replicate import Claim, Difference, Models
from sentprobe.replicate.findings._shared import XNLI_LANGUAGES

finding = Claim(
    name="conneau2019_zero_shot_xlm",
    paper="conneau2019",
    where="section 4.3, table 4.12",
    sentence=("XLM is better at XNLI in the languages themselves than on their translations into English, on average."),
    statistic=Difference(
        Models("zero-shot", "XLM (MLM+TLM)"),
        Models("translate-test", "XLM (MLM+TLM), translate-test"),
        tasks=("XNLI",),
        languages=XNLI_LANGUAGES,
        table="4.12",
        cells="mean",
    ),
)
