"""universal2019, read from table 1."""

from sentprobe.replicate import BestOf, Claim, Role

finding = Claim(
    name="universal2019_sent2vec_words",
    paper="universal2019",
    where="read from table 1",
    sentence="Sent2Vec as it was released keeps English words best.",
    statistic=BestOf(
        Role("Sent2Vec", "Sent2Vec_ORIG"),
        Role(
            "other encoders", ("fastText_{pooling}", "BERT_{pooling}", "COMBO_{pooling}", "Sent2Vec_NS", "USE", "LASER")
        ),
        tasks=("word_content",),
        languages=("en",),
        table="1",
    ),
)
