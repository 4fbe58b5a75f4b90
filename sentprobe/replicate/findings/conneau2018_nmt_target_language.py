"""conneau2018, section 4, table 2."""

from sentprobe.replicate import Claim, Difference, Models

finding = Claim(
    name="conneau2018_nmt_target_language",
    paper="conneau2018",
    where="section 4, table 2",
    sentence=(
        "Into which language an encoder learns to translate hardly matters: most scores are within three points."
    ),
    statistic=Difference(
        Models("into French", "{architecture} NMT En-Fr"),
        Models("into other languages", ("{architecture} NMT En-De", "{architecture} NMT En-Fi")),
        table="2",
        expect="equal",
        margin=0.03,
        cells="most",
    ),
)
