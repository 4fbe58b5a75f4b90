"""adi2017, section 6, figure 1b."""

from sentprobe.replicate import BestOf, Claim, Models

finding = Claim(
    name="adi2017_cbow_words_peak",
    paper="adi2017",
    where="section 6, figure 1b",
    sentence="CBOW keeps words best with 300 dimensions.",
    statistic=BestOf(
        Models("CBOW-300", "CBOW-300"),
        Models("other sizes of CBOW", "CBOW-{size}", without=("CBOW-300",)),
        tasks=("word_presence",),
    ),
)
