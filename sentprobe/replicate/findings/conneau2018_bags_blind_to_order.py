"""conneau2018, section 4, table 2."""

from sentprobe.replicate import Claim, Difference, Models

finding = Claim(
    name="conneau2018_bags_blind_to_order",
    paper="conneau2018",
    where="section 4, table 2",
    sentence="Bags of words and of vectors are at chance on bigram shift.",
    statistic=Difference(
        Models("bags", ("NB-uni-tfidf", "BoV-fastText")),
        0.5,
        tasks=("bigram_shift",),
        table="2",
        expect="equal",
        margin=0.02,
    ),
)
