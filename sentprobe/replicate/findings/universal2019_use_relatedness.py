"""universal2019, read from table 1."""

from sentprobe.replicate import BestOf, Claim, Models

finding = Claim(
    name="universal2019_use_relatedness",
    paper="universal2019",
    where="read from table 1",
    sentence="The universal sentence encoder is the best on relatedness in English.",
    statistic=BestOf(
        Models("USE", "USE"),
        Models(
            "other encoders", ("fastText_{pooling}", "BERT_{pooling}", "COMBO_{pooling}", "Sent2Vec_{variant}", "LASER")
        ),
        tasks=("SICKRelatedness",),
        table="1",
    ),
)
