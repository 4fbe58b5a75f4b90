"""conneau2019, section 4.3, table 4.14."""

from sentprobe.replicate import Claim, Difference, Models

finding = Claim(
    name="conneau2019_pretrained_translation",
    paper="conneau2019",
    where="section 4.3, table 4.14",
    sentence="Masked language models are better initial weights for supervised translation than causal ones.",
    statistic=Difference(Models("MLM", "MLM, {data}"), Models("CLM", "CLM, {data}"), table="4.14"),
    note="Three numbers in BLEU, printed without an error.",
)
