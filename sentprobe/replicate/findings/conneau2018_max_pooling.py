"""conneau2018, section 4, table 2."""

from sentprobe.replicate import Claim, Difference, Models
from sentprobe.replicate.findings._shared import ALL_BUT_LENGTH

finding = Claim(
    name="conneau2018_max_pooling",
    paper="conneau2018",
    where="section 4, table 2",
    sentence=(
        "A BiLSTM keeps more of what is probed for with max pooling than in its last state, but for sentence length."
    ),
    statistic=Difference(
        Models("max pooling", "BiLSTM-max {objective}"),
        Models("last state", "BiLSTM-last {objective}"),
        tasks=ALL_BUT_LENGTH,
        table="2",
        cells="most",
    ),
)
