"""conneau2019, section 4.3, table 4.13."""

from sentprobe.replicate import Claim, Difference, Models

finding = Claim(
    name="conneau2019_masked_above_embeddings",
    paper="conneau2019",
    where="section 4.3, table 4.13",
    sentence="Masked language models are better initial weights for unsupervised translation than word vectors.",
    statistic=Difference(
        Models("MLM", "encoder MLM, decoder MLM"), Models("word vectors", "encoder EMB, decoder EMB"), table="4.13"
    ),
)
