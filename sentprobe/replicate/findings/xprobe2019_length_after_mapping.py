"""xprobe2019, section 8.2, table 4."""

from sentprobe.replicate import Claim, Difference, Models

finding = Claim(
    name="xprobe2019_length_after_mapping",
    paper="xprobe2019",
    where="section 8.2, table 4",
    sentence="Sentence length is encoded better after mapping than in English, by most encoders.",
    statistic=Difference(
        Models("mapped", ("{encoder}, {mapping}", "{encoder}"), languages=("de", "es", "fr", "ru")),
        Models("English", "{encoder}", languages=("en",), without=("{encoder}, {mapping}",)),
        tasks=("sentence_length",),
        table="4",
        across="language",
        cells="most",
    ),
)
