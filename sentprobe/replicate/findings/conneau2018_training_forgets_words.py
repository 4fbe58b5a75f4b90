"""conneau2018, section 4, table 2."""

from sentprobe.replicate import Claim, Difference, Models

finding = Claim(
    name="conneau2018_training_forgets_words",
    paper="conneau2018",
    where="section 4, table 2",
    sentence="Training has a BiLSTM with max pooling forget words that it kept when it was untrained.",
    statistic=Difference(
        Models("trained", "BiLSTM-max {objective}", without=("BiLSTM-max Untrained",)),
        Models("untrained", "BiLSTM-max Untrained"),
        tasks=("word_content",),
        table="2",
        expect="below",
    ),
)
