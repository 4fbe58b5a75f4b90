"""conneau2018, table 5."""

from sentprobe.replicate import Claim, Difference, Models

finding = Claim(
    name="conneau2018_seq2tree_transfer",
    paper="conneau2018",
    where="table 5",
    sentence=(
        "Parsing, whose encoders know most syntax, is worse for transfer than translation, inference and "
        "neighbouring sentences."
    ),
    statistic=Difference(
        Models("parsing", "{architecture} Seq2Tree"),
        Models("other objectives", ("{architecture} NMT {target}", "{architecture} SkipThought", "{architecture} NLI")),
        table="5",
        expect="below",
        cells="most",
    ),
)
