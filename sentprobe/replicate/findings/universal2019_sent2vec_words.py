"""universal2019, read from table 1."""

from sentprobe.replicate import BestOf, Claim, Models

finding = Claim(
    name="universal2019_sent2vec_words",
    paper="universal2019",
    where="read from table 1",
    sentence="Sent2Vec as it was released keeps English words best.",
    statistic=BestOf(
        Models("Sent2Vec", "Sent2Vec_ORIG"),
        Models(
            "other encoders", ("fastText_{pooling}", "BERT_{pooling}", "COMBO_{pooling}", "Sent2Vec_NS", "USE", "LASER")
        ),
        tasks=("word_content",),
        languages=("en",),
        table="1",
    ),
)
