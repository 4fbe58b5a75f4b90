"""conneau2019, section 4.1, table 4.1."""

from sentprobe.replicate import Claim, Difference, Models

finding = Claim(
    name="conneau2019_csls",
    paper="conneau2019",
    where="section 4.1, table 4.1",
    sentence="CSLS retrieves translations better than nearest neighbours, for every method and pair of languages.",
    statistic=Difference(
        Models("CSLS", "{method} - CSLS"),
        Models("nearest neighbours", "{method} - NN"),
        tasks=("word_translation",),
        table="4.1",
    ),
)
