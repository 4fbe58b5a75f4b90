"""conneau2019, section 4.1, table 4.5."""

from sentprobe.replicate import Claim, Difference, Models

finding = Claim(
    name="conneau2019_esperanto",
    paper="conneau2019",
    where="section 4.1, table 4.5",
    sentence="CSLS translates word by word between English and Esperanto better than nearest neighbours.",
    statistic=Difference(
        Models("CSLS", "Dictionary - CSLS"),
        Models("nearest neighbours", "Dictionary - NN"),
        tasks=("word_by_word",),
        table="4.5",
    ),
    note="Two numbers in BLEU, printed without an error.",
)
