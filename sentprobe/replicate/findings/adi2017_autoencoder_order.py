"""adi2017, section 6, figure 1c."""

from sentprobe.replicate import Claim, Difference, Models

finding = Claim(
    name="adi2017_autoencoder_order",
    paper="adi2017",
    where="section 6, figure 1c",
    sentence="LSTM auto-encoders know word order better than the mean of word vectors.",
    statistic=Difference(
        Models("LSTM auto-encoder", "ED-1000"), Models("CBOW", "CBOW"), tasks=("word_order",), table="text"
    ),
)
