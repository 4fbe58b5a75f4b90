"""conneau2019, section 4.1, table 4.1."""

from sentprobe.replicate import Claim, Difference, Models

finding = Claim(
    name="conneau2019_csls_above_inverted_softmax",
    paper="conneau2019",
    where="section 4.1, table 4.1",
    sentence="CSLS is better than the inverted softmax, on average.",
    statistic=Difference(
        Models("CSLS", "Procrustes - CSLS"),
        Models("inverted softmax", "Procrustes - ISF"),
        tasks=("word_translation",),
        table="4.1",
        cells="mean",
    ),
)
