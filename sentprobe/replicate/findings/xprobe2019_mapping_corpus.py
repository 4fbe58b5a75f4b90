"""xprobe2019, section 8, figure 4."""

from sentprobe.replicate import Claim, Difference, Models

finding = Claim(
    name="xprobe2019_mapping_corpus",
    paper="xprobe2019",
    where="section 8, figure 4",
    sentence="Which parallel corpus the French encoders are mapped with hardly matters: within five points.",
    statistic=Difference(
        Models("Europarl", "{encoder}", without=("{encoder}, MultiUN",)),
        Models("MultiUN", "{encoder}, MultiUN"),
        languages=("fr",),
        table="4",
        expect="equal",
        margin=0.05,
    ),
)
