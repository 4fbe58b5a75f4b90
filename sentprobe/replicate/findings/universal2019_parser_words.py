"""universal2019, read from table 1."""

from sentprobe.replicate import Claim, Difference, Models

finding = Claim(
    name="universal2019_parser_words",
    paper="universal2019",
    where="read from table 1",
    sentence="In English, vectors of a parser keep words worse than all others.",
    statistic=Difference(
        Models("parser", "COMBO_{combo}"),
        Models("other encoders", ("fastText_{pooling}", "BERT_{pooling}", "Sent2Vec_{variant}", "USE", "LASER")),
        tasks=("word_content",),
        languages=("en",),
        table="1",
        expect="below",
    ),
)
