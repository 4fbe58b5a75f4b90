"""conneau2018, section 4, table 2."""

from sentprobe.replicate import BestOf, Claim, Models
from sentprobe.replicate.findings._shared import ENCODERS

finding = Claim(
    name="conneau2018_naive_bayes_words",
    paper="conneau2018",
    where="section 4, table 2",
    sentence="Naive Bayes on words solves word content better than any encoder.",
    statistic=BestOf(
        Models("naive Bayes", "NB-uni-tfidf"), Models("encoders", ENCODERS), tasks=("word_content",), table="2"
    ),
)
