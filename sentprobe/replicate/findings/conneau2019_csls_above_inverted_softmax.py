"""conneau2019, section 4.1, table 4.1."""

from sentprobe.replicate import Claim, Difference, Role

finding = Claim(
    name="conneau2019_csls_above_inverted_softmax",
    paper="conneau2019",
    where="section 4.1, table 4.1",
    sentence="CSLS is better than the inverted softmax, on average.",
    statistic=Difference(
        Role("CSLS", "Procrustes - CSLS"),
        Role("inverted softmax", "Procrustes - ISF"),
        tasks=("word_translation",),
        table="4.1",
        cells="mean",
    ),
)
