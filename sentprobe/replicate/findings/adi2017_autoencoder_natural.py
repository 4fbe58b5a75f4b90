"""adi2017, section 7, figure 4."""

from sentprobe.replicate import Claim, Difference, Models

finding = Claim(
    name="adi2017_autoencoder_natural",
    paper="adi2017",
    where="section 7, figure 4",
    sentence="An LSTM auto-encoder repeats natural sentences better than permuted ones.",
    statistic=Difference(
        Models("natural", "ED-1000"), Models("permuted", "ED-1000, permuted"), tasks=("autoencode",), table="text"
    ),
    note="BLEU of one model: printed without an error.",
)
