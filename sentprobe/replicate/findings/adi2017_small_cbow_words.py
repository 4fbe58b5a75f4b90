"""adi2017, section 6, figure 1b."""

from sentprobe.replicate import Claim, Difference, Models

finding = Claim(
    name="adi2017_small_cbow_words",
    paper="adi2017",
    where="section 6, figure 1b",
    sentence="Up to 300 dimensions, CBOW keeps words better than an LSTM auto-encoder.",
    statistic=Difference(
        Models("LSTM auto-encoder", ("ED-100", "ED-300")),
        Models("CBOW", ("CBOW-100", "CBOW-300")),
        tasks=("word_presence",),
        table="2",
        expect="below",
    ),
    note="The p-values of table 2 have no direction, and figure 1 no numbers.",
)
