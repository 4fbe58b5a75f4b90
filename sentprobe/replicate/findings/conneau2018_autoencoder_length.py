"""conneau2018, section 4, table 2."""

from sentprobe.replicate import BestOf, Claim, Models
from sentprobe.replicate.findings._shared import OBJECTIVES

finding = Claim(
    name="conneau2018_autoencoder_length",
    paper="conneau2018",
    where="section 4, table 2",
    sentence="Of all objectives, auto-encoding keeps sentence length best.",
    statistic=BestOf(
        Models("auto-encoder", "{architecture} AutoEncoder"),
        Models("other objectives", OBJECTIVES),
        tasks=("sentence_length",),
        table="2",
    ),
)
