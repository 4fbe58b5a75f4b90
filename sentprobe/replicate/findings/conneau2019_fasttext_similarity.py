"""conneau2019, section 3.1, table 3.4."""

from sentprobe.replicate import Claim, Difference, Models

finding = Claim(
    name="conneau2019_fasttext_similarity",
    paper="conneau2019",
    where="section 3.1, table 3.4",
    sentence="A bag of fastText vectors is better at similarity than one of GloVe vectors.",
    statistic=Difference(
        Models("fastText", "fastText BoW"),
        Models("GloVe", "GloVe BoW"),
        tasks=("STS12", "STS13", "STS14", "STS15", "STS16", "SICKRelatedness", "STSBenchmark"),
        table="3.4",
    ),
    note="Means over the parts of a year have no known error.",
)
