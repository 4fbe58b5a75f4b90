"""conneau2019, section 4.2, table 4.11."""

from sentprobe.replicate import Claim, Difference, Models

finding = Claim(
    name="conneau2019_negatives_help",
    paper="conneau2019",
    where="section 4.2, table 4.11",
    sentence="A weight of 0.25 for negatives makes alignment better than none.",
    statistic=Difference(
        Models("weight 0.25", "X-BiLSTM-max, fine-tuned words, λ = 0.25"),
        Models("no negatives", "X-BiLSTM-max, fine-tuned words, λ = 0"),
        tasks=("XNLI",),
        table="4.11",
        metric="dev accuracy",
    ),
    note="The cells of French and Chinese are illegible.",
)
