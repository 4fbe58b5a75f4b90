"""adi2017, appendix III, table 3."""

from sentprobe.replicate import Claim, Models, Ordered

finding = Claim(
    name="adi2017_autoencoder_sizes_differ",
    paper="adi2017",
    where="appendix III, table 3",
    sentence="Neighbouring sizes of LSTM auto-encoders differ on length and word content.",
    statistic=Ordered(
        Models("LSTM auto-encoder", "ED-{size}"),
        tasks=("sentence_length", "word_presence"),
        table="3",
        expect="different",
    ),
    note="By the paper's own paired t-tests.",
)
