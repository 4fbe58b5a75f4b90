"""adi2017, section 6, figure 1a."""

from sentprobe.replicate import Claim, Difference, Models

finding = Claim(
    name="adi2017_cbow_length",
    paper="adi2017",
    where="section 6, figure 1a",
    sentence="The mean of word vectors knows sentence length, ten points and more above the majority.",
    statistic=Difference(
        Models("CBOW", "CBOW", metric="lowest accuracy"),
        Models("majority", "Majority vote"),
        tasks=("sentence_length",),
        table="text",
        margin=0.1,
    ),
)
