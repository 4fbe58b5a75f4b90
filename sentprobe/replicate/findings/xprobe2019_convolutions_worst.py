"""xprobe2019, section 8, table 4."""

from sentprobe.replicate import Claim, Difference, Models
from sentprobe.replicate.findings._shared import LEARNED_TASKS

finding = Claim(
    name="xprobe2019_convolutions_worst",
    paper="xprobe2019",
    where="section 8, table 4",
    sentence=(
        "Convolutional encoders are worse than recurrent and attentive ones on all tasks that any of them learns."
    ),
    statistic=Difference(
        Models("convolutions", "CNN ({pooling})"),
        Models("recurrence and attention", ("RNN ({state})", "Attention ({state})")),
        tasks=LEARNED_TASKS,
        table="4",
        expect="below",
    ),
)
