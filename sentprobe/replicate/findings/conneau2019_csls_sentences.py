"""conneau2019, section 4.1, table 4.3."""

from sentprobe.replicate import Claim, Difference, Models

finding = Claim(
    name="conneau2019_csls_sentences",
    paper="conneau2019",
    where="section 4.1, table 4.3",
    sentence="CSLS retrieves sentences better than nearest neighbours, by ten points and more.",
    statistic=Difference(
        Models("CSLS", "Procrustes - CSLS"),
        Models("nearest neighbours", "Procrustes - NN"),
        tasks=("sentence_retrieval",),
        table="4.3",
        margin=0.1,
    ),
)
