"""conneau2019, section 4.1, table 4.2."""

from sentprobe.replicate import Claim, Difference, Models

finding = Claim(
    name="conneau2019_unsupervised_above_supervised",
    paper="conneau2019",
    where="section 4.1, table 4.2",
    sentence=(
        "From English into Italian, the unsupervised map is better than the supervised one with vectors of Wikipedia."
    ),
    statistic=Difference(
        Models("unsupervised", "Adv - Refine - CSLS (Wiki)"),
        Models("supervised", "Procrustes - CSLS (Wiki)"),
        tasks=("word_translation",),
        table="4.2",
    ),
)
