"""conneau2019, section 3.1, table 3.4."""

from sentprobe.replicate import Claim, Difference, Models

finding = Claim(
    name="conneau2019_skip_thought_similarity",
    paper="conneau2019",
    where="section 3.1, table 3.4",
    sentence="SkipThought is worse at similarity without training than a bag of word vectors.",
    statistic=Difference(
        Models("SkipThought", "SkipThought-LN"),
        Models("bag of vectors", ("fastText BoW", "GloVe BoW")),
        tasks=("STS12", "STS13", "STS14", "STS15"),
        table="3.4",
        expect="below",
    ),
    note="Means over the parts of a year have no known error.",
)
