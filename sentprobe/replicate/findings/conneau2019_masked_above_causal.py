"""conneau2019, section 4.3, table 4.13."""

from sentprobe.replicate import Claim, Difference, Models

finding = Claim(
    name="conneau2019_masked_above_causal",
    paper="conneau2019",
    where="section 4.3, table 4.13",
    sentence="Masked language models are better initial weights for unsupervised translation than causal ones.",
    statistic=Difference(
        Models("MLM", "encoder MLM, decoder MLM"), Models("CLM", "encoder CLM, decoder CLM"), table="4.13"
    ),
)
