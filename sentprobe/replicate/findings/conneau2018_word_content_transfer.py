"""conneau2018, section 4, figure 2."""

from sentprobe.replicate import Claim, Correlated, Models, Scope
from sentprobe.replicate.findings._shared import NO_ENCODERS, TRANSFER_TASKS

finding = Claim(
    name="conneau2018_word_content_transfer",
    paper="conneau2018",
    where="section 4, figure 2",
    sentence="What encoders know of words goes with all their transfer scores.",
    statistic=Correlated(
        Models("encoders", "{encoder}", without=NO_ENCODERS),
        Scope(tasks=("word_content",), table="2"),
        Scope(tasks=TRANSFER_TASKS, table="5"),
        cells="every",
    ),
    note="The figure is of more than 40 encoders; tables 2 and 5 share 25.",
)
