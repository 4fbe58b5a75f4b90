"""xprobe2019, read from table 4."""

from sentprobe.replicate import Claim, Difference, Models

finding = Claim(
    name="xprobe2019_attention_length",
    paper="xprobe2019",
    where="read from table 4",
    sentence="Attention keeps sentence length better than recurrence.",
    statistic=Difference(
        Models("attention", "Attention ({head})"),
        Models("recurrence", "RNN ({state})"),
        tasks=("sentence_length",),
        table="4",
    ),
)
