"""adi2017, section 6, figure 1b."""

from sentprobe.replicate import BestOf, Claim, Models

finding = Claim(
    name="adi2017_autoencoder_words_peak",
    paper="adi2017",
    where="section 6, figure 1b",
    sentence="LSTM auto-encoders keep words best with 750 dimensions, and worse with 1000.",
    statistic=BestOf(
        Models("ED-750", "ED-750"),
        Models("other sizes of the LSTM auto-encoder", "ED-{size}", without=("ED-750",)),
        tasks=("word_presence",),
    ),
)
