"""conneau2019, section 4.1, table 4.4."""

from sentprobe.replicate import Claim, Difference, Models

finding = Claim(
    name="conneau2019_aligned_similarity",
    paper="conneau2019",
    where="section 4.1, table 4.4",
    sentence="Aligned word vectors are better at cross-lingual similarity than NASARI.",
    statistic=Difference(
        Models("aligned", ("our baseline (Procrustes)", "Adv - Refine")),
        Models("NASARI", "NASARI"),
        tasks=("word_similarity",),
        table="4.4",
    ),
)
