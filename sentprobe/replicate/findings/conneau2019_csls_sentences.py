"""conneau2019, section 4.1, table 4.3."""

from sentprobe.replicate import Claim, Difference, Role

finding = Claim(
    name="conneau2019_csls_sentences",
    paper="conneau2019",
    where="section 4.1, table 4.3",
    sentence="CSLS retrieves sentences better than nearest neighbours, by ten points and more.",
    statistic=Difference(
        Role("CSLS", "Procrustes - CSLS"),
        Role("nearest neighbours", "Procrustes - NN"),
        tasks=("sentence_retrieval",),
        table="4.3",
        margin=0.1,
    ),
)
