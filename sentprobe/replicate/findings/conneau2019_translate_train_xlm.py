"""conneau2019, section 4.3, table 4.12."""

from sentprobe.replicate import Claim, Difference, Models
from sentprobe.replicate.findings._shared import XNLI_LANGUAGES

finding = Claim(
    name="conneau2019_translate_train_xlm",
    paper="conneau2019",
    where="section 4.3, table 4.12",
    sentence="For XLM, translating what it is trained on is better than translating the test set of XNLI.",
    statistic=Difference(
        Models("translate-train", "XLM (MLM+TLM), translate-train"),
        Models("translate-test", "XLM (MLM+TLM), translate-test"),
        tasks=("XNLI",),
        languages=XNLI_LANGUAGES,
        table="4.12",
        cells="mean",
    ),
)
