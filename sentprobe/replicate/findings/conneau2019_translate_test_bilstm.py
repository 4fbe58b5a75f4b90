"""conneau2019, section 4.2, table 4.10."""

from sentprobe.replicate import Claim, Difference, Models
from sentprobe.replicate.findings._shared import XNLI_LANGUAGES

finding = Claim(
    name="conneau2019_translate_test_bilstm",
    paper="conneau2019",
    where="section 4.2, table 4.10",
    sentence="For BiLSTMs, translating the test set of XNLI is better than translating what they are trained on.",
    statistic=Difference(
        Models("translate-test", "BiLSTM-{pooling}, translate-test"),
        Models("translate-train", "BiLSTM-{pooling}, translate-train"),
        tasks=("XNLI",),
        languages=XNLI_LANGUAGES,
        table="4.10",
        cells="mean",
    ),
)
