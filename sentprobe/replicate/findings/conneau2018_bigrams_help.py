"""conneau2018, section 4, table 2."""

from sentprobe.replicate import Claim, Difference, Models

finding = Claim(
    name="conneau2018_bigrams_help",
    paper="conneau2018",
    where="section 4, table 2",
    sentence="With bigrams, naive Bayes does better than with words on tasks of word order and syntax.",
    statistic=Difference(
        Models("bigrams", "NB-bi-tfidf"),
        Models("words", "NB-uni-tfidf"),
        tasks=("bigram_shift", "top_constituents", "coordination_inversion"),
        table="2",
    ),
)
