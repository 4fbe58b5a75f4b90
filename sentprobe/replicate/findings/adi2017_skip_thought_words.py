"""adi2017, read from table 1."""

from sentprobe.replicate import Claim, Difference, Models

finding = Claim(
    name="adi2017_skip_thought_words",
    paper="adi2017",
    where="read from table 1",
    sentence="What skip-thought knows of words hardly suffers if they are permuted: within five points.",
    statistic=Difference(
        Models("natural", "skip-thought"),
        Models("permuted", "skip-thought, permuted"),
        tasks=("word_presence",),
        table="1",
        expect="equal",
        margin=0.05,
    ),
)
