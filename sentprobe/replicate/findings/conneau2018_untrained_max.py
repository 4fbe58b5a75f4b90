"""conneau2018, section 4, table 2."""

from sentprobe.replicate import Claim, Difference, Models

finding = Claim(
    name="conneau2018_untrained_max",
    paper="conneau2018",
    where="section 4, table 2",
    sentence="An untrained BiLSTM with max pooling is above a bag of word vectors on most tasks.",
    statistic=Difference(
        Models("untrained", "BiLSTM-max Untrained"), Models("bag of vectors", "BoV-fastText"), table="2", cells="most"
    ),
)
