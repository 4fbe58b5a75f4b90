"""conneau2018, section 4, table 2."""

from sentprobe.replicate import BestOf, Claim, Models
from sentprobe.replicate.findings._shared import OBJECTIVES

finding = Claim(
    name="conneau2018_bag_of_vectors_words",
    paper="conneau2018",
    where="section 4, table 2",
    sentence="A bag of word vectors keeps words better than any encoder.",
    statistic=BestOf(
        Models("bag of vectors", "BoV-fastText"), Models("encoders", OBJECTIVES), tasks=("word_content",), table="2"
    ),
)
