"""conneau2019, section 3.2, table 3.6."""

from sentprobe.replicate import BestOf, Claim, Models

finding = Claim(
    name="conneau2019_max_pooling_transfer",
    paper="conneau2019",
    where="section 3.2, table 3.6",
    sentence="Of seven architectures trained on inference, a BiLSTM with max pooling transfers best.",
    statistic=BestOf(
        Models("BiLSTM-Max", "BiLSTM-Max"),
        Models("other architectures", "{architecture}", without=("BiLSTM-Max",)),
        tasks=("aggregate",),
        table="3.6",
        metric="micro dev accuracy",
    ),
    note="An aggregate over tasks, whose error cannot be known from what is printed.",
)
