"""conneau2018, section 4, table 2."""

from sentprobe.replicate import Claim, Difference, Models
from sentprobe.replicate.findings._shared import ENCODERS

finding = Claim(
    name="conneau2018_below_people_on_edits",
    paper="conneau2018",
    where="section 4, table 2",
    sentence="No encoder is as good as people at sentences that were tampered with.",
    statistic=Difference(
        Models("people", "Hum. Eval."),
        Models("encoders", ENCODERS),
        tasks=("bigram_shift", "odd_man_out", "coordination_inversion"),
        table="2",
    ),
    note="People judged 1,000 sentences per task.",
)
