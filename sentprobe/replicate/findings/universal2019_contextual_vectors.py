"""universal2019, read from table 1."""

from sentprobe.replicate import Claim, Difference, Models
from sentprobe.replicate.findings._shared import UNIVERSAL_TASKS

finding = Claim(
    name="universal2019_contextual_vectors",
    paper="universal2019",
    where="read from table 1",
    sentence=(
        "The mean of contextual vectors of words beats that of static ones on all probing tasks but word content."
    ),
    statistic=Difference(
        Models("contextual", "BERT_mean"),
        Models("static", "fastText_mean"),
        tasks=("sentence_length", *UNIVERSAL_TASKS[2:]),
        table="1",
    ),
)
