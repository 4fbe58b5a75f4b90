"""conneau2018, section 4, table 2."""

from sentprobe.replicate import Claim, Difference, Models

finding = Claim(
    name="conneau2018_nli_below_nmt",
    paper="conneau2018",
    where="section 4, table 2",
    sentence="Natural language inference teaches less of what is probed for than translation.",
    statistic=Difference(
        Models("NLI", "{architecture} NLI"),
        Models("translation", "{architecture} NMT {target}"),
        table="2",
        expect="below",
        cells="most",
    ),
)
