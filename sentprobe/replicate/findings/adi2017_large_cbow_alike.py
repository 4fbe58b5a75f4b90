"""adi2017, appendix III, table 4."""

from sentprobe.replicate import Claim, Models, Ordered

finding = Claim(
    name="adi2017_large_cbow_alike",
    paper="adi2017",
    where="appendix III, table 4",
    sentence=("Above 500 dimensions, the size of CBOW hardly matters for word order: neighbours are within one point."),
    statistic=Ordered(
        Models("CBOW from 500 dimensions", "CBOW-{size}", without=("CBOW-100", "CBOW-300")),
        tasks=("word_order",),
        table="4",
        expect="equal",
        margin=0.01,
    ),
    note="Differences that are not significant (p of 0.05 and 0.08) do not show that two sizes are equal.",
)
