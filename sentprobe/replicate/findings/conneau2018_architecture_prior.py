"""conneau2018, section 4, table 2."""

from sentprobe.replicate import Claim, Difference, Models
from sentprobe.replicate.findings._shared import ALL_BUT_LENGTH

finding = Claim(
    name="conneau2018_architecture_prior",
    paper="conneau2018",
    where="section 4, table 2",
    sentence=(
        "Untrained, a BiLSTM with max pooling is a better encoder than a gated convolutional network, "
        "but for sentence length."
    ),
    statistic=Difference(
        Models("untrained BiLSTM", "BiLSTM-max Untrained"),
        Models("untrained convolutions", "GatedConvNet Untrained"),
        tasks=ALL_BUT_LENGTH,
        table="2",
    ),
)
