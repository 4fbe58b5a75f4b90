"""conneau2019, section 4.3, table 4.16."""

from sentprobe.replicate import Claim, Difference, Models

finding = Claim(
    name="conneau2019_xlm_word_vectors",
    paper="conneau2019",
    where="section 4.3, table 4.16",
    sentence="Words and their translations are closer in XLM than in MUSE.",
    statistic=Difference(
        Models("XLM", "XLM"), Models("MUSE", "MUSE"), table="4.16", metric="mean cosine", unit="number"
    ),
    note="One mean each, printed without an error.",
)
