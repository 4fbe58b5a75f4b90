"""adi2017, section 6, figure 1c."""

from sentprobe.replicate import Claim, Models, Ordered

finding = Claim(
    name="adi2017_autoencoder_order_grows",
    paper="adi2017",
    where="section 6, figure 1c",
    sentence="The larger an LSTM auto-encoder, the better it knows word order.",
    statistic=Ordered(Models("LSTM auto-encoder", "ED-{size}"), tasks=("word_order",), table="3"),
    note="The p-values of table 3 have no direction, and figure 1 no numbers.",
)
