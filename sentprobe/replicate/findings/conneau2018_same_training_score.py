"""conneau2018, section 4, table 3."""

from sentprobe.replicate import Claim, Difference, Models

finding = Claim(
    name="conneau2018_same_training_score",
    paper="conneau2018",
    where="section 4, table 3",
    sentence="Max pooling and the last state are equally good at natural language inference, within two points.",
    statistic=Difference(
        Models("max pooling", "BiLSTM-max NLI"),
        Models("last state", "BiLSTM-last NLI"),
        tasks=("SNLI",),
        table="3",
        expect="equal",
        margin=0.02,
    ),
)
