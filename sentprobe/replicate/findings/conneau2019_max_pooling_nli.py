"""conneau2019, section 3.2, table 3.6."""

from sentprobe.replicate import BestOf, Claim, Models

finding = Claim(
    name="conneau2019_max_pooling_nli",
    paper="conneau2019",
    where="section 3.2, table 3.6",
    sentence="Of seven architectures, a BiLSTM with max pooling is the best at natural language inference.",
    statistic=BestOf(
        Models("BiLSTM-Max", "BiLSTM-Max"),
        Models("other architectures", "{architecture}", without=("BiLSTM-Max",)),
        tasks=("SNLI",),
        table="3.6",
    ),
)
