"""adi2017, read from table 1 and section 6."""

from sentprobe.replicate import Claim, Difference, Models

finding = Claim(
    name="adi2017_skip_thought_order",
    paper="adi2017",
    where="read from table 1 and section 6",
    sentence="A large LSTM auto-encoder knows word order better than skip-thought.",
    statistic=Difference(
        Models("LSTM auto-encoder", "ED-1000", table="text"),
        Models("skip-thought", "skip-thought", table="1"),
        tasks=("word_order",),
    ),
)
