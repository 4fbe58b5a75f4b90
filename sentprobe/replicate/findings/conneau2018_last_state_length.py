"""conneau2018, section 4, table 2."""

from sentprobe.replicate import Claim, Difference, Models

finding = Claim(
    name="conneau2018_last_state_length",
    paper="conneau2018",
    where="section 4, table 2",
    sentence="The last state of a BiLSTM keeps sentence length better than max pooling.",
    statistic=Difference(
        Models("last state", "BiLSTM-last {objective}"),
        Models("max pooling", "BiLSTM-max {objective}"),
        tasks=("sentence_length",),
        table="2",
        cells="most",
    ),
    note="The untrained encoder is the exception, and so far off that the mean has the other sign.",
)
