"""conneau2019, section 4.1, table 4.1."""

from sentprobe.replicate import Claim, Difference, Models

finding = Claim(
    name="conneau2019_distant_languages",
    paper="conneau2019",
    where="section 4.1, table 4.1",
    sentence="For Russian and Chinese, supervised maps are better than unsupervised ones.",
    statistic=Difference(
        Models("supervised", "Procrustes - CSLS"),
        Models("unsupervised", "Adv - Refine - CSLS"),
        tasks=("word_translation",),
        languages=("en-ru", "ru-en", "en-zh", "zh-en"),
        table="4.1",
    ),
)
