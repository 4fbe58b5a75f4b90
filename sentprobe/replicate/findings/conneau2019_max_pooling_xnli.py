"""conneau2019, section 4.2, table 4.10."""

from sentprobe.replicate import Claim, Difference, Models

finding = Claim(
    name="conneau2019_max_pooling_xnli",
    paper="conneau2019",
    where="section 4.2, table 4.10",
    sentence="Aligned BiLSTMs are better at XNLI with max pooling than with their last state, on average.",
    statistic=Difference(
        Models("max pooling", "X-BiLSTM-max"),
        Models("last state", "X-BiLSTM-last"),
        tasks=("XNLI",),
        table="4.10",
        cells="mean",
    ),
)
