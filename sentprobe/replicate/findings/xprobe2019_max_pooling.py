"""xprobe2019, read from table 4."""

from sentprobe.replicate import Claim, Difference, Models
from sentprobe.replicate.findings._shared import LEARNED_TASKS

finding = Claim(
    name="xprobe2019_max_pooling",
    paper="xprobe2019",
    where="read from table 4",
    sentence="Max pooling of a recurrent encoder beats its last state on all tasks that it learns.",
    statistic=Difference(
        Models("max pooling", "RNN (maxpool)"), Models("last state", "RNN (last)"), tasks=LEARNED_TASKS, table="4"
    ),
)
