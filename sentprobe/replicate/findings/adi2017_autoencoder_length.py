"""adi2017, section 6, figure 1a."""

from sentprobe.replicate import Claim, Difference, Models

finding = Claim(
    name="adi2017_autoencoder_length",
    paper="adi2017",
    where="section 6, figure 1a",
    sentence="LSTM auto-encoders know sentence length better than the mean of word vectors (CBOW).",
    statistic=Difference(
        Models("LSTM auto-encoder", "ED", metric="lowest accuracy"),
        Models("CBOW", "CBOW", metric="highest accuracy"),
        tasks=("sentence_length",),
        table="text",
    ),
    note="The lower end of a range that the text gives, against the upper end of another.",
)
