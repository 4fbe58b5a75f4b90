"""conneau2019, section 4.2, table 4.11."""

from sentprobe.replicate import Claim, Difference, Models

finding = Claim(
    name="conneau2019_negatives_too_strong",
    paper="conneau2019",
    where="section 4.2, table 4.11",
    sentence="A weight of 0.5 for negatives makes alignment worse than none.",
    statistic=Difference(
        Models("no negatives", "X-BiLSTM-max, fine-tuned words, λ = 0"),
        Models("weight 0.5", "X-BiLSTM-max, fine-tuned words, λ = 0.5"),
        tasks=("XNLI",),
        table="4.11",
        metric="dev accuracy",
    ),
)
