"""conneau2019, section 4.1, table 4.1."""

from sentprobe.replicate import Claim, Difference, Models

finding = Claim(
    name="conneau2019_unsupervised_on_par",
    paper="conneau2019",
    where="section 4.1, table 4.1",
    sentence=(
        "Without any dictionary, word translation between English and Spanish, French and German is on "
        "par with supervised maps: within two points on average."
    ),
    statistic=Difference(
        Models("unsupervised", "Adv - Refine - CSLS"),
        Models("supervised", "Procrustes - CSLS"),
        tasks=("word_translation",),
        languages=("en-es", "es-en", "en-fr", "fr-en", "en-de", "de-en"),
        table="4.1",
        expect="equal",
        margin=0.02,
        cells="mean",
    ),
)
