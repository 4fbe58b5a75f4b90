"""conneau2018, appendix, table 5."""

from sentprobe.replicate import BestOf, Claim, Models
from sentprobe.replicate.findings._shared import TRANSFER_TASKS

finding = Claim(
    name="conneau2018_nli_transfer",
    paper="conneau2018",
    where="appendix, table 5",
    sentence="Natural language inference is the best objective for transfer tasks.",
    statistic=BestOf(
        Models("NLI", "BiLSTM-max NLI"),
        Models("other objectives", "BiLSTM-max {objective}", without=("BiLSTM-max NLI",)),
        tasks=TRANSFER_TASKS,
        table="5",
    ),
)
