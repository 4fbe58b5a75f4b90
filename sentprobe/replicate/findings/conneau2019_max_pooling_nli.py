"""conneau2019, section 3.2, table 3.6."""

from sentprobe.replicate import BestOf, Claim, Role

finding = Claim(
    name="conneau2019_max_pooling_nli",
    paper="conneau2019",
    where="section 3.2, table 3.6",
    sentence="Of seven architectures, a BiLSTM with max pooling is the best at natural language inference.",
    statistic=BestOf(
        Role("BiLSTM-Max", "BiLSTM-Max"),
        Role("other architectures", "{architecture}", without=("BiLSTM-Max",)),
        tasks=("SNLI",),
        table="3.6",
    ),
)
